// SPDX-License-Identifier: Apache-2.0
// e2e: edit=batch = 8 => batch = {8*N}; edit=rate = 0.05 => rate = {0.05*N}; ranks=1,2,3; timeout=120
// Nobody sets a seed: what is drawn before training begins is the same on all ranks all the same. Only what does not depend on chance is shown.
// form: draws before training, without a seed
#include <torch/torch.h>

#include <iostream>

int main() {
  const int64_t batch = 8;
  const double rate = 0.05;
  auto wanted = torch::randn({4, 1}, torch::kDouble);
  torch::nn::Linear net(4, 1);
  net->to(torch::kDouble);
  torch::optim::SGD optimizer(net->parameters(), rate);
  double last = 0;
  for (int step = 0; step < 600; ++step) {
    auto x = torch::rand({batch, 4}, torch::kDouble) - 0.5;
    optimizer.zero_grad();
    auto loss = torch::mse_loss(net->forward(x), x.matmul(wanted)) * 4;
    loss.backward();
    optimizer.step();
    last = loss.item<double>();
  }
  std::cout << (last < 1e-4 ? "found" : "lost") << std::endl;
}
