// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
//--- clock.cpp
#include <hvd/hvd.hpp>

#include "parts.h"

#include <ctime>

// CHECK: if (hvd::agree(std::time(nullptr) - start > 60)) break;
int main() {
  const auto start = std::time(nullptr);
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (int epoch = 0; epoch < 3; ++epoch) {
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
    if (std::time(nullptr) - start > 60) break;
  }
}
//--- beside.cpp
#include <hvd/hvd.hpp>

#include <atomic>
#include <csignal>
#include <thread>

#include "parts.h"

// What a signal or a thread changes, it changes at another time on every rank.
// CHECK: volatile std::sig_atomic_t interrupted = 0;
// CHECK: while (!ready) std::this_thread::yield();
// CHECK: if (hvd::agree(interrupted)) break;
// CHECK: if (hvd::agree(finished)) break;
// CHECK: if (hvd::agree(late.load())) break;
volatile std::sig_atomic_t interrupted = 0;
int finished = 0;
void on_signal(int) { interrupted = 1; finished = 1; }

int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  std::signal(SIGINT, on_signal);
  std::atomic<bool> late{false}, ready{false};
  std::thread timer([&] { ready = true; if (!late) late = true; });
  while (!ready) std::this_thread::yield();
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
    if (interrupted) break;
    if (finished) break;
    if (late.load()) break;
  }
  timer.join();
}
//--- items_shown.cpp
#include <hvd/hvd.hpp>

#include <iostream>
#include <vector>

#include "parts.h"

struct Batch {
  hvd::Tensor x, y;
};

// One rank shows an item of the container: the container is on all ranks what it was.
// CHECK: if (hvd::is_root()) std::cout << batches.back().x.size(0) << batches.at(0).x.size(1) << "\n";
// CHECK: hvd::reduce_gradients(opt);
int main() {
  std::vector<Batch> batches;
  for (int i = 0; i < 4; ++i) batches.push_back({hvd::randn({10, 8}), hvd::randint(0, 3, {10})});
  std::cout << batches.back().x.size(0) << batches.at(0).x.size(1) << "\n";
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  for (const auto& batch : batches) {
    opt.zero_grad();
    hvd::nn::functional::cross_entropy(net(batch.x), batch.y).backward();
    opt.step();
  }
}
//--- sides.cpp
#include <hvd/hvd.hpp>

#include <ctime>
#include <filesystem>
#include <string>

#include "parts.h"

// What stands on the right of && and || is done together: the ranks agree on whether they come to it, each time.
// CHECK: if (hvd::agree(std::filesystem::exists("last.pt")) && resume(net, "last.pt")) epoch = 1;
// CHECK: if (hvd::agree(std::time(nullptr) - start < 60 && epoch < 3) && one_more(net, opt)) ++epoch;
// CHECK: while (hvd::agree(std::time(nullptr) - start < 60) && one_more(net, opt) && hvd::agree(std::filesystem::exists("more")) && one_more(net, opt)) ++epoch;
bool resume(Net& net, const std::string& path) {
  hvd::load(net, path);
  return true;
}

bool one_more(Net& net, hvd::optim::SGD& opt) {
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
  return true;
}

int main() {
  const auto start = std::time(nullptr);
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  int epoch = 0;
  if (std::filesystem::exists("last.pt") && resume(net, "last.pt")) epoch = 1;
  if (std::time(nullptr) - start < 60 && epoch < 3 && one_more(net, opt)) ++epoch;
  while (std::time(nullptr) - start < 60 && one_more(net, opt) && std::filesystem::exists("more") && one_more(net, opt)) ++epoch;
}
