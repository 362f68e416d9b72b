// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
//--- by_hand_looked_at_before.cpp
#include <hvd/hvd.hpp>

#include "parts.h"

int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  auto it = loader->begin();  // refused: HVD3022
  const auto width = it->data.size(1);
  for (int step = 0; step < 4; ++step) {
    opt.zero_grad();
    loss_of(net, *it).backward();
    opt.step();
    ++it;
  }
  return width > 0 ? 0 : 1;
}
//--- by_hand_two_batches.cpp
#include <hvd/hvd.hpp>

#include "parts.h"

int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  auto it = loader->begin();  // refused: HVD3022
  for (int step = 0; step < 2; ++step) {
    opt.zero_grad();
    loss_of(net, *it).backward();
    ++it;
    loss_of(net, *it).backward();
    ++it;
    opt.step();
  }
}
//--- by_hand_through_a_function.cpp
#include <hvd/hvd.hpp>

#include "parts.h"

template <class Iterator>
auto take(Iterator& it) {
  auto batch = *it;
  ++it;
  return batch;
}

int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  auto other = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  auto second = other->begin();  // refused: HVD3022
  for (auto& batch : *loader) {
    if (second == other->end()) second = other->begin();
    opt.zero_grad();
    (loss_of(net, batch) + loss_of(net, take(second))).backward();
    opt.step();
  }
}
//--- by_hand_named_type.cpp
#include <hvd/hvd.hpp>

#include "parts.h"

int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  hvd::data::DataLoader::Iterator it = loader->begin();  // refused: HVD3022
  for (int step = 0; step < 4; ++step) {
    opt.zero_grad();
    loss_of(net, *it).backward();  // refused: HVD3021
    opt.step();
    ++it;
  }
}
//--- opaque.cpp
#include <hvd/hvd.hpp>

#include "parts.h"


std::unique_ptr<hvd::data::DataLoader> open_somewhere();

int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = open_somewhere();
  for (auto& batch : *loader) {  // refused: HVD3012
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
}

//--- folds.cpp
#include <hvd/hvd.hpp>

#include <memory>
#include <utility>
#include <vector>

#include "parts.h"

using Loader = std::unique_ptr<hvd::data::DataLoader>;
static Loader make() { return hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10)); }

// Pairs that lie in a container: which loader comes out is not seen.
int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  std::vector<std::pair<Loader, Loader>> folds;
  folds.push_back(std::make_pair(make(), make()));
  for (auto& [train, test] : folds)
    for (auto& batch : *train) {  // refused: HVD3012
      opt.zero_grad();
      loss_of(net, batch).backward();
      opt.step();
    }
}
