// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
// An error that one rank throws ends the job, whatever text it is made with: nothing to agree on. Where a handler goes on, all ranks have to be there.
//--- ends.cpp
#include <hvd/hvd.hpp>

#include "parts.h"

#include <ctime>
#include <stdexcept>
#include <string>

// CHECK: if (!condition) throw std::runtime_error("program: " + message);
static void demand(bool condition, const std::string& message) {
  if (!condition) throw std::runtime_error("program: " + message);
}

static int run() {
  try {
    const auto start = std::time(nullptr);
    Net net;
    hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
    auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
    for (auto& batch : *loader) {
      opt.zero_grad();
      loss_of(net, batch).backward();
      opt.step();
      demand(std::time(nullptr) - start < 600, "out of time");
    }
  } catch (const std::exception&) {
    return 1;
  }
  return 0;
}

int main() { return run(); }

//--- goes_on.cpp
#include <hvd/hvd.hpp>

#include "parts.h"

#include <ctime>
#include <stdexcept>
#include <string>

// CHECK: if (hvd::agree(!condition)) throw std::runtime_error("program: " + message);
static void demand(bool condition, const std::string& message) {
  if (!condition) throw std::runtime_error("program: " + message);
}

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
    try {
      demand(std::time(nullptr) - start < 600, "out of time");
    } catch (const std::exception&) {
      opt.zero_grad();
    }
  }
}
