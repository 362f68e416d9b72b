// SPDX-License-Identifier: Apache-2.0
// e2e: scaled={8*N} {0.1*N}; ranks=1,2,3; timeout=60
// Models held by handles that are themselves behind pointers: new, a unique_ptr in a struct, a global pointer.
#include <hvd/hvd.hpp>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>

struct NetImpl : hvd::nn::Module {
  NetImpl(int64_t in, int64_t hidden, int64_t out)
      : a(register_module("a", hvd::nn::Linear(in, hidden))), b(register_module("b", hvd::nn::Linear(hidden, out))) {}
  hvd::Tensor forward(const hvd::Tensor& x) { return b(hvd::tanh(a(x))); }
  hvd::nn::Linear a, b;
};
HVD_MODULE(Net);

struct App {
  std::unique_ptr<Net> net;
  std::unique_ptr<hvd::optim::SGD> opt;
};
static hvd::nn::Linear* g_net = nullptr;

int main(int argc, char** argv) {
  const int64_t batch = argc > 1 ? std::atoll(argv[1]) : 8;
  const double lr = argc > 2 ? std::atof(argv[2]) : 0.1;
  hvd::set_default_dtype(hvd::kFloat64);
  hvd::manual_seed(3);
  const hvd::Tensor x = hvd::randn({50, 5});
  const hvd::Tensor y = x.matmul(hvd::randn({5, 3})).argmax(1);
  auto train = hvd::data::make_data_loader(hvd::data::datasets::TensorDataset(x, y), hvd::data::DataLoaderOptions(batch));

  Net* net = new Net(5, 7, 3);
  hvd::optim::SGD opt((*net)->parameters(), hvd::optim::SGDOptions(lr));
  App app;
  app.net = std::make_unique<Net>(5, 6, 3);
  app.opt = std::make_unique<hvd::optim::SGD>((*app.net)->parameters(), hvd::optim::SGDOptions(lr));
  g_net = new hvd::nn::Linear(5, 3);
  hvd::optim::SGD last((*g_net)->parameters(), hvd::optim::SGDOptions(lr).momentum(0.9));

  for (auto& b : *train) {
    opt.zero_grad();
    auto loss = hvd::nn::functional::cross_entropy((*net)(b.data), b.target);
    loss.backward();
    opt.step();
    std::printf("%.10f\n", loss.item<double>());
  }
  for (auto& b : *train) {
    app.opt->zero_grad();
    auto loss = hvd::nn::functional::cross_entropy((*app.net)->forward(b.data), b.target);
    loss.backward();
    app.opt->step();
    std::printf("%.10f\n", loss.item<double>());
  }
  for (auto& b : *train) {
    last.zero_grad();
    auto loss = hvd::nn::functional::cross_entropy((*g_net)(b.data), b.target);
    loss.backward();
    last.step();
    std::printf("%.10f\n", loss.item<double>());
  }
  hvd::save(*net, "net.safetensors");
  hvd::save(*app.net, "app.safetensors");
  hvd::save(*g_net, "last.safetensors");
  delete net;
  delete g_net;
}
