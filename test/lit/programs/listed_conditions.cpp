// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
// Conditions that ask a clock or the file system, called through objects that hold functions: which one is called is seen, or may be any.

//--- conditions.cpp
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <hvd/hvd.hpp>

#include "parts.h"

namespace F = hvd::nn::functional;

static bool late() { return std::chrono::steady_clock::now().time_since_epoch().count() > 1000; }

int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  const auto begin = std::chrono::steady_clock::now();
  std::function<bool()> slow = [&] { return std::chrono::steady_clock::now() - begin > std::chrono::hours(1); };
  std::vector<std::function<bool()>> braced{slow, [] { return std::filesystem::exists("STOP"); }}, pushed;
  pushed.push_back([&] { return std::chrono::steady_clock::now() < begin; });
  std::map<std::string, std::function<bool()>> named{{"late", late}};
  for (auto& [x, y] : *loader) {
    opt.zero_grad();
    auto loss = F::cross_entropy(net(x), y);
    loss.backward();
    opt.step();
    // CHECK: if (hvd::agree(std::any_of(braced.begin(), braced.end(),
    if (std::any_of(braced.begin(), braced.end(), [](const auto& condition) { return condition(); })) break;
    bool first = false, second = false;
    for (auto& condition : pushed) first = first || condition();
    // CHECK: if (hvd::agree(first)) break;
    if (first) break;
    for (auto& [name, condition] : named) second = second || condition();
    // CHECK: if (hvd::agree(second)) break;
    if (second) break;
  }
}
