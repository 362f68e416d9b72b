// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
// What runs on threads of the program's own: nothing there may wait for other ranks.

//--- parallel_loop.cpp
#include <hvd/hvd.hpp>

#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "parts.h"

float number(const std::string& path) {
  float x = 0;
  std::ifstream in(path);  // says: HVD2013
  in >> x;
  return x;
}

std::vector<float> numbers(const std::vector<std::string>& paths) {
  std::vector<float> all(paths.size());
  // CHECK: #pragma omp parallel for
  // CHECK-NEXT: for (
  // CHECK-NEXT: if (std::filesystem::exists(paths[i])) all[i] = number(paths[i]);
#pragma omp parallel for
  for (size_t i = 0; i < paths.size(); ++i)
    if (std::filesystem::exists(paths[i])) all[i] = number(paths[i]);
  return all;
}

// CHECK: int main(int argc, char** argv) {
int main(int argc, char** argv) {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  std::ofstream log(argv[1]);
  const auto weights = numbers(std::vector<std::string>(argv + 1, argv + argc));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
  log << weights.size() << "\n";
}

//--- task_of_a_thread.cpp
#include <hvd/hvd.hpp>

#include <filesystem>
#include <string>
#include <thread>

#include "parts.h"

// The result is used, so that all ranks would need the root's.
bool made(const std::string& folder) { return std::filesystem::create_directories(folder); }  // refused: HVD3030

int main(int argc, char** argv) {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  bool done = argc > 2;
  std::thread maker([&] { done = made(argv[1]); });
  maker.join();
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
}

//--- item_of_a_dataset.cpp
#include <hvd/hvd.hpp>

#include <filesystem>
#include <string>

#include "parts.h"

struct Cached : hvd::data::Dataset {
  hvd::data::Example get(size_t index) override {
    const bool fresh = std::filesystem::create_directories("cache" + std::to_string(index));  // refused: HVD3030
    return {hvd::full({1}, fresh ? 1.0 : 0.0), hvd::zeros({1})};
  }
  size_t size() const override { return 40; }
};

int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(Cached(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
}
