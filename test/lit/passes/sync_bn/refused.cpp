// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
//--- nowhere.cpp
// HVDIZE: --sync-bn
#include <memory>

#include <hvd/hvd.hpp>

#include "norm.h"

struct Trainer {
  NormNet net;
  hvd::optim::SGD opt{net->parameters(), hvd::optim::SGDOptions(0.1)};  // refused: HVD3015
};

int main() {
  auto trainer = std::make_unique<Trainer>();
  auto loader = hvd::data::make_data_loader(images(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    trainer->opt.zero_grad();
    loss_of(trainer->net, batch).backward();
    trainer->opt.step();
  }
}
//--- member.cpp
// HVDIZE: --sync-bn
#include <hvd/hvd.hpp>

#include "norm.h"

struct Trainer {
  NormNet net;
  hvd::optim::SGD opt{net->parameters(), hvd::optim::SGDOptions(0.1)};
};

int main() {
  // CHECK: Trainer trainer;
  // CHECK-NEXT: hvd::sync_batchnorm(trainer.net);
  // CHECK-NEXT: hvd::broadcast(trainer.net, trainer.opt);
  Trainer trainer;
  auto loader = hvd::data::make_data_loader(images(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    trainer.opt.zero_grad();
    loss_of(trainer.net, batch).backward();
    trainer.opt.step();
  }
}
//--- some_ranks.cpp
// HVDIZE: --sync-bn
#include <hvd/hvd.hpp>

#include "norm.h"

// With statistics of all ranks the forward pass communicates: not where only some ranks come by.
int main() {
  NormNet net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(images(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
  try {
    net->train();
  } catch (const std::exception&) {
    return net(hvd::zeros({2, 1, 7, 7})).size(0) == 2 ? 1 : 2;  // refused: HVD3014
  }
}
