// SPDX-License-Identifier: Apache-2.0
#include <model.h>

#include <hvd/hvd.hpp>

#include "local.h"
#include "shown/progress.h"

int main() {
  hvd::manual_seed(3);
  auto digits = hvd::data::open_digits_or("", hvd::data::datasets::kTrain, 100);
  auto loader = hvd::data::make_data_loader<hvd::data::RandomSampler>(digits, hvd::data::DataLoaderOptions().batch_size(16));
  Model model;
  hvd::optim::SGD optimizer(model->parameters(), hvd::optim::SGDOptions(0.05).momentum(0.9));
  for (int epoch = 1; epoch <= kEpochs; ++epoch) {
    for (auto& batch : *loader) {
      optimizer.zero_grad();
      auto loss = hvd::nn::functional::cross_entropy(model->forward(batch.data), batch.target);
      loss.backward();
      optimizer.step();
    }
    progress(epoch);
  }
  hvd::save(model, "model.safetensors");
  return 0;
}
