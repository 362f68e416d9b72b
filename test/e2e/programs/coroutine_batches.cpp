// SPDX-License-Identifier: Apache-2.0
// e2e: name=coroutine_batches; scaled={8*N} {0.05*N}; ranks=1,2,3; timeout=90
// e2e: name=range_of_a_coroutine; cxx=-DFORM=1; scaled={8*N} {0.05*N}; ranks=1,2,3; timeout=90
// Batches that a C++20 coroutine hands over one by one, cut from an order of its own; a short one is told by its extents.
#include <hvd/hvd.hpp>

#include <algorithm>
#include <coroutine>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iterator>
#include <utility>

#ifndef FORM
#define FORM 0
#endif

struct Part {
  hvd::Tensor rows, labels;
};

class Parts {
 public:
  struct promise_type {
    Part current;
    Parts get_return_object() { return Parts(std::coroutine_handle<promise_type>::from_promise(*this)); }
    std::suspend_always initial_suspend() { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    std::suspend_always yield_value(Part p) {
      current = std::move(p);
      return {};
    }
    void return_void() {}
    void unhandled_exception() { std::terminate(); }
  };
  explicit Parts(std::coroutine_handle<promise_type> handle) : handle_(handle) {}
  Parts(const Parts&) = delete;
  Parts& operator=(const Parts&) = delete;
  ~Parts() { handle_.destroy(); }
  bool advance() {
    handle_.resume();
    return !handle_.done();
  }
  const Part& current() const { return handle_.promise().current; }

  struct Iterator {
    std::coroutine_handle<promise_type> handle;
    bool operator!=(std::default_sentinel_t) const { return !handle.done(); }
    Iterator& operator++() {
      handle.resume();
      return *this;
    }
    Part& operator*() const { return handle.promise().current; }
  };
  Iterator begin() {
    handle_.resume();
    return {handle_};
  }
  std::default_sentinel_t end() { return {}; }

 private:
  std::coroutine_handle<promise_type> handle_;
};

Parts parts(const hvd::Tensor& x, const hvd::Tensor& y, int64_t size) {
  const hvd::Tensor order = hvd::randperm(x.size(0));
  for (int64_t at = 0; at < x.size(0); at += size) {
    const hvd::Tensor picked = order.slice(0, at, std::min(at + size, x.size(0)));
    Part part{x.index_select(0, picked), y.index_select(0, picked)};
    co_yield part;
  }
}

int main(int argc, char** argv) {
  hvd::set_default_dtype(hvd::kFloat64);
  hvd::manual_seed(4);
  const int64_t size = argc > 1 ? std::atoll(argv[1]) : 8;
  const double rate = argc > 2 ? std::atof(argv[2]) : 0.05;
  const hvd::Tensor x = hvd::randn({61, 4}), y = hvd::randint(3, {61});
  hvd::nn::Linear net(4, 3);
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(rate));
  for (int epoch = 0; epoch < 3; ++epoch) {
    double total = 0;
#if FORM == 1
    for (const Part& part : parts(x, y, size)) {
#else
    Parts batches = parts(x, y, size);
    while (batches.advance()) {
      const Part& part = batches.current();
#endif
      const hvd::Tensor loss = hvd::nn::functional::cross_entropy(net->forward(part.rows), part.labels);
      opt.zero_grad();
      loss.backward();
      opt.step();
      total += loss.item<double>() * static_cast<double>(part.rows.size(0));
      if (part.rows.sizes()[0] < size) std::printf("a short batch of %lld\n", static_cast<long long>(part.rows.sizes().front()));
    }
    std::printf("%d %.9f\n", epoch, total / static_cast<double>(x.size(0)));
  }
  hvd::save(net, "net.safetensors");
}
