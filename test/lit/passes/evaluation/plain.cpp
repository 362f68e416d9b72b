// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
//--- after.cpp
#include <hvd/hvd.hpp>

#include <iostream>

#include "parts.h"

// CHECK: auto test = hvd::data::make_data_loader<hvd::Sharded<hvd::data::SequentialSampler>>(samples(15), hvd::data::DataLoaderOptions(4));
// CHECK: for (auto& batch : hvd::steps(*test)) {
// CHECK-NEXT: correct += hvd::batch_sum(net(batch.data).argmax(1).eq(batch.target).sum().item<int64_t>());
// CHECK-NEXT: rows += hvd::global(batch.data.size(0));
// CHECK: if (hvd::is_root()) std::cout << static_cast<double>(correct) / rows << "\n";
int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  auto test = hvd::data::make_data_loader<hvd::data::SequentialSampler>(samples(15), hvd::data::DataLoaderOptions(4));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
  int64_t correct = 0, rows = 0;
  const hvd::NoGradGuard no_grad;
  for (auto& batch : *test) {  // says: HVD1010
    correct += net(batch.data).argmax(1).eq(batch.target).sum().item<int64_t>();
    rows += batch.data.size(0);
  }
  std::cout << static_cast<double>(correct) / rows << "\n";
}
//--- best.cpp
#include <hvd/hvd.hpp>

#include <iostream>

#include "parts.h"

// What all ranks compute alike may decide.
// CHECK: if (loss < best) {
// CHECK-NEXT: best = loss;
// CHECK: if (++bad == 3) break;
int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  auto test = hvd::data::make_data_loader<hvd::data::SequentialSampler>(samples(15), hvd::data::DataLoaderOptions(4));
  double best = 1e30;
  int bad = 0;
  for (int epoch = 0; epoch < 5; ++epoch) {
    for (auto& batch : *loader) {
      opt.zero_grad();
      loss_of(net, batch).backward();
      opt.step();
    }
    double loss = 0;
    for (auto& batch : *test) loss += loss_of(net, batch).item<double>();
    if (loss < best) {
      best = loss;
      bad = 0;
      continue;
    }
    if (++bad == 3) break;
  }
}
//--- same_loader.cpp
#include <hvd/hvd.hpp>

#include <iostream>

#include "parts.h"

// CHECK: for (auto& batch : hvd::steps(*loader)) {
// CHECK: for (auto& batch : hvd::steps(*loader)) correct += hvd::batch_sum(
int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
  int64_t correct = 0;
  for (auto& batch : *loader) correct += net(batch.data).argmax(1).eq(batch.target).sum().item<int64_t>();
  std::cout << correct << "\n";
}
//--- asked.cpp
#include <hvd/hvd.hpp>

#include <iostream>

#include "parts.h"

// HVDIZE: --evaluation=whole
// CHECK: make_data_loader<hvd::data::SequentialSampler>(samples(15)
// CHECK: for (auto& batch : *test) {
// CHECK-NEXT: correct += net(batch.data).argmax(1).eq(batch.target).sum().item<int64_t>();
// CHECK-NEXT: rows += batch.data.size(0);
int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  auto test = hvd::data::make_data_loader<hvd::data::SequentialSampler>(samples(15), hvd::data::DataLoaderOptions(4));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
  int64_t correct = 0, rows = 0;
  for (auto& batch : *test) {  // says: HVD1012
    correct += net(batch.data).argmax(1).eq(batch.target).sum().item<int64_t>();
    rows += batch.data.size(0);
  }
  std::cout << static_cast<double>(correct) / rows << "\n";
}
//--- look.cpp
#include <hvd/hvd.hpp>

#include <iostream>

#include "parts.h"

// A look at one batch, outside of training: all ranks see all of it.
// CHECK: const auto first = *test->begin();
// CHECK-NEXT: if (hvd::is_root()) std::cout << first.target << "\n";
int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  auto test = hvd::data::make_data_loader<hvd::data::SequentialSampler>(samples(15), hvd::data::DataLoaderOptions(4));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
  const auto first = *test->begin();
  std::cout << first.target << "\n";
}
//--- rows.cpp
#include <hvd/hvd.hpp>

#include <vector>

#include "parts.h"

// What a loop only collects is wanted whole.
// CHECK: for (auto& batch : hvd::steps(*test)) guesses.push_back(hvd::gather(net(batch.data).argmax(1)));
int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  auto test = hvd::data::make_data_loader<hvd::data::SequentialSampler>(samples(15), hvd::data::DataLoaderOptions(4));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
  std::vector<hvd::Tensor> guesses;
  for (auto& batch : *test) guesses.push_back(net(batch.data).argmax(1));
  return hvd::cat(guesses).size(0) == 15 ? 0 : 1;
}
//--- container.cpp
#include <hvd/hvd.hpp>

#include <iostream>

#include "parts.h"

// A class of one's own around the framework's container has the container's forward: nothing about it is unseen.
struct StackImpl : hvd::nn::SequentialImpl {
  StackImpl() {
    push_back(hvd::nn::Linear(8, 16));
    push_back(hvd::nn::Linear(16, 3));
  }
};
HVD_MODULE(Stack);

// CHECK: for (auto& batch : hvd::steps(*test)) correct += hvd::batch_sum(net(batch.data).argmax(1)
int main() {
  Stack net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  auto test = hvd::data::make_data_loader<hvd::data::SequentialSampler>(samples(15), hvd::data::DataLoaderOptions(4));
  for (auto& batch : *loader) {
    opt.zero_grad();
    hvd::nn::functional::cross_entropy(net(batch.data), batch.target).backward();
    opt.step();
  }
  int64_t correct = 0;
  for (auto& batch : *test) correct += net(batch.data).argmax(1).eq(batch.target).sum().item<int64_t>();
  std::cout << correct << "\n";
}
