// SPDX-License-Identifier: Apache-2.0
// RUN: %golden
// A rate that is kept in a file, and read back when the program goes on: scaled once.
//--- bytes.cpp
#include <cstdio>
#include <fstream>
#include <string>

#include <hvd/hvd.hpp>

#include "parts.h"

// CHECK: double rate = hvd::scaled_lr(0.1);
// CHECK: hvd::optim::SGDOptions(rate)
// CHECK-NOT: scaled_lr
int main() {
  Net net;
  double rate = 0.1;
  std::ifstream in("rate.bin");
  if (in) in.read(reinterpret_cast<char*>(&rate), sizeof rate);
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(rate));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
  rate *= 0.5;
  std::ofstream out("rate.bin");
  out.write(reinterpret_cast<const char*>(&rate), sizeof rate);
}
//--- line.cpp
#include <cstdio>
#include <fstream>
#include <string>

#include <hvd/hvd.hpp>

#include "parts.h"

// CHECK: double rate = hvd::scaled_lr(0.1);
// CHECK: rate = std::stod(line);
// CHECK: hvd::optim::SGDOptions(rate)
// CHECK-NOT: scaled_lr
int main() {
  Net net;
  double rate = 0.1;
  std::ifstream in("rate.txt");
  std::string line;
  if (std::getline(in, line)) rate = std::stod(line);
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(rate));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
  rate *= 0.5;
  std::ofstream out("rate.txt");
  out << std::to_string(rate) << "\n";
}
//--- text.cpp
#include <cstdio>
#include <fstream>
#include <string>

#include <hvd/hvd.hpp>

#include "parts.h"

// CHECK: double rate = hvd::scaled_lr(0.1);
// CHECK: rate = std::atof(text);
// CHECK: hvd::optim::SGDOptions(rate)
// CHECK-NOT: scaled_lr
int main() {
  Net net;
  double rate = 0.1;
  char text[64];
  if (FILE* in = std::fopen("rate.txt", "r")) {
    if (std::fgets(text, 64, in)) rate = std::atof(text);
    std::fclose(in);
  }
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(rate));
  auto loader = hvd::data::make_data_loader(samples(), hvd::data::DataLoaderOptions(10));
  for (auto& batch : *loader) {
    opt.zero_grad();
    loss_of(net, batch).backward();
    opt.step();
  }
  rate *= 0.5;
  std::snprintf(text, sizeof text, "%.17g", rate);
  FILE* out = std::fopen("rate.txt", "w");
  std::fputs(text, out);
  std::fclose(out);
}
