// SPDX-License-Identifier: Apache-2.0
// e2e: expect=refused:HVD3022
// A batch that is read before the training loop by the iterator of that loop: it would be this rank's slice where no step is.
#include <hvd/hvd.hpp>

#include <cstdio>
#include <memory>

int main() {
  auto set = std::make_shared<hvd::data::datasets::Digits>(60, 1);
  auto loader = hvd::data::make_data_loader<hvd::data::RandomSampler>(set, hvd::data::DataLoaderOptions(8));
  hvd::nn::Linear net(784, 10);
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.01));
  auto it = loader->begin();
  std::printf("%g\n", it->data.sum().item<double>());
  for (int step = 0; step < 5; ++step) {
    opt.zero_grad();
    hvd::nn::functional::cross_entropy(net->forward(it->data.flatten(1)), it->target).backward();
    opt.step();
    ++it;
  }
}
