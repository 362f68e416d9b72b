// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
//--- choice.h
#pragma once
#include <hvd/hvd.hpp>
inline hvd::Device choose(bool fast) { return fast ? hvd::Device(hvd::kOneDNN) : hvd::Device(hvd::kCPU); }
//--- choice.cpp
#include <hvd/hvd.hpp>

#include "parts.h"

#include "choice.h"

// CHECK: auto device = hvd::local_device(choose(argc > 1));
int main(int argc, char**) {
  auto device = choose(argc > 1);
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  net->to(device);
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
}
//--- variable.h
// CHECK: static const hvd::Device device(hvd::local_device(hvd::kCPU));
#pragma once
#include <hvd/hvd.hpp>
static const hvd::Device device(hvd::kCPU);
//--- variable.cpp
#include <hvd/hvd.hpp>

#include "parts.h"

#include "variable.h"

int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  net->to(device);
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
}
