// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
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
