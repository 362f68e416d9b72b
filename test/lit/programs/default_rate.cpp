// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
// An optimizer without a rate keeps the default of its class, which stands nowhere in the program: that is said.

#include <hvd/hvd.hpp>

int main() {
  hvd::nn::Linear net(5, 1), other(5, 1);
  // CHECK: hvd::optim::Adam plain(net->parameters());
  hvd::optim::Adam plain(net->parameters());  // says: HVD2017
  // CHECK: AdamOptions(hvd::scaled_lr(0.002, hvd::LrRule::sqrt))
  hvd::optim::Adam given(other->parameters(), hvd::optim::AdamOptions(0.002));
  auto loader = hvd::data::make_data_loader(hvd::data::datasets::TensorDataset(hvd::randn({50, 5}), hvd::randn({50, 1})), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    plain.zero_grad();
    hvd::nn::functional::mse_loss(net->forward(batch.data), batch.target).backward();
    plain.step();
    given.zero_grad();
    hvd::nn::functional::mse_loss(other->forward(batch.data), batch.target).backward();
    given.step();
  }
}
