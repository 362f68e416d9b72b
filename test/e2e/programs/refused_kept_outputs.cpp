// SPDX-License-Identifier: Apache-2.0
// e2e: expect=refused:HVD3012
// Outputs of three batches in one list: each batch had slices of its own.
#include <hvd/hvd.hpp>

#include <iostream>
#include <vector>

int main() {
  hvd::manual_seed(1);
  auto x = hvd::randn({40, 4}), y = x.sum(1, true);
  hvd::nn::Linear net(4, 1);
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(hvd::data::datasets::TensorDataset(x, y), hvd::data::DataLoaderOptions(8));
  std::vector<hvd::Tensor> outs;
  int steps = 0;
  for (auto& batch : *loader) {
    auto out = net(batch.data);
    opt.zero_grad();
    hvd::nn::functional::mse_loss(out, batch.target).backward();
    opt.step();
    outs.push_back(out.detach());
    if (++steps % 3 == 0) {
      std::cout << hvd::cat(outs).mean().item<float>() << "\n";
      outs.clear();
    }
  }
}
