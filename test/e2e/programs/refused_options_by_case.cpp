// SPDX-License-Identifier: Apache-2.0
// e2e: expect=refused:HVD3010
// A reduction that is another one with an option of the command line.
#include <hvd/hvd.hpp>

namespace F = hvd::nn::functional;

int main(int argc, char**) {
  hvd::nn::Linear net(4, 1);
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(hvd::data::datasets::TensorDataset(hvd::randn({50, 4}), hvd::randn({50, 1})), hvd::data::DataLoaderOptions(8));
  F::MSELossFuncOptions options;
  if (argc > 1) options.reduction(hvd::kSum);
  for (auto& batch : *loader) {
    opt.zero_grad();
    F::mse_loss(net->forward(batch.data), batch.target, options).backward();
    opt.step();
  }
}
