// SPDX-License-Identifier: Apache-2.0
#include <hvd/hvd.hpp>

#include "../../passes/Inputs/parts.h"

static hvd::Tensor rows(const hvd::Tensor& x) { return x.reshape({10, 8}); }

int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(hvd::data::DataLoaderOptions(5)));
  for (auto& batch : *loader) {
    opt.zero_grad();
    auto loss = hvd::nn::functional::cross_entropy(net(rows(batch.data)), batch.target);
    loss.backward();
    std::printf("%f\n", loss.item<float>());
    opt.step();
  }
}
