// SPDX-License-Identifier: Apache-2.0
// e2e: expect=refused:HVD3010
// One backward pass for the losses of several batches: no gradient flows through what was combined over ranks.
#include <hvd/hvd.hpp>

#include <vector>

int main() {
  hvd::nn::Linear net(4, 1);
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(hvd::data::datasets::TensorDataset(hvd::randn({50, 4}), hvd::randn({50, 1})), hvd::data::DataLoaderOptions(8));
  std::vector<hvd::Tensor> losses;
  for (auto& batch : *loader) {
    losses.push_back(hvd::nn::functional::mse_loss(net->forward(batch.data), batch.target));
    if (losses.size() < 3) continue;
    opt.zero_grad();
    hvd::stack(losses).mean().backward();
    opt.step();
    losses.clear();
  }
}
