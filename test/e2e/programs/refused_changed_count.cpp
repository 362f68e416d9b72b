// SPDX-License-Identifier: Apache-2.0
// e2e: expect=refused:HVD3012
// What the loss is divided by changes before the backward pass, where it is computed once more.
#include <hvd/hvd.hpp>

namespace F = hvd::nn::functional;

int main() {
  hvd::manual_seed(1);
  auto x = hvd::randn({40, 4}), y = x.sum(1, true);
  hvd::nn::Linear net(4, 1);
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(hvd::data::datasets::TensorDataset(x, y), hvd::data::DataLoaderOptions(8));
  for (auto& batch : *loader) {
    auto mask = batch.target.gt(0).to(hvd::kFloat32);
    auto loss = ((net(batch.data) - batch.target).square() * mask).sum() / (mask.sum() + 1e-8);
    mask.fill_(1);
    opt.zero_grad();
    loss.backward();
    opt.step();
  }
}
