// SPDX-License-Identifier: Apache-2.0
// e2e: edit=kBatch = 12 => kBatch = {12*N}; edit=kRate = 0.1 => kRate = {0.1*N}
// Two backward calls into one step: a loss of the batch, and a penalty on the weights that depends on no sample and counts once. The last batch
// has two rows, fewer than ranks.
#include <hvd/hvd.hpp>

#include <cstdio>

const int64_t kBatch = 12;
const double kRate = 0.1;

int main() {
  hvd::set_default_dtype(hvd::kFloat64);
  hvd::manual_seed(31);
  const int64_t n = 38;
  const hvd::Tensor x = hvd::randn({n, 8}), y = hvd::randint(0, 3, {n});
  hvd::nn::Linear net(8, 3);
  hvd::optim::SGD optimizer(net->parameters(), hvd::optim::SGDOptions(kRate));
  auto loader = hvd::data::make_data_loader<hvd::data::SequentialSampler>(hvd::data::datasets::TensorDataset(x, y),
                                                                          hvd::data::DataLoaderOptions(kBatch));
  for (int epoch = 0; epoch < 3; ++epoch) {
    for (auto& batch : *loader) {
      optimizer.zero_grad();
      auto loss = hvd::nn::functional::cross_entropy(net->forward(batch.data), batch.target);
      loss.backward();
      hvd::Tensor penalty = net->weight.pow(2).sum() * 0.05;
      penalty.backward();
      optimizer.step();
    }
  }
  std::printf("%.12f %.12f\n", net->weight.abs().sum().item<double>(), net->bias.abs().sum().item<double>());
}
