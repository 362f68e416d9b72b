// SPDX-License-Identifier: Apache-2.0
#include <hvd/hvd.hpp>
#include <iostream>

static hvd::Tensor total(const hvd::Tensor& losses, int64_t scale) { return losses.sum() * scale; }

void fit() {
  hvd::manual_seed(2);
  hvd::nn::Linear net(4, 2);
  net->to(hvd::kFloat64);
  hvd::data::datasets::TensorDataset set(hvd::randn({50, 4}, hvd::kFloat64), hvd::randint(0, 2, {50}));
  auto loader = hvd::data::make_data_loader(set, hvd::data::DataLoaderOptions(8));
  hvd::optim::SGD optimizer(net->parameters(), hvd::optim::SGDOptions(0.01));
  for (auto& batch : *loader) {
    optimizer.zero_grad();
    hvd::Tensor loss = total(net(batch.data).pow(2), 2);
    loss.backward();
    optimizer.step();
    std::cout << "loss " << loss.item<double>() << std::endl;
  }
  hvd::save(net, "mixed.safetensors");
}
