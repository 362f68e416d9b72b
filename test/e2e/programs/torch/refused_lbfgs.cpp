// SPDX-License-Identifier: Apache-2.0
// e2e: expect=refused:HVD3026
// A closure with two ends, of an optimizer that searches: one of them is not seen to have the gradients.
// form: LBFGS closure with two ends
#include <torch/torch.h>

#include <iostream>

int main() {
  auto x = torch::linspace(-1, 1, 40).reshape({40, 1});
  auto y = 3 * x - 1;
  torch::nn::Linear model(1, 1);
  torch::optim::LBFGS optimizer(model->parameters(), torch::optim::LBFGSOptions(1));
  for (int i = 0; i < 40; i += 10) {
    auto a = x.slice(0, i, i + 10), b = y.slice(0, i, i + 10);
    auto closure = [&] {
      optimizer.zero_grad();
      auto loss = torch::mse_loss(model(a), b);
      if (torch::isnan(loss).item<bool>()) return loss;
      loss.backward();
      return loss;
    };
    optimizer.step(closure);
  }
  std::cout << model->weight << std::endl;
}
