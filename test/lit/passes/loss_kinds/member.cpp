// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
#include <hvd/hvd.hpp>

#include "parts.h"

// CHECK: hvd::weighted(loss, hvd::LossKind::counted(hvd::counted_terms(batch.target, criterion))).backward();
struct Trainer {
  Trainer() : opt(net->parameters(), hvd::optim::SGDOptions(0.1)) {}
  void step(const hvd::data::Batch& batch) {
    opt.zero_grad();
    auto loss = criterion(net(batch.data), batch.target);
    loss.backward();
    opt.step();
  }
  Net net;
  hvd::nn::CrossEntropyLoss criterion{hvd::nn::CrossEntropyLossOptions().ignore_index(-1)};
  hvd::optim::SGD opt;
};

int main() {
  Trainer trainer;
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) trainer.step(batch);
}
