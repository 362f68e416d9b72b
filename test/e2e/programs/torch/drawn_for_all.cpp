// SPDX-License-Identifier: Apache-2.0
// e2e: scaled={8*N} {0.05*N}; ranks=1,2,3; timeout=120
// Random numbers in a step that go with all samples alike: a number, one number for each feature, a row.
// form: a random number, a random row or random features for all samples of a step
#include <torch/torch.h>

#include <algorithm>
#include <iomanip>
#include <iostream>

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const int64_t batch = std::stoll(argv[1]), samples = 45;
  const double rate = std::stod(argv[2]);
  torch::manual_seed(63);
  std::cout << std::setprecision(8);
  const int64_t width = 6;
  auto x = torch::randn({samples, 4}, torch::kDouble), y = torch::randn({samples, 3}, torch::kDouble);
  torch::nn::Linear first(4, width), second(width, 3);
  first->to(torch::kDouble);
  second->to(torch::kDouble);
  auto parameters = first->parameters();
  for (auto& p : second->parameters()) parameters.push_back(p);
  torch::optim::SGD optimizer(parameters, rate);
  for (int epoch = 0; epoch < 3; ++epoch) {
    double total = 0;
    for (int64_t at = 0; at < samples; at += batch) {
      const auto bx = x.slice(0, at, std::min(at + batch, samples)), by = y.slice(0, at, std::min(at + batch, samples));
      auto kept = torch::rand({width}, torch::kDouble).gt(0.2).to(torch::kDouble);
      auto mix = torch::rand({}, torch::kDouble);
      auto shift = 0.1 * torch::randn({1, 3}, torch::kDouble);
      auto outputs = second(torch::tanh(first(bx)) * kept) + shift;
      auto loss = mix * torch::mse_loss(outputs, by) + (1 - mix) * torch::l1_loss(outputs, by);
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
      total += loss.item<double>() * bx.size(0);
    }
    std::cout << epoch << ": " << total / samples << "\n";
  }
  torch::save(first, "first.pt");
  torch::save(second, "second.pt");
}
