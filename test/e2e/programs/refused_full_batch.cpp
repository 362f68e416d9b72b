// SPDX-License-Identifier: Apache-2.0
// e2e: expect=refused:HVD3021
// Full-batch training: there is no batch to share out.
#include <hvd/hvd.hpp>

int main() {
  auto x = hvd::randn({64, 4});
  auto y = hvd::randn({64, 1});
  hvd::nn::Linear net(4, 1);
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.01));
  for (int step = 0; step < 10; ++step) {
    opt.zero_grad();
    auto loss = hvd::nn::functional::mse_loss(net->forward(x), y);
    loss.backward();
    opt.step();
  }
}
