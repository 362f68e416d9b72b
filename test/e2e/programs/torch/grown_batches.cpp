// e2e: modes=global; ranks=1,2,3; timeout=60
// Batches that grow by torch::cat, one drawn memory after the other: the whole is shared out, not the single memory.
#include <torch/torch.h>

#include <deque>
#include <iomanip>
#include <iostream>
#include <random>
#include <tuple>

struct Memory {
  std::deque<torch::Tensor> kept;
  std::mt19937 engine{7};

  torch::Tensor one() { return kept.at(std::uniform_int_distribution<size_t>(0, kept.size() - 1)(engine)); }

  torch::Tensor from_first(int n) {
    torch::Tensor all = one();
    for (int i = 0; i < n - 1; ++i) all = torch::cat({all, one()}, 0);
    return all;
  }

  torch::Tensor from_nothing(int n) {
    torch::Tensor all;
    for (int i = 0; i < n; ++i) {
      auto row = one();
      all = all.defined() ? torch::cat({all, row}, 0) : row;
    }
    return all;
  }

  std::tuple<torch::Tensor, torch::Tensor> from_empty(int n) {
    torch::Tensor inputs = torch::empty({0, 3}, torch::kDouble), targets = torch::empty({0, 1}, torch::kDouble);
    for (int i = 0; i < n; ++i) {
      auto row = one();
      inputs = torch::cat({inputs, row.slice(1, 0, 3)}, 0);
      targets = torch::cat({targets, row.slice(1, 3, 4)}, 0);
    }
    return {inputs, targets};
  }
};

int main() {
  torch::manual_seed(1);
  Memory memory;
  torch::nn::Linear net(3, 1);
  net->to(torch::kDouble);
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  std::cout << std::setprecision(12);
  constexpr int size = 7;
  for (int t = 0; t < 60; ++t) {
    auto x = torch::randn({1, 3}, torch::kDouble);
    memory.kept.push_back(torch::cat({x, x.sum(1, true)}, 1));
    if (t % 5 != 4) continue;
    torch::Tensor inputs, targets;
    if (t % 3 == 0) {
      auto rows = memory.from_first(size);
      inputs = rows.slice(1, 0, 3), targets = rows.slice(1, 3, 4);
    } else if (t % 3 == 1) {
      auto rows = memory.from_nothing(size);
      inputs = rows.slice(1, 0, 3), targets = rows.slice(1, 3, 4);
    } else {
      std::tie(inputs, targets) = memory.from_empty(size);
    }
    auto loss = torch::mse_loss(net->forward(inputs), targets);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    std::cout << t << " " << inputs.size(0) << " " << loss.item<double>() << "\n";
  }
  torch::save(net, "net.pt");
}
