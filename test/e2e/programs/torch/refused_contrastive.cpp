// SPDX-License-Identifier: Apache-2.0
// e2e: expect=refused:HVD3010
// Every sample of the batch is compared with every other.
// form: contrastive loss, in an end-to-end test
#include <torch/torch.h>

#include <iostream>

int main() {
  auto data = torch::randn({64, 10});
  torch::nn::Linear encoder(10, 4);
  torch::optim::Adam optimizer(encoder->parameters(), 1e-3);
  const int64_t batch = 16;
  for (int64_t i = 0; i + batch <= 64; i += batch) {
    auto z = encoder(data.narrow(0, i, batch));
    auto logits = torch::matmul(z, z.t());
    auto loss = torch::nn::functional::cross_entropy(logits, torch::arange(batch));
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    std::cout << loss.item<float>() << "\n";
  }
}
