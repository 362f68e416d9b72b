// SPDX-License-Identifier: Apache-2.0
// e2e: expect=refused:HVD3022
// The second loader's batches come through a function, so no iterator of it is read in sight: its passes would be shuffled from each
// rank's own numbers.
#include <hvd/hvd.hpp>

#include <memory>

template <class Iterator>
auto take(Iterator& it) {
  auto batch = *it;
  ++it;
  return batch;
}

int main() {
  auto set = std::make_shared<hvd::data::datasets::Digits>(60, 1);
  auto loader = hvd::data::make_data_loader<hvd::data::RandomSampler>(set, hvd::data::DataLoaderOptions(10));
  auto other = hvd::data::make_data_loader<hvd::data::RandomSampler>(set, hvd::data::DataLoaderOptions(10));
  hvd::nn::Linear net(784, 10);
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.01));
  auto second = other->begin();
  for (auto& batch : *loader) {
    if (second == other->end()) second = other->begin();
    auto more = take(second);
    opt.zero_grad();
    (hvd::nn::functional::cross_entropy(net->forward(batch.data.flatten(1)), batch.target) +
     hvd::nn::functional::cross_entropy(net->forward(more.data.flatten(1)), more.target))
        .backward();
    opt.step();
  }
}
