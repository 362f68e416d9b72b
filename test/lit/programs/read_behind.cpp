// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
// Batches that nothing keeps within the data: their program has a whole number of them, and of larger ones it may not. They are shared out as they are. Where something asks
// for the end of the data, they grow.

//--- data.h
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include <hvd/hvd.hpp>

#include "parts.h"

struct Data {
  std::vector<float> rows = std::vector<float>(48 * 4), targets = std::vector<float>(48);
  std::vector<int64_t> order = std::vector<int64_t>(48);
  hvd::Tensor x = hvd::randn({48, 4}), y = hvd::randn({48, 1});
  int64_t count() const { return static_cast<int64_t>(order.size()); }
};

inline void learn(Net& net, hvd::optim::SGD& opt, const hvd::Tensor& x, const hvd::Tensor& y) {
  opt.zero_grad();
  hvd::nn::functional::mse_loss(net(x), y).backward();
  opt.step();
}

inline hvd::Tensor tensor_of(float* from, int64_t rows, int64_t columns) { return hvd::from_blob(from, {rows, columns}, hvd::kFloat32).clone(); }

//--- pointers.cpp
#include "data.h"

int main() {
  Data data;
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  // CHECK: const int64_t n = data.count(), batch = 8;
  const int64_t n = data.count(), batch = 8;
  for (int64_t at = 0; at < n; at += batch)
    learn(net, opt, tensor_of(data.rows.data() + at * 4, batch, 4), tensor_of(&data.targets[at], batch, 1));  // says: HVD2010
}

//--- elements.cpp
#include "data.h"

int main() {
  Data data;
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  // CHECK: const int64_t n = data.count(), batch = 8;
  const int64_t n = data.count(), batch = 8;
  for (int64_t at = 0; at < n; at += batch) {
    std::vector<hvd::Tensor> x, y;
    for (int64_t k = 0; k < batch; ++k) {
      x.push_back(data.x[data.order[at + k]]);  // says: HVD2010
      y.push_back(data.y[data.order[at + k]]);
    }
    learn(net, opt, hvd::stack(x), hvd::stack(y));
  }
}

//--- iterators.cpp
#include "data.h"

int main() {
  Data data;
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  // CHECK: const int64_t n = data.count(), batch = 8;
  const int64_t n = data.count(), batch = 8;
  for (int64_t at = 0; at < n; at += batch) {
    std::vector<float> x(data.rows.begin() + at * 4, data.rows.begin() + (at + batch) * 4);  // says: HVD2010
    std::vector<float> y(data.targets.begin() + at, data.targets.begin() + at + batch);
    learn(net, opt, tensor_of(x.data(), batch, 4), tensor_of(y.data(), batch, 1));
  }
}

//--- numbers.cpp
#include "data.h"

int main() {
  Data data;
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  // CHECK: const int64_t n = data.count(), batch = 8;
  const int64_t n = data.count(), batch = 8;
  int64_t number = 0;
  while (number * batch < n) {
    const int64_t begin = number * batch;
    learn(net, opt, tensor_of(data.rows.data() + begin * 4, batch, 4), tensor_of(data.targets.data() + begin, batch, 1));  // says: HVD2010
    ++number;
  }
}

//--- helper.cpp
#include "data.h"

hvd::Tensor part(std::vector<float>& from, int64_t start, int64_t size, int64_t columns) {
  std::vector<float> values;
  for (int64_t k = start * columns; k < (start + size) * columns; ++k) values.push_back(from[k]);  // says: HVD2010
  return tensor_of(values.data(), size, columns);
}

int main() {
  Data data;
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  // CHECK: const int64_t n = data.count(), batch = 8;
  const int64_t n = data.count(), batch = 8;
  for (int64_t at = 0; at < n; at += batch) learn(net, opt, part(data.rows, at, batch, 4), part(data.targets, at, batch, 1));
}

//--- short_last.cpp
#include "data.h"

int main() {
  Data data;
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  const int64_t n = data.count(), batch = 8;
  // CHECK: const int64_t n = data.count(), batch = hvd::global_batch_size(8);
  for (int64_t at = 0; at < n; at += batch) {
    const int64_t rows = std::min(batch, n - at);
    learn(net, opt, tensor_of(data.rows.data() + at * 4, rows, 4), tensor_of(data.targets.data() + at, rows, 1));
  }
}

//--- asked.cpp
#include "data.h"

int main() {
  Data data;
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  const int64_t n = data.count(), batch = 8;
  // CHECK: const int64_t n = data.count(), batch = hvd::global_batch_size(8);
  for (int64_t at = 0; at < n; at += batch) {
    std::vector<hvd::Tensor> x, y;
    for (int64_t k = at; k < at + batch && k < n; ++k) {
      x.push_back(data.x[data.order[k]]);
      y.push_back(data.y[data.order[k]]);
    }
    learn(net, opt, hvd::stack(x), hvd::stack(y));
  }
}

//--- wrapped.cpp
#include "data.h"

int main() {
  Data data;
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  const int64_t n = data.count(), batch = 8;
  // CHECK: const int64_t n = data.count(), batch = hvd::global_batch_size(8);
  for (int64_t at = 0; at < n; at += batch) {
    std::vector<hvd::Tensor> x, y;
    for (int64_t k = 0; k < batch; ++k) {
      x.push_back(data.x[data.order[(at + k) % n]]);
      y.push_back(data.y[data.order[(at + k) % n]]);
    }
    learn(net, opt, hvd::stack(x), hvd::stack(y));
  }
}

//--- left_out.cpp
#include "data.h"

int main() {
  Data data;
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  const int64_t n = data.count(), batch = 8;
  // CHECK: const int64_t n = data.count(), batch = hvd::global_batch_size(8);
  for (int64_t at = 0; at < n; at += batch) {
    if (at + batch > n) break;
    learn(net, opt, tensor_of(data.rows.data() + at * 4, batch, 4), tensor_of(data.targets.data() + at, batch, 1));
  }
}

//--- counted.cpp
#include "data.h"

int main() {
  Data data;
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  const int64_t n = data.count(), batch = 8;
  // CHECK: const int64_t n = data.count(), batch = hvd::global_batch_size(8);
  const int64_t batches = n / batch;
  for (int64_t b = 0; b < batches; ++b)
    learn(net, opt, tensor_of(data.rows.data() + b * batch * 4, batch, 4), tensor_of(data.targets.data() + b * batch, batch, 1));
}

//--- sliced.cpp
#include "data.h"

int main() {
  Data data;
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  const int64_t n = data.count(), batch = 8;
  // CHECK: const int64_t n = data.count(), batch = hvd::global_batch_size(8);
  for (int64_t at = 0; at < n; at += batch) learn(net, opt, data.x.slice(0, at, at + batch), data.y.slice(0, at, at + batch));
}

//--- last_but_one.cpp
#include "data.h"

int main() {
  Data data;
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  const int64_t n = data.count(), batch = 8;
  // CHECK: const int64_t n = data.count(), batch = hvd::global_batch_size(8);
  for (int64_t at = 0; at <= n - batch; at += batch)
    learn(net, opt, tensor_of(data.rows.data() + at * 4, batch, 4), tensor_of(data.targets.data() + at, batch, 1));
}

//--- room_of_literals.cpp
#include "data.h"

// What is filled row by row, and has room for so many rows.
int main() {
  Data data;
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  std::vector<float> x(8 * 4), y(8);
  // CHECK: const int64_t n = data.count(), batch = 8;
  const int64_t n = data.count(), batch = 8;
  for (int64_t at = 0; at < n; at += batch) {
    const int64_t rows = std::min(batch, n - at);
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t k = 0; k < 4; ++k) x[r * 4 + k] = data.rows[(at + r) * 4 + k];  // says: HVD2010
      y[r] = data.targets[at + r];
    }
    learn(net, opt, tensor_of(x.data(), rows, 4), tensor_of(y.data(), rows, 1));
  }
}

//--- room_for_many.cpp
#include "data.h"

constexpr int64_t kMost = 16;

void fill(float* to, const std::vector<float>& from, int64_t at, int64_t rows) {
  for (int64_t r = 0; r < rows; ++r) to[r] = from[at + r];  // says: HVD2010
}

int main() {
  Data data;
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  float y[kMost];
  // CHECK: const int64_t n = data.count(), batch = 8;
  const int64_t n = data.count(), batch = 8;
  for (int64_t at = 0; at < n; at += batch) {
    const int64_t rows = std::min(batch, n - at);
    fill(y, data.targets, at, rows);
    learn(net, opt, data.x.slice(0, at, at + rows), tensor_of(y, rows, 1));
  }
}

//--- room_that_follows.cpp
#include "data.h"

int main() {
  Data data;
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  // CHECK: const int64_t n = data.count(), batch = hvd::global_batch_size(8);
  const int64_t n = data.count(), batch = 8;
  std::vector<float> x(batch * 4), y(2);
  const float scales[4] = {1, 2, 3, 4};
  for (int64_t at = 0; at < n; at += batch) {
    const int64_t rows = std::min(batch, n - at);
    y.resize(rows);
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t k = 0; k < 4; ++k) x[r * 4 + k] = scales[k] * data.rows[(at + r) * 4 + k];
      y[r] = data.targets[at + r];
    }
    learn(net, opt, tensor_of(x.data(), rows, 4), tensor_of(y.data(), rows, 1));
  }
}

//--- room_beside_a_loader.cpp
#include <algorithm>

#include <hvd/hvd.hpp>

#include "parts.h"

// Numbers of all samples of the batch, kept where there is room for those of one rank.
int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  // CHECK: hvd::data::DataLoaderOptions(10));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  double largest[10] = {};
  for (auto& batch : *loader) {
    auto output = net(batch.data);
    auto loss = hvd::nn::functional::mse_loss(output, batch.target);
    opt.zero_grad();
    loss.backward();
    opt.step();
    for (int64_t r = 0; r < output.size(0); ++r) largest[r] = std::max(largest[r], output[r].max().item<double>());  // says: HVD2010
  }
}

//--- first_rows.cpp
#include <cstdio>

#include "data.h"

// Larger batches would have other rows than these.
int main() {
  Data data;
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  const int64_t shown = 8;
  // CHECK: for (int64_t at = 0; at < 48; at += 8) {
  for (int64_t at = 0; at < 48; at += 8) {
    // CHECK: data.x.narrow(0, at, shown).mul_(1.01);
    data.x.narrow(0, at, shown).mul_(1.01);  // says: HVD2010
    learn(net, opt, data.x.narrow(0, at, 8), data.y.narrow(0, at, 8));
  }
}

//--- last_row.cpp
#include "data.h"

// One row is one row, however many a batch has.
int main() {
  Data data;
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  // CHECK: at += hvd::global_batch_size(8)) {
  for (int64_t at = 0; at < 48; at += 8) {
    data.x.narrow(0, at, 1).mul_(1.01);
    learn(net, opt, data.x.narrow(0, at, 8), data.y.narrow(0, at, 8));
  }
}
