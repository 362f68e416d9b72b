// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
// Batches that come out of a generator which suspends itself: where they go is not seen, and the loss would be taken for one without samples.

//--- generator.cpp
#include <coroutine>
#include <iterator>
#include <optional>
#include <utility>

#include <hvd/hvd.hpp>

template <class T>
class Generator {
 public:
  struct promise_type {
    std::optional<T> value;
    Generator get_return_object() { return Generator(std::coroutine_handle<promise_type>::from_promise(*this)); }
    std::suspend_always initial_suspend() { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    std::suspend_always yield_value(T v) {
      value = std::move(v);
      return {};
    }
    void return_void() {}
    void unhandled_exception() { throw; }
  };
  explicit Generator(std::coroutine_handle<promise_type> h) : h_(h) {}
  ~Generator() { h_.destroy(); }

  struct Iterator {
    std::coroutine_handle<promise_type> h;
    bool operator!=(std::default_sentinel_t) const { return !h.done(); }
    Iterator& operator++() {
      h.resume();
      return *this;
    }
    T& operator*() const { return *h.promise().value; }
  };
  Iterator begin() {
    h_.resume();
    return {h_};
  }
  std::default_sentinel_t end() { return {}; }

 private:
  std::coroutine_handle<promise_type> h_;
};

struct Rows {
  hvd::Tensor x, y;
};

static Generator<Rows> batches(hvd::Tensor x, hvd::Tensor y, int64_t size) {
  for (int64_t at = 0; at < x.size(0); at += size) {
    Rows rows{x.slice(0, at, at + size), y.slice(0, at, at + size)};
    co_yield rows;
  }
}

int main() {
  auto x = hvd::randn({72, 5}), y = hvd::randn({72, 3});
  hvd::nn::Linear net(5, 3);
  hvd::optim::SGD optimizer(net->parameters(), hvd::optim::SGDOptions(0.1));
  for (int epoch = 0; epoch < 3; ++epoch)
    for (auto& [data, target] : batches(x, y, 8)) {
      auto loss = (net->forward(data) - target).square().mean();
      optimizer.zero_grad();
      loss.backward();  // refused: HVD3010
      optimizer.step();
    }
}
