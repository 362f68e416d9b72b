// SPDX-License-Identifier: Apache-2.0
// e2e: expect=refused:HVD3031
// A tensor that no optimizer has, updated from its gradient, which is that of one rank's samples.
#include <hvd/hvd.hpp>

namespace F = hvd::nn::functional;

int main() {
  hvd::manual_seed(1);
  auto x = hvd::randn({40, 4}), y = x.sum(1, true);
  hvd::nn::Linear net(4, 1);
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto shift = hvd::zeros({4}).requires_grad_();
  auto loader = hvd::data::make_data_loader(hvd::data::datasets::TensorDataset(x, y), hvd::data::DataLoaderOptions(8));
  for (auto& batch : *loader) {
    opt.zero_grad();
    F::mse_loss(net(batch.data + shift), batch.target).backward();
    opt.step();
    hvd::NoGradGuard none;
    shift.add_(shift.grad() * 0.3);
  }
}
