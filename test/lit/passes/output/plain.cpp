// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
//--- console.cpp
#include <hvd/hvd.hpp>

#include <iostream>

#include "parts.h"

#include <cstdio>
#include <fstream>

// CHECK: if (hvd::is_root()) std::cout << "start\n";
// CHECK: if (hvd::is_root()) std::printf("%d\n", n);
// CHECK: std::ofstream log(hvd::root_path("log.csv"));
// CHECK: hvd::root_stream(std::cout).write("text\n", 5);
// CHECK-NEXT: hvd::root_stream(std::cout).put('>').put('\n');
// CHECK-NEXT: std::cout.precision(3);
// CHECK: hvd::root_stream(std::cout) << ++n << "\n";
// CHECK-NEXT: log << n << "\n";
int main() {
  std::cout << "start\n";
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  int n = 0;
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
  std::printf("%d\n", n);
  std::ofstream log("log.csv");
  std::cout.write("text\n", 5);
  std::cout.put('>').put('\n');
  std::cout.precision(3);
  std::cout << ++n << "\n";
  log << n << "\n";
}
//--- descriptor.cpp
#include <hvd/hvd.hpp>

#include <cstdio>
#include <string>

#include <unistd.h>

#include "parts.h"

// CHECK: if (hvd::is_root()) dprintf(STDOUT_FILENO, "%d steps\n", n);
// CHECK-NEXT: if (hvd::is_root()) write(1, line.data(), line.size());
// CHECK-NEXT: write(n, line.data(), line.size());
int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  int n = 0;
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
    ++n;
  }
  const std::string line = "done\n";
  dprintf(STDOUT_FILENO, "%d steps\n", n);
  write(1, line.data(), line.size());
  write(n, line.data(), line.size());
}
//--- input.cpp
#include <hvd/hvd.hpp>

#include <iostream>

#include "parts.h"

// CHECK: hvd::root_input(std::cin) >> epochs;
// CHECK: std::getline(hvd::root_input(std::cin), name);
// CHECK: if (!hvd::root_input(std::cin)) return 1;
int main() {
  int epochs = 0;
  std::string name;
  std::cin >> epochs;
  std::getline(std::cin, name);
  if (!std::cin) return 1;
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (int epoch = 0; epoch < epochs; ++epoch) for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
}
//--- errors.cpp
#include <hvd/hvd.hpp>

#include <iostream>

#include "parts.h"

#include <cstdio>
#include <fstream>

// CHECK: if (hvd::is_root()) std::fprintf(stderr, "usage: %s FILE\n", argv[0]);
// CHECK: hvd::error_stream(std::cerr) << argv[1] << ": cannot be read\n";
// CHECK: hvd::error_stream(std::cerr) << "nothing in it\n", std::exit(3);
// CHECK: hvd::error_stream(std::cerr) << "failed: " << e.what() << std::endl;
// CHECK-NEXT: hvd::error_call(std::printf)("giving up\n");
// CHECK: if (hvd::is_root()) std::cerr << "done\n";
int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s FILE\n", argv[0]);
    return 2;
  }
  std::ifstream in(argv[1]);
  if (!in) {
    std::cerr << argv[1] << ": cannot be read\n";
    return 1;
  }
  if (in.peek() == EOF) std::cerr << "nothing in it\n", std::exit(3);
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
    std::cerr << "failed: " << e.what() << std::endl;
    std::printf("giving up\n");
    return 1;
  }
  std::cerr << "done\n";
}
//--- files.cpp
#include <hvd/hvd.hpp>

#include "parts.h"

#include <filesystem>
#include <fstream>

// Between the configuration and the result lie training steps.
// CHECK-NOT: barrier
// CHECK: std::ofstream out(hvd::root_path("result.txt"));
// CHECK: hvd::barrier();
// CHECK-NEXT: std::ifstream in("result.txt");
// CHECK: hvd::barrier();
// CHECK-NEXT: hvd::from_root([&] { std::filesystem::rename("result.txt", "old.txt"); });
// CHECK: hvd::barrier();
// CHECK-NEXT: std::ifstream again(argv[0]);
int main(int, char** argv) {
  std::ifstream config("config.txt");
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
  {
    std::ofstream out("result.txt");
    out << 3 << "\n";
  }
  std::ifstream in("result.txt");
  std::filesystem::rename("result.txt", "old.txt");
  std::ifstream again(argv[0]);
  return config && in && again ? 0 : 1;
}
//--- handler.cpp
#include <hvd/hvd.hpp>

#include "parts.h"

#include <fstream>

// CHECK: } catch (const std::exception& e) {
// CHECK-NEXT: hvd::caught_in_step();
// CHECK-NEXT: std::ofstream(hvd::root_path("crash.txt")) << e.what();
int main(int, char** argv) {
  std::ifstream config(argv[0]);
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
    std::ofstream("crash.txt") << e.what();
    return config ? 1 : 2;
  }
}
//--- unseen.cpp
#include <hvd/hvd.hpp>

#include "parts.h"

#include <filesystem>
#include <fstream>

struct Numbers : hvd::data::Dataset {
  hvd::data::Example get(std::size_t index) override {
    std::ifstream in("number" + std::to_string(index));  // says: HVD2013
    double value = 0;
    in >> value;
    return {hvd::full({8}, value), hvd::zeros({}, hvd::kInt64)};
  }
  std::size_t size() const override { return 40; }
};

// CHECK: std::ofstream log(hvd::root_path("log.csv"));
int main() {
  std::ofstream log("log.csv");
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(std::make_shared<Numbers>(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
  log << "done\n";
}
