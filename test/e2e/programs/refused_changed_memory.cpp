// SPDX-License-Identifier: Apache-2.0
// e2e: expect=refused:HVD3012
// Memory of samples that is kept while they change in place: the copy with all ranks' rows would still hold the old values.
#include <hvd/hvd.hpp>

#include <cstdio>
#include <memory>

int main() {
  auto set = std::make_shared<hvd::data::datasets::Digits>(64, 1);
  auto loader = hvd::data::make_data_loader<hvd::data::RandomSampler>(set, hvd::data::DataLoaderOptions(16));
  hvd::nn::Linear net(784, 10);
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.01));
  for (auto& batch : *loader) {
    const float* pixels = batch.data.data_ptr<float>();
    batch.data.mul_(0.5);
    double brightest = 0;
    for (int i = 0; i < 784; ++i) brightest = pixels[i] > brightest ? pixels[i] : brightest;
    opt.zero_grad();
    auto loss = hvd::nn::functional::cross_entropy(net->forward(batch.data.flatten(1)), batch.target);
    loss.backward();
    opt.step();
    std::printf("%.3f\n", brightest);
  }
}
