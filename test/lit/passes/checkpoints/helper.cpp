// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
//--- keep.cpp
#include <hvd/hvd.hpp>

#include "parts.h"


// CHECK: void keep(Net& model, const std::string& path) {
// CHECK-NEXT: if (hvd::is_root()) hvd::save(model, path);
void keep(Net& model, const std::string& path) {
  hvd::save(model, path);
}

int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
  keep(net, "last.safetensors");
}
//--- read_again.cpp
#include <hvd/hvd.hpp>

#include "parts.h"

#include <filesystem>
#include <fstream>

// CHECK: hvd::from_root([&] { hvd::save(model, path); });
void keep(Net& model, const std::string& path) {
  hvd::save(model, path);
}

bool empty(const std::string& path) {
  return hvd::load_tensors(path).empty();
}

int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
  keep(net, "net.safetensors");
  return empty("net.safetensors");
}
//--- in_a_loop.cpp
#include <hvd/hvd.hpp>

#include "parts.h"

#include <filesystem>
#include <fstream>

// The read of a pass comes after the write of the one before.
// CHECK: hvd::from_root([&] { hvd::save(net, path); });
int main(int argc, char** argv) {
  const std::string path = argc > 1 ? argv[1] : "net.safetensors";
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  std::size_t tensors = 0;
  for (int epoch = 0; epoch < 3; ++epoch) {
    if (epoch > 0) tensors += hvd::load_tensors(path).size();
    for (auto& batch : *loader) {
      opt.zero_grad();
      loss_of(net, batch).backward();
      opt.step();
    }
    hvd::save(net, path);
  }
  return tensors == 0;
}
