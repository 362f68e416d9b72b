// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
// What a loss was divided by is computed once more where its weight is needed: nothing of it may have changed by then.

//--- in_place.cpp
#include <hvd/hvd.hpp>

#include "parts.h"

int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    auto mask = batch.data.select(1, 0).gt(0).to(hvd::kFloat32);
    auto each = net(batch.data).square().sum(1);
    auto loss = (each * mask).sum() / (mask.sum() + 1e-8);  // refused: HVD3012
    mask.fill_(1);
    opt.zero_grad();
    loss.backward();
    opt.step();
  }
}

//--- by_another_name.cpp
#include <hvd/hvd.hpp>

#include "parts.h"

int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    auto mask = batch.data.select(1, 0).gt(0).to(hvd::kFloat32);
    auto same = mask;
    auto each = net(batch.data).square().sum(1);
    auto loss = (each * mask).sum() / (mask.sum() + 1e-8);  // refused: HVD3012
    same.mul_(0.5);
    opt.zero_grad();
    loss.backward();
    opt.step();
  }
}

//--- by_a_function.cpp
#include <hvd/hvd.hpp>

#include "parts.h"

struct Masks {
  hvd::Tensor mask;
  hvd::Tensor count() const { return mask.sum() + 1e-8; }
  void soften() { mask.mul_(0.5); }
};

int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    Masks masks{batch.data.select(1, 0).gt(0).to(hvd::kFloat32)};
    auto each = net(batch.data).square().sum(1);
    auto loss = (each * masks.mask).sum() / masks.count();  // refused: HVD3012
    masks.soften();
    opt.zero_grad();
    loss.backward();
    opt.step();
  }
}

//--- something_else.cpp
#include <hvd/hvd.hpp>

#include "parts.h"

void see(hvd::Tensor& seen, const hvd::Tensor& mask) { seen.add_(mask.dim()); }

// Other tensors may change, and functions may look.
// CHECK: hvd::weighted(loss, hvd::LossKind::counted(mask.sum() + hvd::share_of(1e-8))).backward();
int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  auto seen = hvd::zeros({1});
  for (auto& batch : *loader) {
    auto mask = batch.data.select(1, 0).gt(0).to(hvd::kFloat32);
    auto each = net(batch.data).square().sum(1);
    auto loss = (each * mask).sum() / (mask.sum() + 1e-8);
    seen.add_(1);
    see(seen, mask.detach());
    opt.zero_grad();
    loss.backward();
    opt.step();
    mask.fill_(1);
  }
}
