// SPDX-License-Identifier: Apache-2.0
// e2e: expect=refused:HVD3021
// One step for the rows of several batches: each of them had a slice of its own.
#include <hvd/hvd.hpp>

int main() {
  hvd::nn::Linear net(4, 1);
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(hvd::data::datasets::TensorDataset(hvd::randn({50, 4}), hvd::randn({50, 1})), hvd::data::DataLoaderOptions(8));
  hvd::Tensor data, target;
  int batches = 0;
  for (auto& batch : *loader) {
    if (batches == 0) {
      data = batch.data;
      target = batch.target;
    } else {
      data = hvd::cat({data, batch.data}, 0);
      target = hvd::cat({target, batch.target}, 0);
    }
    if (++batches < 3) continue;
    opt.zero_grad();
    hvd::nn::functional::mse_loss(net->forward(data), target).backward();
    opt.step();
    batches = 0;
  }
}
