// SPDX-License-Identifier: Apache-2.0
// e2e: expect=refused:HVD3012
// Samples that are changed through a pointer: read, they would be gathered; a change would go into the copy.
#include <hvd/hvd.hpp>

#include <memory>

int main() {
  auto set = std::make_shared<hvd::data::datasets::Digits>(64, 1);
  auto loader = hvd::data::make_data_loader<hvd::data::RandomSampler>(set, hvd::data::DataLoaderOptions(16));
  hvd::nn::Linear net(784, 10);
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.01));
  for (auto& batch : *loader) {
    float* pixels = batch.data.data_ptr<float>();
    for (int i = 0; i < 16; ++i) pixels[i * 784] = 0;
    opt.zero_grad();
    auto loss = hvd::nn::functional::cross_entropy(net->forward(batch.data.flatten(1)), batch.target);
    loss.backward();
    opt.step();
  }
}
