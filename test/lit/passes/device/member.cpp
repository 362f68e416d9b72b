// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
//--- initialised.cpp
#include <hvd/hvd.hpp>

#include "parts.h"


// CHECK: explicit Trainer(const std::string& name) : device(hvd::local_device(name)) {
struct Trainer {
  explicit Trainer(const std::string& name) : device(name) { net->to(device); }
  void run() {
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
  }
  hvd::Device device;
  Net net;
  hvd::optim::SGD opt{net->parameters(), hvd::optim::SGDOptions(0.1)};
};

int main() { Trainer("cpu").run(); }
//--- assigned.cpp
#include <hvd/hvd.hpp>

#include "parts.h"


// CHECK: device = hvd::local_device(fast ? hvd::Device(hvd::kOneDNN) : hvd::Device(hvd::kCPU));
// CHECK: hvd::Device device = hvd::local_device(hvd::kCPU);
struct Trainer {
  explicit Trainer(bool fast) : opt(net->parameters(), hvd::optim::SGDOptions(0.1)) {
    device = fast ? hvd::Device(hvd::kOneDNN) : hvd::Device(hvd::kCPU);
    net->to(device);
  }
  void run() {
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
  }
  hvd::Device device = hvd::kCPU;
  Net net;
  hvd::optim::SGD opt;
};

int main(int argc, char**) { Trainer(argc > 1).run(); }
