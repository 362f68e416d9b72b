// SPDX-License-Identifier: Apache-2.0
// REQUIRES: torch
// RUN: %refused_torch
// A function that trains and evaluates, and a size for its batches of which is not seen whether evaluation gets it: it must not follow the number of ranks.
//--- mode.cpp
#include <torch/torch.h>

#include <algorithm>
#include <cstdio>

double pass(torch::nn::Linear& net, torch::optim::SGD& opt, const torch::Tensor& x, bool learn) {
  // CHECK: const int64_t size = net->is_training() ? 8 : 16;
  const int64_t size = net->is_training() ? 8 : 16;  // says: HVD2010
  double total = 0;
  int batches = 0;
  for (int64_t i = 0; i < 48; i += size) {
    auto loss = net(x.slice(0, i, std::min(i + size, int64_t{48}))).pow(2).mean();
    if (learn) {
      opt.zero_grad();
      loss.backward();
      opt.step();
    }
    total += loss.item<double>();
    ++batches;
  }
  return total / batches;
}

// CHECK: int main() {
// CHECK-NEXT: hvd::Session hvd_session(hvd::Policy().batch(hvd::Batch::global_only));
int main() {
  auto x = torch::randn({48, 4});
  torch::nn::Linear net(4, 1);
  torch::optim::SGD opt(net->parameters(), 0.1);
  std::printf("%f\n", pass(net, opt, x, true));
  net->eval();
  std::printf("%f\n", pass(net, opt, x, false));
}

//--- table.cpp
#include <torch/torch.h>

#include <algorithm>
#include <cstdio>

const int64_t sizes[] = {16, 8};

double pass(torch::nn::Linear& net, torch::optim::SGD& opt, const torch::Tensor& x, bool learn) {
  // CHECK: const int64_t size = sizes[learn];
  const int64_t size = sizes[learn];  // says: HVD2010
  double total = 0;
  int batches = 0;
  for (int64_t i = 0; i < 48; i += size) {
    auto loss = net(x.slice(0, i, std::min(i + size, int64_t{48}))).pow(2).mean();
    if (learn) {
      opt.zero_grad();
      loss.backward();
      opt.step();
    }
    total += loss.item<double>();
    ++batches;
  }
  return total / batches;
}

// CHECK: hvd::Session hvd_session(hvd::Policy().batch(hvd::Batch::global_only));
int main() {
  auto x = torch::randn({48, 4});
  torch::nn::Linear net(4, 1);
  torch::optim::SGD opt(net->parameters(), 0.1);
  std::printf("%f\n", pass(net, opt, x, true));
  std::printf("%f\n", pass(net, opt, x, false));
}

//--- once.cpp
#include <torch/torch.h>

#include <algorithm>
#include <cstdio>

double pass(torch::nn::Linear& net, torch::optim::SGD& opt, const torch::Tensor& x, int64_t size, bool learn) {
  double total = 0;
  int batches = 0;
  for (int64_t i = 0; i < 48; i += size) {
    auto loss = net(x.slice(0, i, std::min(i + size, int64_t{48}))).pow(2).mean();
    if (learn) {
      opt.zero_grad();
      loss.backward();
      opt.step();
    }
    total += loss.item<double>();
    ++batches;
  }
  return total / batches;
}

int main(int argc, char** argv) {
  (void)argv;
  // CHECK: const int64_t size = hvd::global_batch_size(argc > 1 ? 8 : 16);
  const int64_t size = argc > 1 ? 8 : 16;  // decided once: says: HVD1014
  auto x = torch::randn({48, 4});
  torch::nn::Linear net(4, 1);
  torch::optim::SGD opt(net->parameters(), 0.1);
  std::printf("%f\n", pass(net, opt, x, size, true));
  std::printf("%f\n", pass(net, opt, x, size, false));
}
