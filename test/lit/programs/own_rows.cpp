// SPDX-License-Identifier: Apache-2.0
// What a step takes beside its batch, as many rows as a number says: the last batch may have fewer. Where only means are taken of either, the rows stay
// whole on every rank in such a step; where rows of both are put together, or sums of one divided by rows of the other, they must be as many.
// RUN: %golden
//--- noise.cpp
#include <hvd/hvd.hpp>

#include "parts.h"

// CHECK: auto noise = hvd::whole_draw().shard(hvd::randn({hvd::global_batch_size(kRows), 8}), hvd::own_rows);
// CHECK: auto marks = hvd::ones({hvd::local_batch_size(hvd::global_batch_size(kRows), hvd::own_rows), 3});
// CHECK: hvd::nn::functional::mse_loss(net(noise), marks + hvd::shard(wanted, hvd::own_rows))
int main() {
  constexpr int64_t kRows = 10;
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(kRows));
  auto wanted = hvd::zeros({kRows, 3});
  for (auto& batch : *loader) {
    auto noise = hvd::randn({kRows, 8});
    auto marks = hvd::ones({kRows, 3});
    opt.zero_grad();
    auto loss = hvd::nn::functional::mse_loss(net(noise), marks + wanted) + net(batch.data).pow(2).mean();
    loss.backward();
    opt.step();
  }
}
//--- whole_batches.cpp
#include <hvd/hvd.hpp>

#include "parts.h"

// CHECK: auto noise = hvd::whole_draw().shard(hvd::randn({hvd::global_batch_size(kRows), 8}));
int main() {
  constexpr int64_t kRows = 10;
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(kRows).drop_last(true));
  for (auto& batch : *loader) {
    auto noise = hvd::randn({kRows, 8});
    opt.zero_grad();
    auto loss = net(noise).mean() + net(batch.data).pow(2).mean();
    loss.backward();
    opt.step();
  }
}
//--- put_together.cpp
#include <hvd/hvd.hpp>

#include "parts.h"

// CHECK: auto noise = hvd::whole_draw().shard(hvd::randn({hvd::global_batch_size(kRows), 8}));
int main() {
  constexpr int64_t kRows = 10;
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(kRows));
  for (auto& batch : *loader) {
    auto noise = hvd::randn({kRows, 8});
    opt.zero_grad();
    auto loss = net(hvd::cat({noise, batch.data}, 0)).pow(2).mean();
    loss.backward();
    opt.step();
  }
}
//--- divided.cpp
#include <hvd/hvd.hpp>

#include "parts.h"

// CHECK: auto noise = hvd::whole_draw().shard(hvd::randn({hvd::global_batch_size(kRows), 8}));
int main() {
  constexpr int64_t kRows = 10;
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(kRows));
  for (auto& batch : *loader) {
    auto noise = hvd::randn({kRows, 8});
    opt.zero_grad();
    auto loss = net(noise).pow(2).sum() / batch.data.size(0);
    loss.backward();
    opt.step();
  }
}
