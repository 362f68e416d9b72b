// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
// Prints in fold expressions, and functions of the author's with `...`: what they get from the batch is whole.
#include <hvd/hvd.hpp>

#include <cstdarg>
#include <cstdio>
#include <iostream>

#include "parts.h"

// CHECK: (hvd::root_stream(std::cout) << ... << values) << '\n';
template <class... Values>
void say(const Values&... values) {
  (std::cout << ... << values) << '\n';
}

// CHECK: ((hvd::root_stream(std::cout) << values << ' '), ...);
// CHECK-NEXT: if (hvd::is_root()) std::cout << std::endl;
template <class... Values>
void list(const Values&... values) {
  ((std::cout << values << ' '), ...);
  std::cout << std::endl;
}

// CHECK: (hvd::root_only(std::printf)("%d ", numbers), ...);
template <class... Numbers>
void numbers(Numbers... numbers) {
  (std::printf("%d ", numbers), ...);
}

// CHECK: if (hvd::is_root()) std::vprintf(format, given);
void note(const char* format, ...) {
  va_list given;
  va_start(given, format);
  std::vprintf(format, given);
  va_end(given);
}

int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  int step = 0;
  for (auto& batch : *loader) {
    opt.zero_grad();
    auto loss = loss_of(net, batch);
    loss.backward();
    opt.step();
    // CHECK: note("%d: %f over %ld\n", step, hvd::batch_mean(loss.item<float>()), hvd::global(batch.data.size(0)));
    note("%d: %f over %ld\n", step, loss.item<float>(), batch.data.size(0));
    // CHECK: list(step, hvd::global(batch.data.size(0)));
    list(step, batch.data.size(0));
    list(++step);
    numbers(step);
    numbers(step, 2 * step);
  }
  say("done after ", step);
  say();
}
