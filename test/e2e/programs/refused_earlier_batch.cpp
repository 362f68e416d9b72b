// SPDX-License-Identifier: Apache-2.0
// e2e: expect=refused:HVD3010
// The loss of the batch before: its slice was another one.
#include <hvd/hvd.hpp>

int main() {
  hvd::nn::Linear net(4, 1);
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(hvd::data::datasets::TensorDataset(hvd::randn({50, 4}), hvd::randn({50, 1})), hvd::data::DataLoaderOptions(8));
  hvd::Tensor before, wanted;
  for (auto& batch : *loader) {
    if (before.defined()) {
      opt.zero_grad();
      hvd::nn::functional::mse_loss(net->forward(before), wanted).backward();
      opt.step();
    }
    before = batch.data;
    wanted = batch.target;
  }
}
