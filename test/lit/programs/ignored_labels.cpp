// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
// Cross entropy leaves out the label -100 where nothing else is said: a mean over those that count.

//--- by_default.cpp
#include <hvd/hvd.hpp>

#include "parts.h"

int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    auto kept = batch.data.select(1, 0).le(0.5).to(hvd::kInt64);
    auto labels = batch.target * kept + (1 - kept) * -100;
    opt.zero_grad();
    hvd::nn::functional::cross_entropy(net(batch.data), labels).backward();  // refused: HVD3012
    opt.step();
  }
}

//--- said.cpp
#include <hvd/hvd.hpp>

#include "parts.h"

namespace F = hvd::nn::functional;

// CHECK: hvd::LossKind::counted(hvd::counted_terms(labels, options))
int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  const auto options = F::CrossEntropyFuncOptions().ignore_index(-100);
  for (auto& batch : *loader) {
    auto kept = batch.data.select(1, 0).le(0.5).to(hvd::kInt64);
    auto labels = batch.target * kept + (1 - kept) * -100;
    auto loss = F::cross_entropy(net(batch.data), labels, options);
    opt.zero_grad();
    loss.backward();
    opt.step();
  }
}
