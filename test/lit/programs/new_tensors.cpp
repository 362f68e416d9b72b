// SPDX-License-Identifier: Apache-2.0
// New tensors that a step makes: what fills them decides whether they are for the whole batch, and whether they are a batch at all.
// RUN: %golden
//--- filled_where_made.cpp
#include <hvd/hvd.hpp>

#include "parts.h"

// CHECK: auto soft = hvd::whole_draw().shard(hvd::empty({hvd::global(batch.data.size(0)), 3}).uniform_(0.8, 1.0));
int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    auto soft = hvd::empty({batch.data.size(0), 3}).uniform_(0.8, 1.0);
    hvd::nn::functional::mse_loss(net(batch.data), soft).backward();
    opt.step();
  }
}
//--- filled_later.cpp
#include <hvd/hvd.hpp>

#include "parts.h"

int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    auto soft = hvd::zeros({batch.data.size(0), 3});
    soft.uniform_(0.8, 1.0);  // says: HVD2006
    hvd::nn::functional::mse_loss(net(batch.data), soft).backward();
    opt.step();
  }
}
// CHECK: {{^}}    soft.uniform_(0.8, 1.0);
//--- drawn_by_hand.cpp
#include <hvd/hvd.hpp>

#include "parts.h"

// CHECK: auto x = hvd::whole_draw().shard(hvd::empty({rows, 8}).uniform_(-1.0, 1.0));
int main() {
  const int64_t rows = 10;
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  for (int step = 0; step < 5; ++step) {
    auto x = hvd::empty({rows, 8}).uniform_(-1.0, 1.0);
    opt.zero_grad();
    net(x).pow(2).mean().backward();
    opt.step();
  }
}
//--- only_a_state.cpp
#include <hvd/hvd.hpp>

#include "parts.h"

// A state of zeros that is carried from step to step is no batch: that is all data, of which each rank takes its rows.
// CHECK: auto y = net(hvd::shard(text).select(1, 0)) + hvd::carried(state);
int main() {
  const int64_t samples = 6;
  hvd::Tensor text = hvd::randn({6, 40, 8});
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  for (int epoch = 0; epoch < 2; ++epoch) {
    auto state = hvd::zeros({samples, 3});
    for (int64_t i = 0; i < 40; ++i) {
      auto y = net(text.select(1, 0)) + state;
      state = y.detach();
      opt.zero_grad();
      y.pow(2).mean().backward();
      opt.step();
    }
  }
}
