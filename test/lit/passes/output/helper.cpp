// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
//--- console.cpp
#include <hvd/hvd.hpp>

#include <iostream>

#include "parts.h"


// CHECK: void say(const std::string& text) {
// CHECK-NEXT: if (hvd::is_root()) std::cout << text << "\n";
void say(const std::string& text) {
  std::cout << text << "\n";
}

void list(std::ostream& out, int n) {
  out << n << "\n";
}

// CHECK: say("start");
// CHECK: list(hvd::root_stream(std::cerr), 3);
int main() {
  say("start");
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
  list(std::cerr, 3);
}
//--- errors.cpp
#include <hvd/hvd.hpp>

#include <iostream>

#include "parts.h"

#include <cstdio>

// CHECK: void complain(const char* what) {
// CHECK-NEXT: hvd::error_call(std::fprintf)(stderr, "%s\n", what);
void complain(const char* what) {
  std::fprintf(stderr, "%s\n", what);
}

// CHECK: void fail(const std::string& what) {
// CHECK-NEXT: hvd::error_stream(std::cerr) << what << "\n";
[[noreturn]] void fail(const std::string& what) {
  std::cerr << what << "\n";
  std::exit(1);
}

// CHECK: int numberFrom(std::istream& in) {
// CHECK: numberFrom(hvd::root_input(std::cin)) < 0
int numberFrom(std::istream& in) {
  int n = 0;
  in >> n;
  return n;
}

int main() {
  if (numberFrom(std::cin) < 0) fail("a negative number");
  try {
    Net net;
    hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
    auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
    for (auto& batch : *loader) {
      opt.zero_grad();
      loss_of(net, batch).backward();
      opt.step();
    }
  } catch (const std::exception& e) {
    complain(e.what());
    throw;
  }
}
