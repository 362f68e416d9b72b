// SPDX-License-Identifier: Apache-2.0
// e2e: modes=global; ranks=1,2,3; timeout=120; warns=HVD2001,HVD2010
// Every step passes all samples through the model one by one, and adds up their losses: each rank passes its own.
// form: full-batch training, sample by sample in a loop within the step
#include <torch/torch.h>

#include <cstdio>

int main() {
  torch::manual_seed(5);
  const int64_t rows = 29;
  auto points = torch::randn({rows, 6}), heights = torch::rand({rows, 3});
  torch::nn::Sequential net(torch::nn::Linear(6, 8), torch::nn::Tanh(), torch::nn::Linear(8, 3));
  torch::optim::SGD optimizer(net->parameters(), 0.05);
  for (int round = 0; round < 5; ++round) {
    optimizer.zero_grad();
    auto sum = torch::zeros({1});
    for (int64_t i = 0; i < points.size(0); ++i) sum = sum + torch::mse_loss(net->forward(points[i].unsqueeze(0)), heights[i].unsqueeze(0));
    sum = sum / points.size(0);
    sum.backward();
    optimizer.step();
    std::printf("%d %.6f\n", round, sum.item<double>());
  }
  torch::save(net, "net.pt");
}
