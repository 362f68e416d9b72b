// SPDX-License-Identifier: Apache-2.0
#include "test/emulated_gpu/torch/copies.hpp"

#include "test/emulated_gpu/torch/host_view.hpp"
#include "test/emulated_gpu/torch/memory.hpp"

#include <deque>
#include <mutex>

namespace emulated_torch {

namespace {

/// From the GPU: what it held when its turn came, until it is delivered.
struct Down {
  std::uint64_t number;
  at::Tensor to, values;
};
struct Up {
  at::Tensor to, from;
};

struct Waiting {
  std::recursive_mutex mutex;
  std::deque<Down> down;
  std::deque<Up> up;
  std::uint64_t number = 0;
};
Waiting& waiting() {
  static auto* const instance = new Waiting;
  return *instance;
}

void deliver(std::uint64_t until) {
  Waiting& w = waiting();
  while (!w.down.empty() && w.down.front().number <= until) {
    const Down copy = w.down.front();
    w.down.pop_front();
    copy.to.copy_(copy.values);
  }
}

}  // namespace

void arrive() {
  Waiting& w = waiting();
  const std::lock_guard lock(w.mutex);
  const Open open;
  while (!w.up.empty()) {
    const Up copy = w.up.front();
    w.up.pop_front();
    host_view(copy.to).copy_(copy.from);
  }
}

void finish() {
  Waiting& w = waiting();
  const std::lock_guard lock(w.mutex);
  arrive();
  deliver(w.number);
}

std::uint64_t last_copy() {
  Waiting& w = waiting();
  const std::lock_guard lock(w.mutex);
  return w.number;
}

bool look(std::uint64_t copy, int& looks) {
  Waiting& w = waiting();
  const std::lock_guard lock(w.mutex);
  arrive();
  if (!w.down.empty() && w.down.front().number <= copy && ++looks < 3) return false;
  deliver(copy);
  return true;
}

at::Tensor& copy(at::Tensor& self, const at::Tensor& src, bool non_blocking) {
  Waiting& w = waiting();
  const std::lock_guard lock(w.mutex);
  arrive();
  if (non_blocking && !self.is_cuda() && is_pinned(self.data_ptr())) {
    const Open open;
    w.down.push_back({++w.number, self.detach(), host_view(src).clone()});
    return self;
  }
  if (non_blocking && self.is_cuda() && !src.is_cuda() && is_pinned(src.data_ptr())) {
    w.up.push_back({self.detach(), src.detach()});
    return self;
  }
  finish();
  const Open open;
  host_view(self).copy_(host_view(src));
  return self;
}

}  // namespace emulated_torch
