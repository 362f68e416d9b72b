// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
// Ways of opening files: by one rank to write, by all to read. A checkpoint of this step's samples holds those of all ranks.

//--- held.cpp
#include <hvd/hvd.hpp>

#include <syslog.h>

#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "parts.h"

struct Log {
  // CHECK: std::ofstream file{hvd::root_path("in_class.txt")};
  std::ofstream file{"in_class.txt"};
};

int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  Log log;
  // CHECK: auto owned = std::make_unique<std::ofstream>(hvd::root_path("owned.txt"));
  // CHECK-NEXT: auto shared = std::make_shared<std::ofstream>(hvd::root_path("shared.txt"), std::ios::app);
  auto owned = std::make_unique<std::ofstream>("owned.txt");
  auto shared = std::make_shared<std::ofstream>("shared.txt", std::ios::app);
  std::optional<std::ofstream> maybe;
  // CHECK: maybe.emplace(hvd::root_path("maybe.txt"));
  maybe.emplace("maybe.txt");
  std::vector<std::ofstream> several;
  // CHECK: several.emplace_back(hvd::root_path("several.txt"));
  several.emplace_back("several.txt");
  std::map<std::string, std::ofstream> named;
  // CHECK: named.emplace("first", hvd::root_path("named.txt"));
  named.emplace("first", "named.txt");
  // CHECK: std::fstream both(hvd::root_path("both.txt"), std::ios::out);
  std::fstream both("both.txt", std::ios::out);
  // CHECK: std::fstream settings("settings.txt");
  // CHECK: std::fstream lines("lines.txt", std::ios::in);
  std::fstream settings("settings.txt");
  int epochs = 1;
  settings >> epochs;
  std::fstream lines("lines.txt", std::ios::in);
  std::string line;
  while (std::getline(lines, line)) ++epochs;
  for (int epoch = 0; epoch < epochs; ++epoch)
    for (auto& batch : *loader) {
      opt.zero_grad();
      auto loss = loss_of(net, batch);
      loss.backward();
      opt.step();
      // CHECK: if (epoch == 0) {
      // CHECK-NEXT: const auto hvd_data = hvd::gather(batch.data);
      // CHECK-NEXT: if (hvd::is_root()) hvd::save_tensors("first", {{[{][{]}}"x", hvd_data{{[}][}]}});
      // CHECK-NEXT: }
      if (epoch == 0) hvd::save_tensors("first", {{"x", batch.data}});
      // CHECK: hvd::root_only(syslog)(LOG_INFO, "%f", hvd::batch_mean(loss.item<double>()));
      syslog(LOG_INFO, "%f", loss.item<double>());
      log.file << epoch;
      *owned << epoch;
      *shared << epoch;
      *maybe << epoch;
      several[0] << epoch;
      named.at("first") << epoch;
      both << epoch;
    }
}

//--- before_main.cpp
#include <hvd/hvd.hpp>

#include <fstream>

#include "parts.h"

// CHECK: const hvd::EarlySession hvd_early_session;
// CHECK-NEXT: static std::ofstream everywhere(hvd::root_path("everywhere.txt"));
static std::ofstream everywhere("everywhere.txt");  // says: HVD1052

int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
    everywhere << "step\n";
  }
}

//--- both_ways.cpp
#include <hvd/hvd.hpp>

#include <fstream>

#include "parts.h"

int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  std::fstream counted("runs.txt");  // refused: HVD3020
  int runs = 0;
  counted >> runs;
  counted.seekp(0);
  counted << runs + 1;
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
}

//--- tests_of_files.cpp
#include <hvd/hvd.hpp>

#include <fstream>
#include <string>

#include <dirent.h>

#include <cstdio>
#include <iostream>

#include "parts.h"

bool there(const std::string& path) {
  std::ifstream file(path);
  return file.good();
}

int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  // Loading is done together: the root decides.
  // CHECK: if (hvd::agree(there("net.safetensors"))) {
  if (there("net.safetensors")) hvd::load(net, "net.safetensors");
  std::ifstream old("old.safetensors");
  // CHECK: if (hvd::agree(static_cast<bool>(old))) {
  if (old) hvd::load(net, "old.safetensors");
  // CHECK: if (std::ifstream stream{"old.safetensors"}; hvd::agree(static_cast<bool>(stream))) {
  if (std::ifstream stream{"old.safetensors"}) hvd::load(net, "old.safetensors");
  // CHECK: if (std::FILE* file = std::fopen("old.safetensors", "rb"); hvd::agree(static_cast<bool>(file))) {
  if (std::FILE* file = std::fopen("old.safetensors", "rb")) {
    std::fclose(file);
    hvd::load(net, "old.safetensors");
  }
  DIR* folder = opendir("states");
  // CHECK: if (hvd::agree(nullptr == folder)) {
  if (nullptr == folder) {
    std::cout << "no states" << std::endl;
  } else {
    hvd::load(net, "states/last.safetensors");
  }
  std::FILE* file = std::fopen("old.safetensors", "rb");
  // CHECK: const bool known = file && opt.param_groups().size() > 0;
  const bool known = file && opt.param_groups().size() > 0;
  // CHECK: if (hvd::agree(known)) {
  if (known) hvd::load(net, "old.safetensors");
  // CHECK: if (!file) return 2;
  if (!file) return 2;
  // A pointer from elsewhere says nothing of a file.
  std::FILE* none = nullptr;
  // CHECK: if (!none) {
  if (!none) hvd::load(net, "old.safetensors");
  // A rank that cannot read what it needs says so by itself.
  std::ifstream words("words.txt");
  // CHECK: if (!words) return 1;
  if (!words) return 1;
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
}
