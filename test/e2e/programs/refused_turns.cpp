// SPDX-License-Identifier: Apache-2.0
// e2e: expect=refused:HVD3015
// The expression that names the optimizer goes on to the next each time.
#include <hvd/hvd.hpp>

namespace F = hvd::nn::functional;

int main() {
  hvd::manual_seed(1);
  auto x = hvd::randn({40, 4}), y = x.sum(1, true);
  hvd::nn::Linear net(4, 1);
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  hvd::optim::SGD slow(net->parameters(), hvd::optim::SGDOptions(0.01));
  hvd::optim::SGD* turn[] = {&opt, &slow};
  int step = 0;
  auto loader = hvd::data::make_data_loader(hvd::data::datasets::TensorDataset(x, y), hvd::data::DataLoaderOptions(8));
  for (auto& batch : *loader) {
    net->zero_grad();
    F::mse_loss(net(batch.data), batch.target).backward();
    turn[step++ % 2]->step();
  }
}
