// SPDX-License-Identifier: Apache-2.0
// e2e: edit=kBatch = 16 => kBatch = {16*N}
// A program with a rule of its own for larger batches: the rate follows the batch size, and is not scaled once more.
#include <hvd/hvd.hpp>

#include <cmath>
#include <cstdio>
#include <memory>

const long kBatch = 16;

double rate_for(double base, long batch) { return base * static_cast<double>(batch) / 64; }

int main() {
  hvd::manual_seed(3);
  auto set = std::make_shared<hvd::data::datasets::Digits>(150, 1);
  auto loader = hvd::data::make_data_loader<hvd::data::RandomSampler>(set, hvd::data::DataLoaderOptions(kBatch));
  hvd::nn::Linear net(784, 10);
  net->to(hvd::kFloat64);
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(rate_for(0.02, kBatch)));
  for (int epoch = 0; epoch < 4; ++epoch) {
    if (epoch == 2) opt.param_groups()[0].options().set_lr(0.01 * std::sqrt(kBatch / 64.0));
    double shown = 0;
    for (auto& batch : *loader) {
      opt.zero_grad();
      auto loss = hvd::nn::functional::cross_entropy(net->forward(batch.data.flatten(1).to(hvd::kFloat64)), batch.target);
      loss.backward();
      opt.step();
      shown = loss.item<double>();
    }
    std::printf("%d %.10f\n", epoch, shown);
  }
  hvd::save(net, "own_rate_rule.safetensors");
}
