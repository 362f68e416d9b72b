// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
// What prints through a library is a template or a method: it has no address that could be handed on, and the call is kept to one rank as a whole.
//--- text.h
#pragma once
#include <cstdio>
#include <memory>
#include <ostream>

namespace fmt {
inline namespace v9 {
template <typename... T>
void print(const char* format, T&&... numbers);
template <typename... T>
void print(std::FILE* file, const char* format, T&&... numbers);
template <typename... T>
void print(std::ostream& out, const char* format, T&&... numbers);
}  // namespace v9
}  // namespace fmt

namespace spdlog {
class logger {
 public:
  template <typename... T>
  void info(const char* format, T&&... numbers);
};
std::shared_ptr<logger> default_logger();
template <typename... T>
void warn(const char* format, T&&... numbers);
}  // namespace spdlog

#define LOG_INFO(...) spdlog::default_logger()->info(__VA_ARGS__)

//--- printed.cpp
#include <sstream>

#include <hvd/hvd.hpp>

#include "parts.h"
#include "text.h"

int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  // CHECK: if (hvd::is_root()) fmt::print("start {}\n", 3);
  fmt::print("start {}\n", 3);
  const auto logger = spdlog::default_logger();
  for (auto& batch : *loader) {
    opt.zero_grad();
    auto loss = loss_of(net, batch);
    loss.backward();
    opt.step();
    // CHECK: const auto hvd_loss = hvd::batch_mean(loss.item<double>());
    // CHECK-NEXT: if (hvd::is_root()) fmt::print("loss {} rows {}\n", hvd_loss, hvd::global(batch.data.size(0)));
    fmt::print("loss {} rows {}\n", loss.item<double>(), batch.data.size(0));
    // CHECK: if (hvd::is_root()) logger->info("loss {}",
    logger->info("loss {}", loss.item<float>());
    // CHECK: if (hvd::is_root()) LOG_INFO("rows {}", 4);
    LOG_INFO("rows {}", 4);
    // CHECK: if (hvd::is_root()) spdlog::warn("warned");
    spdlog::warn("warned");
    // What goes into a text is no output yet.
    // CHECK: std::ostringstream text;
    // CHECK-NEXT: fmt::print(text, "x {}", 3);
    std::ostringstream text;
    fmt::print(text, "x {}", 3);
  }
}

//--- effects.cpp
#include <hvd/hvd.hpp>

#include "parts.h"
#include "text.h"

int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  int n = 0;
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
    fmt::print("step {}\n", ++n);  // refused: HVD3020
  }
}
