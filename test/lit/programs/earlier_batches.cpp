// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
// What is kept of the batch before belongs to slices that are gone when the next one is shared out.

//--- second_term.cpp
#include <hvd/hvd.hpp>

#include "parts.h"

int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  hvd::Tensor x, y;
  for (auto& batch : *loader) {
    auto loss = loss_of(net, batch);
    if (x.defined()) loss = loss + 0.5 * hvd::nn::functional::cross_entropy(net(x), y);
    x = batch.data;
    y = batch.target;
    opt.zero_grad();
    loss.backward();  // refused: HVD3010
    opt.step();
  }
}

//--- second_step.cpp
#include <hvd/hvd.hpp>

#include "parts.h"

int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  hvd::data::Batch last;
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
    if (last.data.defined()) {
      opt.zero_grad();
      loss_of(net, last).backward();  // refused: HVD3010
      opt.step();
    }
    last = batch;
  }
}

//--- shown.cpp
#include <hvd/hvd.hpp>

#include <iostream>

#include "parts.h"

int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  hvd::Tensor before;
  for (auto& batch : *loader) {
    auto each = net(batch.data).square().sum(1);
    if (before.defined()) std::cout << (before.mean() - each.mean()).item<float>() << "\n";  // refused: HVD3012
    before = each.detach();
    opt.zero_grad();
    each.mean().backward();
    opt.step();
  }
}

//--- row_by_row.cpp
#include <hvd/hvd.hpp>

#include "parts.h"

// Row by row they can only meet where both batches have the same size, and then the slices have, too.
// CHECK: auto loss = loss_of(net, batch) + (before - net(batch.data)).square().mean();
int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  hvd::Tensor before;
  for (auto& batch : *loader) {
    if (!before.defined()) before = net(batch.data).detach();
    auto loss = loss_of(net, batch) + (before - net(batch.data)).square().mean();
    opt.zero_grad();
    loss.backward();
    opt.step();
    before = net(batch.data).detach();
  }
}

//--- kept_in_a_list.cpp
#include <hvd/hvd.hpp>

#include <iostream>
#include <vector>

#include "parts.h"

int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  std::vector<hvd::Tensor> outs;
  for (auto& batch : *loader) {
    auto out = net(batch.data);
    opt.zero_grad();
    hvd::nn::functional::cross_entropy(out, batch.target).backward();
    opt.step();
    outs.push_back(out.detach());  // refused: HVD3012
    if (outs.size() == 3) {
      std::cout << hvd::cat(outs).mean().item<float>() << "\n";
      outs.clear();
    }
  }
}

//--- emptied_each_time.cpp
#include <hvd/hvd.hpp>

#include <iostream>
#include <vector>

#include "parts.h"

// CHECK: parts.push_back(net(batch.data).slice(1, 0, 1));
int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  std::vector<hvd::Tensor> parts;
  for (auto& batch : *loader) {
    parts.push_back(net(batch.data).slice(1, 0, 1));
    parts.push_back(net(batch.data).slice(1, 1, 3));
    opt.zero_grad();
    hvd::nn::functional::cross_entropy(hvd::cat(parts, 1), batch.target).backward();
    opt.step();
    parts.clear();
  }
}
