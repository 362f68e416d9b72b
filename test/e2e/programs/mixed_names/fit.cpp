// SPDX-License-Identifier: Apache-2.0
#include <hvd/hvd.hpp>
#include <iostream>

static void tell(long double value) { std::cout << "loss " << value << std::endl; }

void fit() {
  hvd::manual_seed(2);
  hvd::nn::Linear net(4, 2);
  net->to(hvd::kFloat64);
  hvd::data::datasets::TensorDataset set(hvd::randn({30, 4}, hvd::kFloat64), hvd::randint(0, 2, {30}));
  auto loader = hvd::data::make_data_loader(set, hvd::data::DataLoaderOptions(8));
  hvd::optim::SGD optimizer(net->parameters(), hvd::optim::SGDOptions(0.1));
  for (auto& batch : *loader) {
    optimizer.zero_grad();
    hvd::Tensor loss = hvd::nn::functional::cross_entropy(net(batch.data), batch.target);
    loss.backward();
    optimizer.step();
    tell(loss.item<double>());
  }
  hvd::save(net, "mixed.safetensors");
}
