// SPDX-License-Identifier: Apache-2.0
// e2e: expect=refused:HVD3012
// Numbers of a step, read by functions that are kept and called when the steps are over.
#include <hvd/hvd.hpp>

#include <cstdio>
#include <functional>
#include <vector>

int main() {
  hvd::nn::Linear net(4, 1);
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(hvd::data::datasets::TensorDataset(hvd::randn({50, 4}), hvd::randn({50, 1})), hvd::data::DataLoaderOptions(8));
  std::vector<std::function<void()>> later;
  double sum = 0;
  for (auto& batch : *loader) {
    auto loss = hvd::nn::functional::mse_loss(net->forward(batch.data), batch.target);
    opt.zero_grad();
    loss.backward();
    opt.step();
    later.push_back([&sum, l = loss.detach()] { sum += l.item<double>(); });
  }
  for (auto& add : later) add();
  std::printf("%f\n", sum);
}
