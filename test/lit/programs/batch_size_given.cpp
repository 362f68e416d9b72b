// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
// The batch size is a parameter of a function that stands before its caller, and spells out a shape there.
#include <hvd/hvd.hpp>

#include "parts.h"

struct Trainer {
  void train(int64_t rows, int epochs) {
    hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
    auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(rows));
    for (int epoch = 0; epoch < epochs; ++epoch)
      for (auto& batch : *loader) {
        opt.zero_grad();
        // CHECK: auto data = batch.data.view({hvd::local_batch_size(rows), -1});
        auto data = batch.data.view({rows, -1});
        hvd::nn::functional::cross_entropy(net(data), batch.target).backward();
        opt.step();
      }
  }
  Net net;
};

int main() {
  Trainer trainer;
  // CHECK: trainer.train(hvd::global_batch_size(10), 5);
  trainer.train(10, 5);
}
