// SPDX-License-Identifier: Apache-2.0
// e2e: expect=refused:HVD3010
// A block that measures each sample by the largest number of all, in a container of the framework that calls it: its gradient is that of another rank's.
#include <torch/torch.h>

struct Measured : torch::nn::Module {
  torch::nn::Linear layer{nullptr};
  Measured(int width) { layer = register_module("layer", torch::nn::Linear(width, width)); }
  torch::Tensor forward(torch::Tensor x) {
    auto y = layer->forward(x);
    return y / y.abs().max();
  }
};

int main() {
  torch::manual_seed(7);
  auto x = torch::randn({32, 4}), y = x.sum(1, true);
  torch::nn::Sequential net(Measured(4), torch::nn::Linear(4, 1));
  torch::optim::SGD optimizer(net->parameters(), 0.05);
  for (int64_t at = 0; at < x.size(0); at += 8) {
    auto loss = torch::mse_loss(net->forward(x.slice(0, at, at + 8)), y.slice(0, at, at + 8));
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
  }
}
