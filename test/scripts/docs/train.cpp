// SPDX-License-Identifier: Apache-2.0
// The reader's program: what the commands of the documentation are run with.
#include <hvd/hvd.hpp>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "classifier.h"

int main(int argc, char** argv) {
  std::size_t batch = 64;
  double rate = 0.01;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::string(argv[i]) == "--batch") batch = std::stoul(argv[i + 1]);
    if (std::string(argv[i]) == "--lr") rate = std::atof(argv[i + 1]);
  }
  hvd::manual_seed(3);
  auto digits = hvd::data::open_digits_or("", hvd::data::datasets::kTrain, 600);
  auto loader = hvd::data::make_data_loader<hvd::data::RandomSampler>(digits, hvd::data::DataLoaderOptions().batch_size(batch));
  Classifier model;
  model->to(hvd::kFloat64);
  hvd::optim::SGD optimizer(model->parameters(), hvd::optim::SGDOptions(rate).momentum(0.9));
  for (int epoch = 1; epoch <= 2; ++epoch) {
    for (auto& batch : *loader) {
      optimizer.zero_grad();
      auto loss = hvd::nn::functional::cross_entropy(model->forward(batch.data.to(hvd::kFloat64)), batch.target);
      loss.backward();
      optimizer.step();
    }
    std::printf("epoch %d\n", epoch);
  }
  hvd::save(model, "model.safetensors");
}
