// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
// What only one process knows or writes: addresses, clocks that are read through pointers, entropy in files, descriptors, output before main.

//--- clocks.cpp
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include <hvd/hvd.hpp>

#include "parts.h"

int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  int here = 0;
  // CHECK: std::srand(hvd::shared_seed(static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(&here))));
  std::srand(static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(&here)));
  // CHECK: const int log = open(hvd::root_path("log.txt"), O_WRONLY | O_CREAT | O_TRUNC, 0644);
  // CHECK-NEXT: const int data = open("data.bin", O_RDONLY);
  const int log = open("log.txt", O_WRONLY | O_CREAT | O_TRUNC, 0644);
  const int data = open("data.bin", O_RDONLY);
  // What lies in memory that is aligned by hand is the same in every process, other than the number on the way there.
  static char memory[80] = {};
  const int* const aligned = reinterpret_cast<const int*>((reinterpret_cast<std::uintptr_t>(memory) + 15) & ~15);
  timespec begin, now;
  clock_gettime(CLOCK_MONOTONIC, &begin);
  for (int epoch = 0; epoch < 3; ++epoch) {
    for (auto& batch : *loader) {
      opt.zero_grad();
      loss_of(net, batch).backward();
      opt.step();
    }
    clock_gettime(CLOCK_MONOTONIC, &now);
    // CHECK: if (hvd::is_root()) std::printf("%s\n", now.tv_sec - begin.tv_sec > 10 ? "slow" : "fast");
    std::printf("%s\n", now.tv_sec - begin.tv_sec > 10 ? "slow" : "fast");
    // CHECK: if (*aligned > 3) break;
    // CHECK-NEXT: if (hvd::agree(reinterpret_cast<std::uintptr_t>(aligned) % 64 > 70)) break;
    if (*aligned > 3) break;
    if (reinterpret_cast<std::uintptr_t>(aligned) % 64 > 70) break;
    // CHECK: if (hvd::agree(now.tv_sec - begin.tv_sec > 100)) break;
    if (now.tv_sec - begin.tv_sec > 100) break;
  }
  close(log);
  close(data);
}

//--- entropy.cpp
#include <fstream>
#include <random>

#include <hvd/hvd.hpp>

#include "parts.h"

int main() {
  unsigned seed = 0;
  std::ifstream device("/dev/urandom", std::ios::binary);  // refused: HVD3012
  device.read(reinterpret_cast<char*>(&seed), sizeof seed);
  std::mt19937 rng(seed);
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
    if (rng() % 7 == 0) break;
  }
}

//--- before_main.cpp
#include <cstdio>
#include <iostream>

#include <hvd/hvd.hpp>

#include "parts.h"

struct Banner {
  Banner() { greet(); }
  void greet() { std::cout << "trainer\n"; }  // refused: HVD3020
  ~Banner() { std::puts("done"); }
};
Banner banner;

int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
}

//--- listing.cpp
#include <algorithm>
#include <filesystem>
#include <string>

#include <hvd/hvd.hpp>

#include "parts.h"

int newest() {
  int last = -1;
  for (const auto& entry : std::filesystem::directory_iterator("saved")) last = std::max(last, std::stoi(entry.path().stem().string()));
  return last;
}

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
    // The others list the folder when the root has written.
    // CHECK: const auto hvd_path = "saved/" + std::to_string(newest() + 1) + ".safetensors";
    // CHECK-NEXT: hvd::from_root([&] { hvd::save(net, hvd_path); });
    hvd::save(net, "saved/" + std::to_string(newest() + 1) + ".safetensors");
  }
}

//--- kept_function.cpp
#include <cstdio>

#include <hvd/hvd.hpp>

#include "parts.h"

int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  auto print = &std::printf;  // refused: HVD3020
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
    print("a step\n");
  }
}

//--- console_buffers.cpp
#include <fstream>
#include <iostream>

#include <hvd/hvd.hpp>

#include "parts.h"

int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  // CHECK: std::ostream screen(hvd::root_stream(std::cout).rdbuf());
  std::ostream screen(std::cout.rdbuf());
  std::ofstream file("log.txt");
  // CHECK: auto* before = hvd::root_stream(std::cout).rdbuf();
  // CHECK-NEXT: std::cout.rdbuf(file.rdbuf());
  auto* before = std::cout.rdbuf();
  std::cout.rdbuf(file.rdbuf());
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
    screen << "a step\n";
  }
  std::cout.rdbuf(before);
}

//--- console_buffer_kept.cpp
#include <fstream>
#include <iostream>

#include <hvd/hvd.hpp>

#include "parts.h"

int main() {
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  std::ofstream file("log.txt");
  auto* before = std::cout.rdbuf(file.rdbuf());
  std::ostream screen(before);  // refused: HVD3020
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
    screen << "a step\n";
  }
}
