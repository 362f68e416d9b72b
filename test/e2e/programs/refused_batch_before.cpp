// SPDX-License-Identifier: Apache-2.0
// e2e: expect=refused:HVD3010
// A term over the batch before: its slices are gone.
#include <hvd/hvd.hpp>

namespace F = hvd::nn::functional;

int main() {
  hvd::manual_seed(1);
  auto x = hvd::randn({40, 4}), y = x.sum(1, true);
  hvd::nn::Linear net(4, 1);
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  hvd::data::Batch last;
  auto loader = hvd::data::make_data_loader(hvd::data::datasets::TensorDataset(x, y), hvd::data::DataLoaderOptions(8));
  for (auto& batch : *loader) {
    auto loss = F::mse_loss(net(batch.data), batch.target);
    if (last.data.defined()) loss = loss + 0.5 * F::mse_loss(net(last.data), last.target);
    last = batch;
    opt.zero_grad();
    loss.backward();
    opt.step();
  }
}
