// e2e: expect=refused:HVD3012
// Labelled and unlabelled samples in one step, and not equally many of them.
#include <torch/torch.h>

#include <iostream>

int main() {
  torch::manual_seed(7);
  constexpr int64_t labelled = 8, unlabelled = 12;
  auto x = torch::rand({48, 3}, torch::kDouble), y = x.sum(1, true), pool = torch::rand({96, 3}, torch::kDouble);
  torch::nn::Linear net(3, 1);
  net->to(torch::kDouble);
  torch::optim::SGD optimizer(net->parameters(), 0.05);
  int64_t from = 0;
  for (int epoch = 0; epoch < 3; ++epoch) {
    for (int64_t at = 0; at < 48; at += labelled) {
      auto in = x.slice(0, at, at + labelled), out = y.slice(0, at, at + labelled);
      auto other = pool.slice(0, from, from + unlabelled);
      from = (from + unlabelled) % 96;
      auto loss = torch::mse_loss(net->forward(in), out) + 0.3 * net->forward(other).pow(2).mean();
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
    }
  }
  std::cout << net->weight << "\n";
}
