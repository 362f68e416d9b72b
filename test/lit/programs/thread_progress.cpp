// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
// How far a thread of the program has come is another matter on each rank.

//--- samples_so_far.cpp
#include <hvd/hvd.hpp>

#include <algorithm>
#include <mutex>
#include <thread>
#include <vector>

#include "parts.h"

struct Sample {
  hvd::Tensor x, y;
};

struct Store {
  std::vector<Sample> items;
  std::mutex lock;
  bool done = false;
  void fill() {
    while (!done) {
      std::lock_guard<std::mutex> hold(lock);
      items.push_back({hvd::randn({1, 8}), hvd::randint(0, 3, {1})});
    }
  }
};

int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  Store store;
  std::thread maker(&Store::fill, &store);
  while (store.items.size() < 40) std::this_thread::yield();
  const size_t n = store.items.size();
  for (size_t at = 0; at < n; at += 8) {  // refused: HVD3013
    std::vector<hvd::Tensor> xs, ys;
    for (size_t i = at; i < std::min(n, at + 8); ++i) xs.push_back(store.items[i].x), ys.push_back(store.items[i].y);
    opt.zero_grad();
    hvd::nn::functional::cross_entropy(net(hvd::cat(xs)), hvd::cat(ys)).backward();
    opt.step();
  }
  store.done = true;
  maker.join();
}

//--- waiting_in_the_training_loop.cpp
#include <hvd/hvd.hpp>

#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>

#include "parts.h"

std::deque<hvd::data::Example> ready;
std::mutex lock;
std::atomic<bool> done{false};

int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto reader = std::make_unique<std::thread>([] {
    for (int i = 0; i < 10; ++i) {
      std::lock_guard<std::mutex> hold(lock);
      ready.push_back({hvd::randn({8, 8}), hvd::randint(0, 3, {8})});
    }
    done = true;
  });
  while (true) {
    hvd::data::Example batch;
    {
      std::lock_guard<std::mutex> hold(lock);
      if (ready.empty()) {  // refused: HVD3013
        if (done) break;
        continue;
      }
      batch = ready.front();
      ready.pop_front();
    }
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
  reader->join();
}

//--- taken_when_there.cpp
#include <hvd/hvd.hpp>

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include "parts.h"

std::deque<hvd::data::Example> ready;
std::mutex lock;
std::condition_variable more;
bool done = false;

// CHECK: if (ready.empty()) break;
// CHECK: loss_of(net, batch)
int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  std::thread reader([] {
    for (int i = 0; i < 10; ++i) {
      std::lock_guard<std::mutex> hold(lock);
      ready.push_back({hvd::randn({8, 8}), hvd::randint(0, 3, {8})});
      more.notify_one();
    }
    std::lock_guard<std::mutex> hold(lock);
    done = true;
    more.notify_one();
  });
  while (true) {
    std::unique_lock<std::mutex> hold(lock);
    more.wait(hold, [] { return !ready.empty() || done; });
    if (ready.empty()) break;
    hvd::data::Example batch = ready.front();
    ready.pop_front();
    hold.unlock();
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
  reader.join();
}

//--- drawn_from_what_is_there.cpp
#include <hvd/hvd.hpp>

#include <mutex>
#include <random>
#include <thread>
#include <vector>

#include "parts.h"

class Replay {
 public:
  void start() { maker_ = std::thread(&Replay::run, this); }
  void stop() { done_ = true, maker_.join(); }
  size_t size() const { return items_.size(); }
  hvd::Tensor draw(int64_t n, std::mt19937& rng) {
    std::lock_guard<std::mutex> hold(lock_);
    std::uniform_int_distribution<size_t> any(0, items_.size() - 1);
    std::vector<hvd::Tensor> rows;
    for (int64_t i = 0; i < n; ++i) rows.push_back(items_[any(rng)]);  // refused: HVD3012
    return hvd::stack(rows);  // refused: HVD3012
  }

 private:
  void run() {
    while (!done_) {
      std::lock_guard<std::mutex> hold(lock_);
      items_.push_back(hvd::randn({8}));
    }
  }
  std::vector<hvd::Tensor> items_;
  std::mutex lock_;
  std::thread maker_;
  bool done_ = false;
};

int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  Replay replay;
  std::mt19937 rng(1);
  replay.start();
  while (replay.size() < 100) std::this_thread::yield();
  for (int i = 0; i < 10; ++i) {
    opt.zero_grad();
    net(replay.draw(8, rng)).square().mean().backward();
    opt.step();
  }
  replay.stop();
}

//--- read_by_several.cpp
#include <hvd/hvd.hpp>

#include <algorithm>
#include <mutex>
#include <thread>
#include <vector>

#include "parts.h"

void read_part(std::vector<hvd::Tensor>& rows, std::mutex& lock, int from) {
  for (int i = from; i < 40; i += 2) {
    std::lock_guard<std::mutex> hold(lock);
    rows.push_back(hvd::full({8}, 0.1 * i));  // says: HVD2018
  }
}

// What is read before training begins is all there: its size needs no agreement. Each thread its places: no word about the order.
// CHECK: for (size_t at = 0; at < rows.size(); at += hvd::global_batch_size(8)) {
int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  std::vector<hvd::Tensor> rows, places(40);
  std::mutex lock;
  std::thread one(read_part, std::ref(rows), std::ref(lock), 0), other(read_part, std::ref(rows), std::ref(lock), 1);
  one.join();
  other.join();
  std::vector<std::thread> threads;
  for (int t = 0; t < 2; ++t)
    threads.emplace_back([&places, t] {
      for (int i = t; i < 40; i += 2) places[i] = hvd::full({8}, 0.1 * i);
    });
  for (auto& t : threads) t.join();
  for (size_t at = 0; at < rows.size(); at += 8) {
    std::vector<hvd::Tensor> xs;
    for (size_t i = at; i < std::min(rows.size(), at + 8); ++i) xs.push_back(rows[i] + places[i]);
    opt.zero_grad();
    net(hvd::stack(xs)).square().mean().backward();
    opt.step();
  }
}
