// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
//--- constructor.cpp
#include <hvd/hvd.hpp>

#include "parts.h"


// CHECK: hvd::data::DataLoaderOptions(hvd::global_batch_size(10))
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
//--- setter.cpp
#include <hvd/hvd.hpp>

#include "parts.h"


// CHECK: const size_t rows = hvd::global_batch_size(10);
// CHECK: hvd::data::DataLoaderOptions().workers(1).batch_size(rows)
int main() {
  const size_t rows = 10;
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions().workers(1).batch_size(rows));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
}
//--- number.cpp
#include <hvd/hvd.hpp>

#include "parts.h"


// CHECK: make_data_loader<hvd::Sharded<hvd::data::samplers::RandomSampler>>(samples(), hvd::global_batch_size(10))
int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), 10);
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
}
//--- shape.cpp
#include <hvd/hvd.hpp>

#include "parts.h"


// CHECK: net(batch.data.view({hvd::local_batch_size(rows), 8}))
int main() {
  const int64_t rows = 10;
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(rows).drop_last(true));
  for (auto& batch : *loader) {
    opt.zero_grad();
    hvd::nn::functional::cross_entropy(net(batch.data.view({rows, 8})), batch.target).backward();
    opt.step();
  }
}
