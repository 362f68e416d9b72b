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

//--- stored.cpp
#include <fstream>
#include <functional>
#include <map>
#include <string>

#include <hvd/hvd.hpp>

#include "parts.h"

// What is only stored runs later.
// CHECK-NOT: EarlySession
// CHECK: static std::map
// CHECK-NOT: EarlySession
static std::map<std::string, std::function<void()>> words = {{"begin", [] { std::ofstream table("begin.csv"); }}};

int main() {
  words.at("begin")();
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
}

//--- stored_and_run.cpp
#include <fstream>
#include <functional>
#include <map>
#include <string>

#include <hvd/hvd.hpp>

#include "parts.h"

// CHECK: static std::map
// CHECK-NEXT: const hvd::EarlySession hvd_early_session;
// CHECK-NEXT: static const bool begun
static std::map<std::string, std::function<void()>> words = {{"begin", [] { std::ofstream table("begin.csv"); }}};
static const bool begun = (words.at("begin")(), true);  // says: HVD1044

int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
  return begun ? 0 : 1;
}

//--- handed_away.cpp
#include <algorithm>
#include <fstream>
#include <vector>

#include <hvd/hvd.hpp>

#include "parts.h"

// CHECK: static std::vector<const char*> names
// CHECK-NEXT: const hvd::EarlySession hvd_early_session;
// CHECK-NEXT: static const bool said
static std::vector<const char*> names = {"a", "b"};
static const bool said = (std::for_each(names.begin(), names.end(), [](const char* name) { std::ofstream table(name); }), true);  // says: HVD1044

int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
  return said ? 0 : 1;
}
