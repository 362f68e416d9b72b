// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
// The time of day in a text, however it gets there, is what only one rank has: a decision by it is the root's.
//--- times_of_day.cpp
#include <hvd/hvd.hpp>

#include "parts.h"

#include <cstdio>
#include <ctime>
#include <iomanip>
#include <sstream>
#include <string>

static std::string streamed(std::time_t now) {
  std::tm parts{};
  localtime_r(&now, &parts);
  std::ostringstream text;
  text << "run-" << std::put_time(&parts, "%H%M");
  return text.str();
}

static std::string assigned(std::time_t now) {
  std::tm parts;
  parts = *std::localtime(&now);
  std::stringstream text;
  text << parts.tm_hour << ':' << parts.tm_min;
  return text.str();
}

static std::string printed(std::time_t now) {
  char text[32];
  std::snprintf(text, sizeof text, "%ld", static_cast<long>(now));
  return text;
}

static std::string numbered(int epoch) {
  std::ostringstream text;
  text << "epoch-" << epoch;
  return text.str();
}

// CHECK: if (hvd::agree(streamed(std::time(nullptr)) == "run-0600")) break;
// CHECK: if (hvd::agree(assigned(std::time(nullptr)) == "6:0")) break;
// CHECK: if (hvd::agree(printed(std::time(nullptr)) == "0")) break;
// CHECK: if (numbered(epoch) == "epoch-2") break;
int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (int epoch = 0; epoch < 3; ++epoch) {
    for (auto& batch : *loader) {
      opt.zero_grad();
      loss_of(net, batch).backward();
      opt.step();
    }
    if (streamed(std::time(nullptr)) == "run-0600") break;
    if (assigned(std::time(nullptr)) == "6:0") break;
    if (printed(std::time(nullptr)) == "0") break;
    if (numbered(epoch) == "epoch-2") break;
  }
}
