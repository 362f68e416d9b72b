// SPDX-License-Identifier: Apache-2.0
// A small trainer in one file, with headers of its own beside it and in an include folder.
#include <hvd/hvd.hpp>
#include <model.h>

#include <cstdio>

#include "shown.h"

int main() {
  hvd::manual_seed(3);
  auto digits = hvd::data::open_digits_or("", hvd::data::datasets::kTrain, 64);
  auto loader = hvd::data::make_data_loader<hvd::data::RandomSampler>(digits, hvd::data::DataLoaderOptions().batch_size(16));
  Model model;
  hvd::optim::SGD optimizer(model->parameters(), hvd::optim::SGDOptions(0.05).momentum(0.9));
  for (int epoch = 1; epoch <= 2; ++epoch) {
    for (auto& batch : *loader) {
      optimizer.zero_grad();
      auto loss = hvd::nn::functional::cross_entropy(model->forward(batch.data), batch.target);
      loss.backward();
      optimizer.step();  // the line of the breakpoint
    }
    show(epoch);
    std::printf("%s:%d\n", __FILE__, __LINE__);
  }
  hvd::save(model, "model.safetensors");
  return 0;
}
