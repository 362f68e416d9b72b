// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
//--- summed.cpp
#include <hvd/hvd.hpp>

#include "parts.h"

// CHECK: return hvd::nn::functional::cross_entropy(out, target, hvd::nn::functional::CrossEntropyFuncOptions().reduction(hvd::kSum));
hvd::Tensor total(const hvd::Tensor& out, const hvd::Tensor& target) {
  return hvd::nn::functional::cross_entropy(out, target, hvd::nn::functional::CrossEntropyFuncOptions().reduction(hvd::kSum));
}

// CHECK: hvd::weighted(loss, hvd::LossKind::sum).backward();
void back(const hvd::Tensor& loss) {
  loss.backward();
}

int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    back(total(net(batch.data), batch.target));
    opt.step();
  }
}
//--- counted.cpp
#include <hvd/hvd.hpp>

#include "parts.h"

// A mean over counted terms becomes one over samples where it is formed: the caller does not know the count.
// CHECK: return hvd::counted_mean(hvd::nn::functional::cross_entropy(out, target, options), hvd::counted_terms(target, options));
// CHECK: return hvd::counted_mean((error * mask).sum() / (mask.sum() + hvd::share_of(1e-6)), mask.sum() + hvd::share_of(1e-6));
// CHECK: hvd::weighted(loss, hvd::LossKind::mean).backward();
// CHECK: hvd::weighted(near, hvd::LossKind::counted(mask.sum() + hvd::share_of(1e-6))).backward();
struct Loss {
  hvd::nn::functional::CrossEntropyFuncOptions options = hvd::nn::functional::CrossEntropyFuncOptions().ignore_index(1);
  hvd::Tensor operator()(const hvd::Tensor& out, const hvd::Tensor& target) const { return hvd::nn::functional::cross_entropy(out, target, options); }
};

hvd::Tensor masked(const hvd::Tensor& out, const hvd::Tensor& target) {
  auto mask = target.ne(0).to(hvd::kFloat32);
  auto error = out.pow(2).sum(1);
  return (error * mask).sum() / (mask.sum() + 1e-6);
}

int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  Loss criterion;
  for (auto& batch : *loader) {
    opt.zero_grad();
    auto out = net(batch.data);
    auto loss = criterion(out, batch.target) + masked(out, batch.target) + out.abs().mean();
    loss.backward();
    auto mask = batch.target.ne(0).to(hvd::kFloat32);
    auto near = (net(batch.data).pow(2).sum(1) * mask).sum() / (mask.sum() + 1e-6);
    near.backward();
    opt.step();
  }
}
