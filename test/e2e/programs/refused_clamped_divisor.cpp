// SPDX-License-Identifier: Apache-2.0
// e2e: expect=refused:HVD3010
// A divisor with a lower bound that the network makes: combined over ranks it would lose its part of the gradient.
#include <hvd/hvd.hpp>

#include <memory>

int main() {
  auto set = std::make_shared<hvd::data::datasets::Digits>(64, 1);
  auto loader = hvd::data::make_data_loader<hvd::data::RandomSampler>(set, hvd::data::DataLoaderOptions(16));
  hvd::nn::Linear net(784, 10);
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.01));
  for (auto& batch : *loader) {
    opt.zero_grad();
    auto p = net->forward(batch.data.flatten(1)).sigmoid();
    auto loss = (p * p * 2).sum() / p.sum().clamp(1e-6, 1e6);
    loss.backward();
    opt.step();
  }
}
