// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
//--- layers.h
#pragma once
#include <hvd/hvd.hpp>
inline hvd::nn::Sequential layers() {
  return hvd::nn::Sequential(hvd::nn::Conv2d(hvd::nn::Conv2dOptions(1, 4, 7)), hvd::nn::BatchNorm2d(4), hvd::nn::Flatten(), hvd::nn::Linear(4, 3));
}
//--- optimizer.h
// CHECK: hvd::sync_batchnorm(net);
// CHECK-NEXT: hvd::broadcast(net, opt);
#pragma once
#include "norm.h"
inline std::unique_ptr<hvd::optim::SGD> optimizer_of(NormNet& net) {
  auto opt = std::make_unique<hvd::optim::SGD>(net->parameters(), 0.1);
  return opt;
}
//--- used.cpp
// HVDIZE: --sync-bn
#include <hvd/hvd.hpp>

#include "norm.h"

#include "layers.h"

// CHECK: hvd::sync_batchnorm(net);
int main() {
  auto net = layers();
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(images(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    hvd::nn::functional::cross_entropy(net->forward(batch.data), batch.target).backward();
    opt.step();
  }
}
//--- changed.cpp
// HVDIZE: --sync-bn
#include <hvd/hvd.hpp>

#include "norm.h"

#include "optimizer.h"

int main() {
  NormNet net;
  auto opt = optimizer_of(net);
  auto loader = hvd::data::make_data_loader(images(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt->zero_grad();
    loss_of(net, batch).backward();
    opt->step();
  }
}
