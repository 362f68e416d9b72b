// SPDX-License-Identifier: Apache-2.0
// e2e: scaled={8*N} {0.1*N} {0.02*sqrt(N)} {0.03*N} {0.004*sqrt(N)}; ranks=1,2,3; timeout=90
// One rate of a configuration for optimizers that ask for different rules, chosen by name; schedules by the groups of whichever optimizer it is.
#include <torch/torch.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

struct Settings {
  std::string optimizer = "sgd";
  int64_t batch = 8;
  double rate = 0.1, floor = 0.03;
};

// form: one rate for optimizers of different kinds, chosen by name
static std::shared_ptr<torch::optim::Optimizer> make_optimizer(const std::string& name, const std::vector<torch::Tensor>& parameters, double rate) {
  if (name == "adam") return std::make_shared<torch::optim::Adam>(parameters, torch::optim::AdamOptions(rate));
  if (name == "adamw") return std::make_shared<torch::optim::AdamW>(parameters, torch::optim::AdamWOptions(rate).weight_decay(0.01));
  if (name == "sgd") return std::make_shared<torch::optim::SGD>(parameters, torch::optim::SGDOptions(rate).momentum(0.5));
  throw std::invalid_argument("unknown optimizer " + name);
}

static void set_rate(torch::optim::Optimizer& optimizer, double rate) {
  for (auto& group : optimizer.param_groups()) group.options().set_lr(rate);
}

static void train(const Settings& s) {
  torch::manual_seed(3);
  torch::nn::Sequential net(torch::nn::Linear(4, 6), torch::nn::Tanh(), torch::nn::Linear(6, 3));
  net->to(torch::kFloat64);
  auto optimizer = make_optimizer(s.optimizer, net->parameters(), s.rate);
  const torch::Tensor x = torch::randn({44, 4}, torch::kFloat64), y = torch::randn({44, 3}, torch::kFloat64);
  auto data = torch::data::datasets::TensorDataset(std::vector<torch::Tensor>(x.unbind(0))).map(torch::data::transforms::Stack<torch::data::TensorExample>());
  auto loader = torch::data::make_data_loader<torch::data::samplers::SequentialSampler>(std::move(data), torch::data::DataLoaderOptions(s.batch));
  const int epochs = 4;
  for (int epoch = 0; epoch < epochs; ++epoch) {
    set_rate(*optimizer, s.rate * (epoch + 1) / epochs);
    double total = 0;
    int64_t rows = 0;
    for (auto& batch : *loader) {
      const torch::Tensor loss = torch::mse_loss(net->forward(batch.data), batch.data.narrow(1, 0, 3));
      optimizer->zero_grad();
      loss.backward();
      optimizer->step();
      total += loss.item<double>() * batch.data.size(0);
      rows += batch.data.size(0);
    }
    for (auto& group : optimizer->param_groups()) {
      auto& options = group.options();
      options.set_lr(std::max(options.get_lr() * 0.5, s.floor));
    }
    for (auto& batch : *loader) {
      optimizer->zero_grad();
      torch::mse_loss(net->forward(batch.data), batch.data.narrow(1, 0, 3)).backward();
      optimizer->step();
    }
    std::printf("%s %d %.9f\n", s.optimizer.c_str(), epoch, total / rows);
  }
  torch::save(net, s.optimizer + ".pt");
}

int main(int argc, char** argv) {
  Settings plain, adaptive;
  plain.batch = adaptive.batch = argc > 1 ? std::atoi(argv[1]) : 8;
  plain.rate = argc > 2 ? std::atof(argv[2]) : 0.1;
  adaptive.rate = argc > 3 ? std::atof(argv[3]) : 0.02;
  plain.floor = argc > 4 ? std::atof(argv[4]) : 0.03;
  adaptive.floor = argc > 5 ? std::atof(argv[5]) : 0.004;
  train(plain);
  for (const char* name : {"adam", "adamw"}) {
    adaptive.optimizer = name;
    train(adaptive);
  }
}
