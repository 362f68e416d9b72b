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
//--- loaders_in_an_array.cpp
// Which of the objects trains is not seen, and one has a size for evaluation.
#include <torch/torch.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>

using torch::Tensor;

class Rows {
 public:
  Rows(Tensor x, Tensor y, int64_t rows) : x_(x), y_(y), rows_(rows) {}
  bool next(Tensor& x, Tensor& y) {
    if (at_ >= x_.size(0)) return at_ = 0, false;
    x = x_.slice(0, at_, std::min(at_ + rows_, x_.size(0)));
    y = y_.slice(0, at_, std::min(at_ + rows_, x_.size(0)));
    at_ += rows_;
    return true;
  }

 private:
  Tensor x_, y_;
  int64_t rows_, at_ = 0;
};

int main(int argc, char** argv) {
  // CHECK: hvd::Session hvd_session(argc, argv, hvd::Policy().batch(hvd::Batch::global_only));
  const int64_t rows = argc > 1 ? std::atoi(argv[1]) : 8;
  torch::nn::Linear net(4, 1);
  torch::optim::SGD optimizer(net->parameters(), 0.05);
  std::array<Rows, 2> sets{Rows(torch::randn({48, 4}), torch::randn({48, 1}), rows), Rows(torch::randn({40, 4}), torch::randn({40, 1}), 16)};  // says: HVD2010
  Rows &train = sets[0], &held = sets[1];
  for (int epoch = 0; epoch < 3; ++epoch) {
    Tensor x, y;
    while (train.next(x, y)) {
      optimizer.zero_grad();
      torch::mse_loss(net(x), y).backward();
      optimizer.step();
    }
    torch::NoGradGuard guard;
    double sum = 0;
    int count = 0;
    for (; held.next(x, y); ++count) sum += torch::mse_loss(net(x), y).item<double>();
    std::printf("%d %.9f\n", epoch, sum / count);
  }
  return 0;
}
//--- part_of_all_rows.cpp
// A size that is made from the number of all rows, which the positions are wrapped by.
#include <torch/torch.h>

#include <vector>

int main() {
  const auto x = torch::randn({48, 4}), y = torch::randn({48, 1});
  // CHECK: const int64_t n = x.size(0), rows = hvd::global_batch_size(n / 6);
  const int64_t n = x.size(0), rows = n / 6;
  torch::nn::Linear net(4, 1);
  torch::optim::SGD optimizer(net->parameters(), 0.05);
  for (int64_t step = 0; step < 9; ++step) {  // says: HVD2005
    std::vector<int64_t> drawn;
    for (int64_t k = 0; k < rows; ++k) drawn.push_back((step * 7 + k) % n);
    const auto at = torch::tensor(drawn);
    optimizer.zero_grad();
    torch::mse_loss(net(x.index_select(0, at)), y.index_select(0, at)).backward();
    optimizer.step();
  }
}
