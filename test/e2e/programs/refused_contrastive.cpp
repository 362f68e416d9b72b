// SPDX-License-Identifier: Apache-2.0
// e2e: expect=refused:HVD3010
// A loss that compares the samples of a batch with each other is not a function of sums over samples.
#include <hvd/hvd.hpp>

#include <memory>

int main() {
  auto set = std::make_shared<hvd::data::datasets::Digits>(64, 1);
  auto loader = hvd::data::make_data_loader<hvd::data::RandomSampler>(set, hvd::data::DataLoaderOptions(16));
  hvd::nn::Linear embed(784, 8);
  hvd::optim::SGD opt(embed->parameters(), hvd::optim::SGDOptions(0.01));
  for (auto& batch : *loader) {
    auto z = embed->forward(batch.data.flatten(1));
    auto other = batch.data.flatten(1).slice(1, 0, 8);
    auto loss = z.matmul(other.transpose(0, 1)).mean();
    opt.zero_grad();
    loss.backward();
    opt.step();
  }
}
