// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
//--- eval.cpp
#include <hvd/hvd.hpp>

#include <iostream>

#include "norm.h"

// CHECK: hvd::sync_buffers(net);
// CHECK-NEXT: net->eval();
// CHECK: hvd::sync_buffers(net);
// CHECK-NEXT: net->train(false);
// CHECK-NOT: sync_buffers
// CHECK: net->train();
// CHECK-NEXT: net->train(true);
int main() {
  NormNet net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(images(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
  net->eval();
  net->train(false);
  net->train();
  net->train(true);
}
//--- save.cpp
#include <hvd/hvd.hpp>

#include "norm.h"

// CHECK: hvd::sync_buffers(net);
// CHECK-NEXT: if (hvd::is_root()) hvd::save(net, "net.safetensors");
int main() {
  NormNet net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(images(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
  hvd::save(net, "net.safetensors");
}
//--- reads.cpp
#include <hvd/hvd.hpp>

#include <iostream>

#include "norm.h"

// CHECK: hvd::sync_buffers(net);
// CHECK-NEXT: for (const auto& buffer : net->buffers()) elements += buffer.numel();
// CHECK: hvd::sync_buffers(net->norm);
// CHECK-NEXT: const double mean = net->norm->running_mean.mean().item<double>();
int main() {
  NormNet net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(images(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
  int64_t elements = 0;
  for (const auto& buffer : net->buffers()) elements += buffer.numel();
  const double mean = net->norm->running_mean.mean().item<double>();
  std::cout << elements << " " << mean << "\n";
}
//--- none.cpp
#include <hvd/hvd.hpp>

#include "parts.h"

// No batch norm, no buffers.
// CHECK-NOT: sync_buffers
int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
  net->eval();
  hvd::save(net, "net.safetensors");
}
