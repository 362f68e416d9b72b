// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
//--- sum.cpp
#include <hvd/hvd.hpp>

#include "parts.h"

// The gradient of a sum grows with the batch by itself.
// CHECK: hvd::optim::SGDOptions(hvd::scaled_lr(0.1, hvd::LrRule::none))
// CHECK: hvd::weighted(hvd::nn::functional::cross_entropy(net(batch.data), batch.target, options), hvd::LossKind::sum).backward();
int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  const auto options = hvd::nn::functional::CrossEntropyFuncOptions().reduction(hvd::kSum);
  for (auto& batch : *loader) {
    opt.zero_grad();
    hvd::nn::functional::cross_entropy(net(batch.data), batch.target, options).backward();
    opt.step();
  }
}
//--- counted.cpp
#include <hvd/hvd.hpp>

#include "parts.h"

// CHECK: hvd::weighted(loss, hvd::LossKind::counted(hvd::counted_terms(batch.target, options))).backward();
int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  const auto options = hvd::nn::functional::CrossEntropyFuncOptions().ignore_index(-1);
  for (auto& batch : *loader) {
    opt.zero_grad();
    auto loss = hvd::nn::functional::cross_entropy(net(batch.data), batch.target, options);
    loss.backward();
    opt.step();
  }
}
//--- quotient.cpp
#include <hvd/hvd.hpp>

#include "parts.h"

// CHECK: hvd::weighted(loss, hvd::LossKind::counted(counted)).backward();
int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    const auto mask = batch.target.ne(-1).to(hvd::kFloat32);
    const auto counted = mask.sum();
    auto loss = (net(batch.data).square().sum(1) * mask).sum() / counted;
    loss.backward();
    opt.step();
  }
}
//--- without_samples.cpp
#include <hvd/hvd.hpp>

#include "parts.h"

// A term that depends on no sample counts once.
// CHECK: hvd::weighted(loss, hvd::LossKind::mean).backward();
int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    auto loss = loss_of(net, batch);
    for (auto& p : net->parameters()) loss = loss + 0.01 * p.square().sum();
    loss.backward();
    opt.step();
  }
}
//--- scaled_sum.cpp
#include <hvd/hvd.hpp>

#include "parts.h"

// CHECK: (hvd::weighted(hvd::nn::functional::mse_loss(net(batch.data), goal(batch), options) / batch.data.size(0), hvd::LossKind::mean)).backward();
hvd::Tensor goal(const hvd::data::Batch& batch) { return hvd::nn::functional::one_hot(batch.target, 3).to(hvd::kFloat32); }

int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  const auto options = hvd::nn::functional::MSELossFuncOptions().reduction(hvd::kSum);
  for (auto& batch : *loader) {
    opt.zero_grad();
    (hvd::nn::functional::mse_loss(net(batch.data), goal(batch), options) / batch.data.size(0)).backward();
    opt.step();
  }
}
//--- sum_and_decay.cpp
#include <hvd/hvd.hpp>

#include "parts.h"

// A term free of samples counts once, wherever it joins the sum.
// CHECK: loss = loss + hvd::share_of(p.pow(2).sum() * 1e-2);
// CHECK: auto other = hvd::share_of(net->parameters()[0].pow(2).sum());
// CHECK: (hvd::weighted(loss + other, hvd::LossKind::sum)).backward();
int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    auto loss = net(batch.data).pow(2).sum();
    for (auto& p : net->parameters()) loss = loss + p.pow(2).sum() * 1e-2;
    auto other = net->parameters()[0].pow(2).sum();
    other += net(batch.data).abs().sum();
    (loss + other).backward();
    opt.step();
  }
}
