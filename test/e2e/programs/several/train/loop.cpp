// SPDX-License-Identifier: Apache-2.0
#include "loop.h"

#include "../data/blobs.h"
#include "evaluate.h"

double train_epoch(Net& net, hvd::optim::Optimizer& optimizer, const hvd::data::datasets::TensorDataset& data, const Settings& settings) {
  auto loader = hvd::data::make_data_loader<hvd::data::samplers::RandomSampler>(data, hvd::data::DataLoaderOptions(settings.batch));
  double sum = 0;
  int64_t rows = 0;
  net->train();
  for (auto& batch : *loader) {
    optimizer.zero_grad();
    auto loss = hvd::nn::functional::cross_entropy(net(batch.data), batch.target);
    loss.backward();
    optimizer.step();
    sum += loss.item<double>() * static_cast<double>(batch.data.size(0));
    rows += batch.data.size(0);
  }
  return sum / static_cast<double>(rows);
}
