// SPDX-License-Identifier: Apache-2.0
// e2e: expect=refused:HVD3021
// Every step uses all there is: nothing to share out.
// form: full-batch training, in an end-to-end test
#include <torch/torch.h>

#include <iostream>

int main() {
  auto x = torch::linspace(-1, 1, 40).reshape({40, 1});
  auto y = 3 * x - 1;
  torch::nn::Linear model(1, 1);
  torch::optim::SGD optimizer(model->parameters(), 0.1);
  for (int epoch = 0; epoch < 20; ++epoch) {
    optimizer.zero_grad();
    auto loss = torch::mse_loss(model(x), y);
    loss.backward();
    optimizer.step();
    std::cout << loss.item<float>() << std::endl;
  }
}
