// SPDX-License-Identifier: Apache-2.0
// e2e: edit=rates = {0.08, 0.04, 0.02} => rates = {{0.08*N}, {0.04*N}, {0.02*N}}; edit=settings[] = {0.05, 0.5 => settings[] = {{0.05*N}, 0.5; edit=tried = {0.1, 0.03, 0.01} => tried = {0.1, 0.03, {0.01*N}}; edit=options["rate"] = 0.06 => options["rate"] = {0.06*N}; edit=for (double rate : {0.07, 0.02}) => for (double rate : {{0.07*N}, {0.02*N}}); edit=kBatch = 8 => kBatch = {8*N}; ranks=1,2,3; timeout=120
// form: learning rates in tables and maps
// Rates that stand in lists, by a fixed place or by the epoch, beside other numbers, under a name, in records: applied scaled once, and shown as they are
// applied.
#include <torch/torch.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <string>
#include <utility>
#include <vector>

constexpr int64_t kBatch = 8;

struct Run {
  double rate;
  double loss;
};

static torch::Tensor inputs() { return torch::sin(torch::arange(160, torch::kDouble) * 0.37).view({40, 4}); }

static double epoch_of(torch::nn::Linear& net, torch::optim::SGD& optimizer, const torch::Tensor& x) {
  double last = 0;
  for (int64_t i = 0; i < x.size(0); i += kBatch) {
    const auto rows = x.slice(0, i, std::min(i + kBatch, x.size(0)));
    auto loss = torch::mse_loss(net(rows), rows.sum(1, true));
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    last = loss.item<double>();
  }
  return last;
}

static torch::nn::Linear fresh() {
  torch::manual_seed(3);
  torch::nn::Linear net(4, 1);
  net->to(torch::kDouble);
  return net;
}

static void by_epoch(const torch::Tensor& x) {
  std::vector<double> rates = {0.08, 0.04, 0.02};
  auto net = fresh();
  torch::optim::SGD optimizer(net->parameters(), rates[0]);
  for (int epoch = 0; epoch < 3; ++epoch) {
    for (auto& group : optimizer.param_groups()) static_cast<torch::optim::SGDOptions&>(group.options()).lr(rates[epoch]);
    const double loss = epoch_of(net, optimizer, x);
    std::printf("%d %g %g %.9f\n", epoch, rates[epoch], optimizer.param_groups()[0].options().get_lr(), loss);
  }
}

static void beside_others(const torch::Tensor& x) {
  const double settings[] = {0.05, 0.5, 0.001};
  auto net = fresh();
  torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(settings[0]).momentum(settings[1]).weight_decay(settings[2]));
  std::printf("%g %g %g: %.9f\n", settings[0], settings[1], settings[2], epoch_of(net, optimizer, x));
}

static void by_place(const torch::Tensor& x) {
  const std::vector<double> tried = {0.1, 0.03, 0.01};
  auto net = fresh();
  torch::optim::SGD optimizer(net->parameters(), tried[2]);
  std::printf("%g: %.9f\n", tried[2], epoch_of(net, optimizer, x));
}

static double named(const std::map<std::string, double>& given, const torch::Tensor& x) {
  auto net = fresh();
  torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(given.at("rate")).momentum(given.at("momentum")));
  return epoch_of(net, optimizer, x);
}

static double tried_with(double rate, const torch::Tensor& x) {
  auto net = fresh();
  torch::optim::SGD optimizer(net->parameters(), rate);
  return epoch_of(net, optimizer, x);
}

int main() {
  const auto x = inputs();
  by_epoch(x);
  beside_others(x);
  by_place(x);

  std::map<std::string, double> options;
  options["rate"] = 0.06;
  options["momentum"] = 0.5;
  std::printf("%g %g: %.9f\n", options["rate"], options["momentum"], named(options, x));
  options["rate"] *= 0.5;
  std::printf("%g: %.9f\n", options["rate"], named(options, x));

  std::vector<Run> runs;
  for (double rate : {0.07, 0.02}) runs.push_back({rate, tried_with(rate, x)});
  Run best = runs[0];
  for (const Run& run : runs) {
    std::printf("%g: %.9f\n", run.rate, run.loss);
    if (run.loss < best.loss) best = run;
  }
  std::printf("%g again: %.9f\n", best.rate, tried_with(best.rate, x));
}
