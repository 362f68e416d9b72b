// SPDX-License-Identifier: Apache-2.0
// e2e: expect=refused:HVD3012
// Labels of -100 are left out by default: what is counted needs options that say so.
#include <hvd/hvd.hpp>

int main() {
  hvd::manual_seed(1);
  auto x = hvd::randn({40, 4}), y = hvd::randint(0, 3, {40});
  hvd::nn::Linear net(4, 3);
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(hvd::data::datasets::TensorDataset(x, y), hvd::data::DataLoaderOptions(8));
  for (auto& batch : *loader) {
    auto kept = batch.data.select(1, 0).le(0.5).to(hvd::kInt64);
    auto labels = batch.target * kept + (1 - kept) * -100;
    opt.zero_grad();
    hvd::nn::functional::cross_entropy(net(batch.data), labels).backward();
    opt.step();
  }
}
