// SPDX-License-Identifier: Apache-2.0
// e2e: args=; scaled={8*N} 0.01; timeout=60
// Two-spiral classifier, summed loss, own data set class, Adam, accumulation, class with members.
// form: summed loss
#include <hvd/hvd.hpp>
#include <cmath>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <memory>
#include <string>

using hvd::Tensor;
namespace nn = hvd::nn;

class Spirals : public hvd::data::Dataset {
 public:
  explicit Spirals(size_t n) : n_(n) {}
  hvd::data::Example get(size_t i) override {
    const double t = 0.05 * static_cast<double>(i % (n_ / 2)) + 0.5;
    const double s = i < n_ / 2 ? 1 : -1;
    return {hvd::tensor({s * t * std::cos(t), s * t * std::sin(t)}, hvd::kFloat64), hvd::tensor(i < n_ / 2 ? int64_t{0} : int64_t{1})};
  }
  size_t size() const override { return n_; }

 private:
  size_t n_;
};

struct MlpImpl : nn::Module {
  MlpImpl() {
    a = register_module("a", nn::Linear(2, 24));
    b = register_module("b", nn::Linear(24, 2));
  }
  Tensor forward(const Tensor& x) { return b->forward(a->forward(x).tanh()); }
  nn::Linear a{nullptr}, b{nullptr};
};
HVD_MODULE(Mlp);

class Runner {
 public:
  Runner(int batch, double rate) : net_(), opt_(std::make_unique<hvd::optim::Adam>(net_->parameters(), hvd::optim::AdamOptions(rate))), batch_(batch) {}

  void fit(int epochs) {
    auto loader = hvd::data::make_data_loader<hvd::data::RandomSampler>(std::make_shared<Spirals>(130), hvd::data::DataLoaderOptions(batch_));
    std::ofstream csv("log.csv");
    for (int e = 0; e < epochs; ++e) csv << e << ',' << one_epoch(*loader) << '\n';
    std::cout << "parameters " << count() << std::endl;
    hvd::save(net_, "net.safetensors");
  }

 private:
  int64_t count() const {
    int64_t n = 0;
    for (const auto& p : net_->parameters()) n += p.numel();
    return n;
  }

  void update() {
    opt_->step();
    opt_->zero_grad();
  }

  double one_epoch(hvd::data::DataLoader& loader) {
    double total = 0;
    int64_t hits = 0, micro = 0;
    for (auto& batch : loader) {
      Tensor scores = net_(batch.data);
      Tensor loss = nn::functional::cross_entropy(scores, batch.target, nn::functional::CrossEntropyFuncOptions().reduction(hvd::kSum));
      loss.backward();
      total += loss.item<double>();
      hits += scores.argmax(1).eq(batch.target).sum().item<int64_t>();
      if (++micro % 2 == 0) update();
    }
    if (micro % 2 != 0) update();
    std::cout << "loss " << std::setprecision(10) << total / 130 << " hits " << hits << std::endl;
    return total;
  }

  Mlp net_;
  std::unique_ptr<hvd::optim::Optimizer> opt_;
  int batch_;
};

int main(int argc, char** argv) {
  hvd::set_default_dtype(hvd::kFloat64);
  const int batch = argc > 1 ? std::stoi(argv[1]) : 8;
  Runner runner(batch, argc > 2 ? std::stod(argv[2]) : 0.01);
  runner.fit(5);
  return 0;
}
