// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
// What a data set remembers from one sample to the next: a rank's has seen that rank's samples only.

//--- counter.cpp
#include <hvd/hvd.hpp>

#include <cstdio>
#include <memory>

#include "parts.h"

struct Counting : hvd::data::Dataset {
  hvd::Tensor x = hvd::randn({40, 8});
  int64_t reads = 0;
  hvd::data::Example get(size_t i) override {
    ++reads;  // refused: HVD3012
    return {x[static_cast<int64_t>(i)], hvd::tensor(static_cast<int64_t>(i % 3))};
  }
  size_t size() const override { return 40; }
};

int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto set = std::make_shared<Counting>();
  auto loader = hvd::data::make_data_loader(set, hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
  std::printf("%ld samples read\n", static_cast<long>(set->reads));
}

//--- decay.cpp
#include <hvd/hvd.hpp>

#include <memory>
#include <vector>

#include "parts.h"

struct Fading : hvd::data::Dataset {
  hvd::Tensor x = hvd::randn({40, 8});
  std::vector<double> weight = std::vector<double>(40, 1.0);
  hvd::data::Example get(size_t i) override {
    weight[i] *= 0.9;  // refused: HVD3012
    return {x[static_cast<int64_t>(i)] * weight[i], hvd::tensor(static_cast<int64_t>(i % 3))};
  }
  size_t size() const override { return 40; }
};

int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(std::make_shared<Fading>(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
}

//--- harmless.cpp
#include <hvd/hvd.hpp>

#include <memory>
#include <vector>

#include "parts.h"

// Fields of objects that a reader makes for itself, a store of what was read, and a count that nobody looks at.
struct Cursor {
  const std::vector<double>& bytes;
  size_t at = 0;
  double next() { return bytes[at++ % bytes.size()]; }
};

struct Stored : hvd::data::Dataset {
  std::vector<double> bytes = std::vector<double>(320, 0.5);
  std::vector<hvd::Tensor> store = std::vector<hvd::Tensor>(40);
  int64_t misses = 0;
  hvd::data::Example get(size_t i) override {
    if (!store[i].defined()) {
      Cursor cursor{bytes, i * 8};
      std::vector<double> row;
      for (int k = 0; k < 8; ++k) row.push_back(cursor.next());
      store[i] = hvd::tensor(row);
      ++misses;
    }
    return {store[i], hvd::tensor(static_cast<int64_t>(i % 3))};
  }
  size_t size() const override { return 40; }
};

// CHECK: for (auto& batch : hvd::steps(*loader)) {
int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(std::make_shared<Stored>(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
}
