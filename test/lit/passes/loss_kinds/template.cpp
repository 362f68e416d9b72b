// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
//--- one_kind.cpp
#include <hvd/hvd.hpp>

#include "parts.h"

// CHECK: hvd::weighted(loss(net(batch.data), batch.target), hvd::LossKind::sum).backward();
template <class Loss>
void step(Net& net, hvd::optim::SGD& opt, const hvd::data::Batch& batch, const Loss& loss) {
  opt.zero_grad();
  loss(net(batch.data), batch.target).backward();
  opt.step();
}

int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  const auto total = [](const hvd::Tensor& out, const hvd::Tensor& target) {
    return hvd::nn::functional::cross_entropy(out, target, hvd::nn::functional::CrossEntropyFuncOptions().reduction(hvd::kSum));
  };
  for (auto& batch : *loader) step(net, opt, batch, total);
}
//--- two_kinds.cpp
#include <hvd/hvd.hpp>

#include "parts.h"

template <bool kSummed>
void step(Net& net, hvd::optim::SGD& opt, const hvd::data::Batch& batch) {
  opt.zero_grad();
  auto terms = net(batch.data).square();
  auto loss = kSummed ? terms.sum() : terms.mean();
  if constexpr (kSummed) loss = terms.sum();
  else loss = terms.mean();
  loss.backward();  // refused: HVD3010
  opt.step();
}

int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    step<true>(net, opt, batch);
    step<false>(net, opt, batch);
  }
}
