// SPDX-License-Identifier: Apache-2.0
// e2e: expect=refused:HVD3010
// The square root of a sum: its gradient is not made of the slices' gradients, and how it grows with the batch is not known.
#include <hvd/hvd.hpp>

#include <memory>

int main() {
  auto set = std::make_shared<hvd::data::datasets::Digits>(64, 1);
  auto loader = hvd::data::make_data_loader<hvd::data::RandomSampler>(set, hvd::data::DataLoaderOptions(16));
  hvd::nn::Linear net(784, 10);
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.01));
  for (auto& batch : *loader) {
    opt.zero_grad();
    auto loss = net->forward(batch.data.flatten(1)).square().sum().sqrt();
    loss.backward();
    opt.step();
  }
}
