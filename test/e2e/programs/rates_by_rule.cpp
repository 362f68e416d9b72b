// SPDX-License-Identifier: Apache-2.0
// e2e: scaled={8*N} {0.1*N} {0.02*sqrt(N)} {0.03*N} {0.004*sqrt(N)}; ranks=1,2,3
// One field holds the rate of optimizers that ask for different rules: each scales it for itself, and where only the running program knows the
// class, the optimizer is asked. A function template makes either optimizer from a rate that it is given.
#include <hvd/hvd.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

struct Settings {
  std::string optimizer = "sgd";
  int64_t batch = 8;
  double rate = 0.1, floor = 0.03;
};

static std::unique_ptr<hvd::optim::Optimizer> make_optimizer(const Settings& s, std::vector<hvd::Tensor> parameters) {
  if (s.optimizer == "adam") return std::make_unique<hvd::optim::Adam>(parameters, hvd::optim::AdamOptions(s.rate));
  if (s.optimizer == "rmsprop") return std::make_unique<hvd::optim::RMSprop>(parameters, hvd::optim::RMSpropOptions(s.rate));
  return std::make_unique<hvd::optim::SGD>(parameters, hvd::optim::SGDOptions(s.rate).momentum(0.5));
}

static void train(const Settings& s) {
  hvd::manual_seed(3);
  hvd::nn::Sequential net(hvd::nn::Linear(4, 6), hvd::nn::Tanh(), hvd::nn::Linear(6, 3));
  auto optimizer = make_optimizer(s, net->parameters());
  auto loader = hvd::data::make_data_loader(hvd::data::datasets::TensorDataset(hvd::randn({44, 4}), hvd::randn({44, 3})), hvd::data::DataLoaderOptions(s.batch));
  const int epochs = 4;
  for (int epoch = 0; epoch < epochs; ++epoch) {
    optimizer->set_lr(s.rate * (epoch + 1) / epochs);  // warm-up
    double total = 0;
    for (auto& batch : *loader) {
      auto loss = hvd::nn::functional::mse_loss(net->forward(batch.data), batch.target);
      optimizer->zero_grad();
      loss.backward();
      optimizer->step();
      total += loss.item<double>();
    }
    optimizer->set_lr(std::max(optimizer->lr() * 0.5, s.floor));
    for (auto& batch : *loader) {
      optimizer->zero_grad();
      hvd::nn::functional::mse_loss(net->forward(batch.data), batch.target).backward();
      optimizer->step();
    }
    std::printf("%s %d %.9f\n", s.optimizer.c_str(), epoch, total);
  }
  hvd::save(net, s.optimizer + ".safetensors");
}

template <class Optimizer>
static double train_with(int64_t batch_size, double rate) {
  hvd::manual_seed(5);
  hvd::nn::Sequential net(hvd::nn::Linear(4, 3));
  Optimizer optimizer(net->parameters(), rate);
  auto loader = hvd::data::make_data_loader(hvd::data::datasets::TensorDataset(hvd::randn({44, 4}), hvd::randn({44, 3})), hvd::data::DataLoaderOptions(batch_size));
  double total = 0;
  for (auto& batch : *loader) {
    auto loss = hvd::nn::functional::mse_loss(net->forward(batch.data), batch.target);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    total += loss.template item<double>();
  }
  return total;
}

int main(int argc, char** argv) {
  hvd::set_default_dtype(hvd::kFloat64);
  Settings plain, adaptive;
  plain.batch = adaptive.batch = argc > 1 ? std::atoi(argv[1]) : 8;
  plain.rate = argc > 2 ? std::atof(argv[2]) : 0.1;
  adaptive.rate = argc > 3 ? std::atof(argv[3]) : 0.02;
  plain.floor = argc > 4 ? std::atof(argv[4]) : 0.03;
  adaptive.floor = argc > 5 ? std::atof(argv[5]) : 0.004;
  train(plain);
  for (const char* name : {"adam", "rmsprop"}) {
    adaptive.optimizer = name;
    train(adaptive);
  }
  const double rate = argc > 2 ? std::atof(argv[2]) : 0.1, small = argc > 3 ? std::atof(argv[3]) : 0.02;
  std::printf("%.9f\n", train_with<hvd::optim::SGD>(plain.batch, rate));
  std::printf("%.9f\n", train_with<hvd::optim::Adam>(plain.batch, small));
}
