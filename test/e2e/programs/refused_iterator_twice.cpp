// SPDX-License-Identifier: Apache-2.0
// e2e: expect=refused:HVD3022
// Two batches in one step: the last one of a pass is smaller, and a step has one slice.
#include <hvd/hvd.hpp>

#include <memory>

int main() {
  auto set = std::make_shared<hvd::data::datasets::Digits>(60, 1);
  auto loader = hvd::data::make_data_loader<hvd::data::RandomSampler>(set, hvd::data::DataLoaderOptions(8));
  hvd::nn::Linear net(784, 10);
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.01));
  auto it = loader->begin();
  for (int step = 0; step < 4; ++step) {
    opt.zero_grad();
    hvd::nn::functional::cross_entropy(net->forward(it->data.flatten(1)), it->target).backward();
    ++it;
    hvd::nn::functional::cross_entropy(net->forward(it->data.flatten(1)), it->target).backward();
    ++it;
    opt.step();
  }
}
