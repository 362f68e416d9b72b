// SPDX-License-Identifier: Apache-2.0
// e2e: expect=refused:HVD3010
// A sum over the batch that is divided in place by one that the network makes: the slices' gradients do not add up to its gradient, and there is no place
// where both could be made whole.
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
    auto loss = (p * p * 2).sum();
    loss /= p.sum();
    loss.backward();
    opt.step();
  }
}
