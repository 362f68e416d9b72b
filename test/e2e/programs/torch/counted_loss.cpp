// SPDX-License-Identifier: Apache-2.0
// e2e: edit=batch = 9 => batch = {9*N}; edit=AdamOptions(0.02) => AdamOptions({0.02*sqrt(N)}); ranks=1,2,3; timeout=120
// Means over counted terms: padding that is ignored, class weights, a loss module with its own options; divisors that cannot become zero, where a
// slice may have nothing to count, alone and beside the former; weights from the share of a class in the batch.
// form: means over counted terms
// form: divisors with a lower bound
#include <torch/torch.h>

#include <iostream>

namespace F = torch::nn::functional;

torch::Tensor masked_mean(const torch::Tensor& values, const torch::Tensor& mask) { return (values * mask).sum() / mask.sum().clamp_min(1); }

int main() {
  torch::manual_seed(2);
  const int64_t n = 60, batch = 9;
  auto x = torch::sin(torch::arange(n * 3, torch::kDouble)).reshape({n, 3});
  auto y = torch::arange(n, torch::kLong).remainder(4);
  torch::nn::Linear model(3, 4);
  model->to(torch::kDouble);
  torch::optim::Adam optimizer(model->parameters(), torch::optim::AdamOptions(0.02));
  auto weights = torch::tensor({0.5, 1.0, 2.0, 0.25}, torch::kDouble);
  torch::nn::CrossEntropyLoss criterion(torch::nn::CrossEntropyLossOptions().ignore_index(3));
  std::cout.precision(11);
  for (int epoch = 0; epoch < 3; ++epoch) {
    double first = 0, second = 0, third = 0, fourth = 0;
    for (int64_t at = 0; at < n; at += batch) {
      auto inputs = x.slice(0, at, std::min(at + batch, n));
      auto targets = y.slice(0, at, std::min(at + batch, n));
      auto logits = model(inputs);
      auto rare = (inputs.select(1, 0) > 0.9).to(torch::kDouble);
      auto each = F::cross_entropy(logits, targets, F::CrossEntropyFuncOptions().reduction(torch::kNone));
      auto of_rare = masked_mean(each, rare) + (each * rare).sum() / torch::max(rare.sum(), torch::ones({}, torch::kDouble));
      auto few = (each * (1 - rare)).sum() / std::max<int64_t>((1 - rare).sum().item<int64_t>(), 2);
      auto share = rare.mean();
      auto balanced = (each * (rare * (1 - share) + (1 - rare) * share)).mean();
      auto options = F::CrossEntropyFuncOptions().weight(weights);
      auto weighted = F::cross_entropy(logits, targets, options);
      auto ignoring = criterion(logits, targets);
      auto both = F::cross_entropy(logits, targets, F::CrossEntropyFuncOptions().ignore_index(0)) + (0.5 * masked_mean(each, rare) + 0.01 * model->weight.pow(2).sum());
      optimizer.zero_grad();
      weighted.backward({}, /*keep_graph=*/true);
      ignoring.backward({}, /*keep_graph=*/true);
      of_rare.backward({}, /*keep_graph=*/true);
      few.backward({}, /*keep_graph=*/true);
      balanced.backward({}, /*keep_graph=*/true);
      both.backward();
      optimizer.step();
      first += weighted.item<double>();
      second += ignoring.item<double>();
      third += of_rare.item<double>() + few.item<double>() + both.item<double>();
      fourth += balanced.item<double>();
    }
    std::cout << "epoch " << epoch << ": " << first << " " << second << ' ' << third << ' ' << fourth << "\n";
  }
  for (const auto& p : model->parameters()) std::cout << p.sum().item<double>() << '\n';
}
