// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
//--- variable.cpp
// HVDIZE: --sync-bn
#include <hvd/hvd.hpp>

#include "norm.h"

// CHECK: hvd::sync_batchnorm(net);
// CHECK-NEXT: hvd::broadcast(net, opt);
// CHECK-NOT: sync_buffers
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
  hvd::save(net, "net.safetensors");
}
//--- chosen_parameters.cpp
// HVDIZE: --sync-bn
#include <hvd/hvd.hpp>

#include <vector>

#include "norm.h"

// Parameters in a list say nothing of the models that they are of: all batch norms of the program are meant.
// CHECK: hvd::sync_batchnorm();
// CHECK-NEXT: hvd::broadcast(opt);
// CHECK-NOT: sync_buffers
int main() {
  NormNet net;
  std::vector<hvd::Tensor> chosen;
  for (const auto& p : net->parameters())
    if (p.dim() == 1) chosen.push_back(p);
  hvd::optim::SGD opt(chosen, hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(images(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
  net->eval();
  hvd::save(net, "net.safetensors");
}
//--- two.cpp
// HVDIZE: --sync-bn
#include <hvd/hvd.hpp>

#include "norm.h"

// CHECK: hvd::sync_batchnorm(net);
// CHECK: hvd::sync_batchnorm(other);
int main() {
  NormNet net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(images(), hvd::data::DataLoaderOptions(10));
  NormNet other;
  hvd::optim::SGD second(other->parameters(), hvd::optim::SGDOptions(0.2));
  for (auto& batch : *loader) {
    opt.zero_grad();
    second.zero_grad();
    loss_of(net, batch).backward();
    loss_of(other, batch).backward();
    opt.step();
    second.step();
  }
}
//--- without.cpp
// HVDIZE: --sync-bn
#include <hvd/hvd.hpp>

#include "parts.h"

// A model without batch norm needs none.
// CHECK: hvd::broadcast(net, opt);
int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
}
//--- not_asked.cpp
#include <hvd/hvd.hpp>

#include "norm.h"

// CHECK-NOT: sync_batchnorm
int main() {
  NormNet net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));  // says: HVD2004
  auto loader = hvd::data::make_data_loader(images(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
}
