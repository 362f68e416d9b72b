// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
//--- name.h
#pragma once
#include <string>
inline std::string file_of(int epoch) { return "epoch" + std::to_string(epoch) + ".safetensors"; }
//--- name.cpp
#include <hvd/hvd.hpp>

#include "parts.h"

#include "name.h"

// CHECK: const std::string file = file_of(3);
// CHECK-NEXT: if (hvd::is_root()) hvd::save(net, file);
int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
  const std::string file = file_of(3);
  hvd::save(net, file);
}
//--- keep.h
// CHECK: inline void keep(Net& net) { if (hvd::is_root()) hvd::save(net, "last.safetensors"); }
#pragma once
#include "parts.h"
inline void keep(Net& net) { hvd::save(net, "last.safetensors"); }
//--- keep.cpp
#include <hvd/hvd.hpp>

#include "parts.h"

#include "keep.h"

int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
  keep(net);
}
