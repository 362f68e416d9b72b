// SPDX-License-Identifier: Apache-2.0
// What one rank does under a condition that stands on the same line: a condition of its own, for what all ranks do may have to come between the two. A constructor
// on one line that grows leaves no blanks behind at its end.
// RUN: %golden
//--- conditions.cpp
#include <hvd/hvd.hpp>

#include <cstdio>

#include "parts.h"

// CHECK: if (step > 1) if (hvd::is_root()) std::puts("saved");
// CHECK: if (step > 1 && names) if (hvd::is_root()) std::puts("both");
// CHECK: if (step > 1 || names) if (hvd::is_root()) std::puts("either");
// CHECK: if (step > 2)
// CHECK-NEXT: if (hvd::is_root()) std::puts("below");
// CHECK: if (int n = step - 1) if (hvd::is_root()) std::printf("%d\n", n);
int main(int argc, char**) {
  Net net;
  const bool names = argc > 1;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  int step = 0;
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
    ++step;
    if (step > 1) std::puts("saved");
    if (step > 1 && names) std::puts("both");
    if (step > 1 || names) std::puts("either");
    if (step > 2)
      std::puts("below");
    if (int n = step - 1) std::printf("%d\n", n);
  }
}
//--- constructor.cpp
#include <hvd/hvd.hpp>

#include "parts.h"

// CHECK: Trainer() : opt(net->parameters(), hvd::optim::SGDOptions(hvd::scaled_lr(0.1))) { net->train();{{$}}
// CHECK-NEXT: hvd::broadcast(net, opt);
// CHECK-NEXT: hvd::overlap(net, opt);
// CHECK-NEXT: {{^  }$}}
struct Trainer {
  Net net;
  hvd::optim::SGD opt;
  Trainer() : opt(net->parameters(), hvd::optim::SGDOptions(0.1)) { net->train(); }
};

int main() {
  Trainer t;
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    t.opt.zero_grad();
    loss_of(t.net, batch).backward();
    t.opt.step();
  }
}
