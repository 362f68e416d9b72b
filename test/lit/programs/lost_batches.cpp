// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
// Batches that come out of a generator which suspends itself: where they go is not seen, and the loss would be taken for one without samples.

//--- generator.cpp
#include <coroutine>

#include <hvd/hvd.hpp>

struct Batches {
  struct promise_type {
    hvd::Tensor value;
    Batches get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
    std::suspend_always initial_suspend() { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    std::suspend_always yield_value(hvd::Tensor t) {
      value = t;
      return {};
    }
    void return_void() {}
    void unhandled_exception() { throw; }
  };
  std::coroutine_handle<promise_type> handle;
  bool next() {
    handle.resume();
    return !handle.done();
  }
};

Batches batches(hvd::Tensor x) {
  for (int64_t at = 0; at < 40; at += 8) co_yield x.slice(0, at, at + 8);
}

int main() {
  hvd::nn::Linear net(5, 3);
  hvd::optim::SGD optimizer(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto x = hvd::randn({40, 5});
  auto all = batches(x);
  while (all.next()) {
    optimizer.zero_grad();
    auto out = net->forward(all.handle.promise().value);
    auto loss = out.square().mean();
    loss.backward();  // refused: HVD3010
    optimizer.step();
  }
}
