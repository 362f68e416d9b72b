// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
//--- save.cpp
#include <hvd/hvd.hpp>

#include "parts.h"


// CHECK: if (hvd::is_root()) hvd::save(net, "last.safetensors");
int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
  hvd::save(net, "last.safetensors");
}
//--- load.cpp
#include <hvd/hvd.hpp>

#include "parts.h"


// CHECK: hvd::from_root([&] { hvd::load(net, "start.safetensors"); });
// CHECK-NEXT: hvd::broadcast(net);
int main() {
  Net net;
  hvd::load(net, "start.safetensors");
  hvd::optim::SGD opt(net->parameters(), 0.1);
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
}
//--- resume.cpp
#include <hvd/hvd.hpp>

#include "parts.h"


// CHECK: const auto meta = hvd::load_checkpoint(path, net, opt);
// CHECK-NEXT: hvd::broadcast(net, opt);
// CHECK: if (hvd::is_root()) hvd::save_checkpoint(path, net, opt, {meta.epoch + 1, 0, {}});
int main() {
  const std::string path = "run.safetensors";
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  const auto meta = hvd::load_checkpoint(path, net, opt);  // says: HVD2009
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
  hvd::save_checkpoint(path, net, opt, {meta.epoch + 1, 0, {}});
}
//--- read_again.cpp
#include <hvd/hvd.hpp>

#include "parts.h"

#include <filesystem>
#include <fstream>

// CHECK: hvd::from_root([&] { hvd::save(net, "net.safetensors"); });
// CHECK-NEXT: const auto tensors = hvd::load_tensors("net.safetensors");
// CHECK-NEXT: if (hvd::is_root()) hvd::save(net, "last.safetensors");
int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
  hvd::save(net, "net.safetensors");
  const auto tensors = hvd::load_tensors("net.safetensors");  // says: HVD2009
  hvd::save(net, "last.safetensors");
  return tensors.empty();
}
//--- other_file.cpp
#include <hvd/hvd.hpp>

#include "parts.h"

#include <filesystem>
#include <fstream>

// CHECK: const auto tensors = hvd::load_tensors("start.safetensors");
// CHECK: if (hvd::is_root()) hvd::save(net, "net.safetensors");
int main() {
  const auto tensors = hvd::load_tensors("start.safetensors");
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
  hvd::save(net, "net.safetensors");
  return tensors.empty();
}
//--- comma.cpp
#include <hvd/hvd.hpp>

#include "parts.h"

// CHECK: if (loss < best) best = loss, hvd::from_root([&] { hvd::save(net, "best.safetensors"); });
int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  double best = 1e9;
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
    const double loss = loss_of(net, batch).item<double>();
    if (loss < best) best = loss, hvd::save(net, "best.safetensors");
  }
}
//--- counter.cpp
#include <hvd/hvd.hpp>

#include "parts.h"

// CHECK: const auto hvd_path = std::to_string(++n);
// CHECK-NEXT: if (hvd::is_root()) hvd::save(net, hvd_path);
int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  int n = 0;
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
    if (n < 2) hvd::save(net, std::to_string(++n));
  }
}
