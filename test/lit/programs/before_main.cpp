// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
// Objects of namespace scope are made before main begins, and its session: where their making asks for the ranks, a session of its own stands in
// front of the first of them in the file.

//--- loader.cpp
#include <cstdio>

#include <hvd/hvd.hpp>

#include "parts.h"

// CHECK: constexpr int kRows = 10;
// CHECK-NEXT: Net net;
constexpr int kRows = 10;
Net net;
// CHECK: const hvd::EarlySession hvd_early_session;
// CHECK-NEXT: auto loader = {{.*}}(hvd::global_batch_size(kRows)));
auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(kRows));  // says: HVD1044
// CHECK-NOT: EarlySession
// CHECK: SGDOptions(hvd::scaled_lr(0.1)));
hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));

// CHECK: hvd::Session hvd_session;
// CHECK-NEXT: hvd::broadcast(net, opt);
int main() {
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
}

//--- called.cpp
#include <fstream>

#include <hvd/hvd.hpp>

#include "parts.h"

namespace app {

std::ofstream opened(const char* name) {
  return std::ofstream(name);
}

struct Settings {
  int rows = 10;
  double rate = 0.1;
};

// CHECK: Settings settings;
// CHECK-NEXT: const hvd::EarlySession hvd_early_session;
// CHECK-NEXT: static std::ofstream table = opened("table.csv"), other;
Settings settings;
static std::ofstream table = opened("table.csv"), other;  // says: HVD1044

}  // namespace app

int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(app::settings.rate));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(app::settings.rows));
  for (auto& batch : *loader) {
    opt.zero_grad();
    auto loss = loss_of(net, batch);
    loss.backward();
    opt.step();
    app::table << loss.item<double>() << '\n';
  }
}

//--- members.cpp
// HVDIZE: --batch=global
#include <hvd/hvd.hpp>

#include "parts.h"

// CHECK: const hvd::EarlySession hvd_early_session(hvd::Policy().batch(hvd::Batch::global));
// CHECK-NEXT: struct Parts {
struct Parts {
  inline static auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));  // says: HVD1044
};

// CHECK: hvd::Session hvd_session(hvd::Policy().batch(hvd::Batch::global));
int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  for (auto& batch : *Parts::loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
}

//--- needless.cpp
#include <iostream>

#include <hvd/hvd.hpp>

#include "parts.h"

struct Said {
  explicit Said(const char* text) : text(text) {}
  void say() const { std::cout << text << '\n'; }
  const char* text;
};

// Nothing in its making asks for the ranks.
// CHECK-NOT: EarlySession
// CHECK: const Said end("done");
const Said end("done");

int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
  end.say();
}
