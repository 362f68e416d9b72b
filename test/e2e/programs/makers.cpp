// SPDX-License-Identifier: Apache-2.0
// e2e: scaled={8*N} {0.1*N}; ranks=1,2,3; timeout=60
// Trainers that are known by name: a table of makers, filled before main by a macro. What it stores runs in main only: no session is needed earlier.
#include <hvd/hvd.hpp>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <string>

namespace data = hvd::data;

struct Config {
  double rate = 0.1;
  double momentum = 0;
};
struct Trainer {
  virtual ~Trainer() = default;
  virtual void run(data::DataLoader& loader) = 0;
};
using Maker = std::function<std::unique_ptr<Trainer>(const Config&)>;
static std::map<std::string, Maker>& makers() {
  static std::map<std::string, Maker> all;
  return all;
}
static bool add(const std::string& name, Maker maker) { return makers().emplace(name, std::move(maker)).second; }

struct Plain : Trainer {
  explicit Plain(const Config& c) : net(4, 3), opt(net->parameters(), hvd::optim::SGDOptions(c.rate).momentum(c.momentum)) {}
  void run(data::DataLoader& loader) override {
    for (auto& b : loader) {
      opt.zero_grad();
      auto loss = hvd::nn::functional::cross_entropy(net(b.data), b.target);
      loss.backward();
      opt.step();
      std::printf("%.10f\n", loss.item<double>());
    }
    hvd::save(net, "net.safetensors");
  }
  hvd::nn::Linear net;
  hvd::optim::SGD opt;
};
#define REGISTER(name, C) static const bool added_##C = add(name, [](const Config& c) { return std::unique_ptr<Trainer>(new C(c)); })
REGISTER("plain", Plain);

int main(int argc, char** argv) {
  const int64_t batch = argc > 1 ? std::atoll(argv[1]) : 8;
  Config config;
  config.rate = argc > 2 ? std::atof(argv[2]) : 0.1;
  hvd::set_default_dtype(hvd::kFloat64);
  hvd::manual_seed(3);
  auto loader = data::make_data_loader(data::datasets::TensorDataset(hvd::randn({50, 4}), hvd::randint(0, 3, {50})), data::DataLoaderOptions(batch));
  makers().at("plain")(config)->run(*loader);
}
