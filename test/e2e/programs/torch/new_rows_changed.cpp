// SPDX-License-Identifier: Apache-2.0
// e2e: scaled={8*N} {0.05*N}; ranks=1,2,3; timeout=120
// Rows of all data that a step changes in place in the statement that makes them new ones: converted, or chosen by positions. All data stay as they
// are. A loop over sets of different size, each sliced in turn.
#include <torch/torch.h>

#include <algorithm>
#include <iomanip>
#include <iostream>
#include <string>
#include <vector>

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const int64_t batch = std::stoll(argv[1]), samples = 45;
  torch::manual_seed(23);
  std::cout << std::setprecision(8);
  const auto bytes = torch::randint(0, 256, {samples, 4}, torch::kInt);
  const auto x = torch::randn({samples, 4}, torch::kDouble), y = torch::randn({samples, 2}, torch::kDouble);
  torch::nn::Sequential net(torch::nn::Linear(4, 6), torch::nn::ReLU(torch::nn::ReLUOptions().inplace(true)), torch::nn::Linear(6, 2));
  net->to(torch::kDouble);
  torch::optim::SGD optimizer(net->parameters(), std::stod(argv[2]));
  const auto step = [&](const torch::Tensor& loss) {
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
  };
  for (int epoch = 0; epoch < 2; ++epoch) {
// form: rows of all data changed in place, where they are converted, or chosen by positions
    auto order = torch::randperm(samples);
    auto wanted = y.index_select(0, order);
    double total = 0;
    for (int64_t i = 0; i < samples; i += batch) {
      const int64_t end = std::min(i + batch, samples);
      auto picture = bytes.slice(0, i, end).to(torch::kDouble).div_(255).sub_(0.5);
      auto chosen = x.index_select(0, order.slice(0, i, end)).mul_(0.9);
      const auto loss = torch::mse_loss(net->forward(picture), y.slice(0, i, end)) + torch::mse_loss(net->forward(chosen), wanted.slice(0, i, end));
      step(loss);
      total += loss.item<double>() * static_cast<double>(end - i);
    }
    std::cout << total / samples << " " << x.sum().item<double>() << "\n";
  }
// form: sets of different size, gone through one by one, each sliced in turn
  const std::vector<torch::Tensor> sets = {x.slice(0, 0, 30), x.slice(0, 30, 33), x.slice(0, 33)};
  for (auto& rows : sets) {
    double total = 0;
    for (int64_t i = 0; i < rows.size(0); i += batch) {
      auto part = rows.slice(0, i, i + batch);
      const auto loss = net->forward(part).pow(2).mean();
      step(loss);
      total += loss.item<double>() * static_cast<double>(part.size(0));
    }
    std::cout << rows.size(0) << ": " << total / static_cast<double>(rows.size(0)) << "\n";
  }
  torch::save(net, "net.pt");
}
