// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
// A batch size that the compiler knows: extents and template arguments cannot follow the number of ranks, numbers in braces are cast.
//--- braces.cpp
#include <hvd/hvd.hpp>

#include "parts.h"

// CHECK: const size_t rows = hvd::global_batch_size(10);
// CHECK: const std::vector<int64_t> shown{static_cast<int64_t>(half), 2};
// CHECK: batch.data.view({hvd::local_batch_size<int64_t>(rows), -1})
int main() {
  Net net;
  const size_t rows = 10;
  const size_t half = rows / 2;
  const std::vector<int64_t> shown{half, 2};
  std::cout << shown[0] << std::endl;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(rows));
  for (auto& batch : *loader) {
    opt.zero_grad();
    hvd::nn::functional::cross_entropy(net(batch.data.view({rows, -1})), batch.target).backward();
    opt.step();
  }
}
//--- asserted.cpp
#include <hvd/hvd.hpp>

#include "parts.h"

// CHECK: const size_t rows = 10;
// CHECK-NEXT: static_assert(rows % 2 == 0, "pairs");
// CHECK: hvd::data::DataLoaderOptions(hvd::global_batch_size(rows))
int main() {
  Net net;
  const size_t rows = 10;
  static_assert(rows % 2 == 0, "pairs");
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(rows));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
}
//--- extent.cpp
#include <hvd/hvd.hpp>

#include <array>

#include "parts.h"

constexpr size_t kRows = 10;
constexpr size_t kPairs = kRows / 2;

// CHECK: hvd::Policy().batch(hvd::Batch::global_only)
// CHECK: hvd::data::DataLoaderOptions(kRows)
int main() {
  Net net;
  std::array<double, kPairs> means{};
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(kRows));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
  std::cout << means.size() << std::endl;
}
