// SPDX-License-Identifier: Apache-2.0
// e2e: scaled={8*N} {0.05*N}; ranks=1,2,3; timeout=60
// Batches that are there when their step begins, and whose size is to be seen where they are formed; and lists that a loop fills up to that size.
#include <torch/torch.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <utility>
#include <vector>

namespace F = torch::nn::functional;

static torch::Tensor rows() { return torch::sin(torch::arange(52 * 6, torch::kDouble) * 0.37).view({52, 6}); }
static torch::Tensor labels() { return torch::arange(52, torch::kLong).remainder(3); }

static double learn(torch::nn::Linear& net, torch::optim::SGD& optimizer, const torch::Tensor& x, const torch::Tensor& y) {
  optimizer.zero_grad();
  auto loss = F::cross_entropy(net->forward(x), y);
  loss.backward();
  optimizer.step();
  return loss.item<double>();
}

// form: a loader of the program's own that fills two tensors through references
class Reader {
 public:
  Reader(torch::Tensor x, torch::Tensor y, int64_t size) : x_(std::move(x)), y_(std::move(y)), size_(size) {}
  void restart() { at_ = 0; }
  bool next(torch::Tensor& x, torch::Tensor& y) {
    if (at_ >= x_.size(0)) return false;
    const int64_t end = std::min(at_ + size_, x_.size(0));
    x = x_.slice(0, at_, end);
    y = y_.slice(0, at_, end);
    at_ = end;
    return true;
  }

 private:
  torch::Tensor x_, y_;
  int64_t size_, at_ = 0;
};

static void filled(int64_t size, double rate) {
  Reader reader(rows(), labels(), size);
  torch::nn::Linear net(6, 3);
  torch::optim::SGD optimizer(net->parameters(), rate);
  for (int epoch = 0; epoch < 2; ++epoch) {
    reader.restart();
    torch::Tensor x, y;
    while (reader.next(x, y)) {
      optimizer.zero_grad();
      auto loss = F::cross_entropy(net->forward(x), y);
      loss.backward();
      optimizer.step();
      std::printf("filled %.9f\n", loss.item<double>());
    }
  }
}

// form: all batches in a vector of pairs, made before training by a loop that counts by their size
static void before(int64_t size, double rate) {
  const auto x = rows(), y = labels();
  std::vector<std::pair<torch::Tensor, torch::Tensor>> batches;
  for (int64_t at = 0; at < 52; at += size) {
    const int64_t end = std::min<int64_t>(at + size, 52);
    batches.emplace_back(x.slice(0, at, end), y.slice(0, at, end));
  }
  torch::nn::Linear net(6, 3);
  torch::optim::SGD optimizer(net->parameters(), rate);
  for (int epoch = 0; epoch < 2; ++epoch)
    for (auto& [xs, ys] : batches) std::printf("before %.9f\n", learn(net, optimizer, xs, ys));
}

// form: rows collected until there are as many as a batch has
static void collected(int64_t size, double rate) {
  const auto x = rows(), y = labels();
  torch::nn::Linear net(6, 3);
  torch::optim::SGD optimizer(net->parameters(), rate);
  for (int step = 0; step < 5; ++step) {
    std::vector<int64_t> drawn;
    while (static_cast<int64_t>(drawn.size()) < size) drawn.push_back(torch::randint(52, {1}, torch::kLong).item<int64_t>());
    const auto positions = torch::tensor(drawn);
    std::printf("collected %.9f\n", learn(net, optimizer, x.index_select(0, positions), y.index_select(0, positions)));
  }
}

// form: rows collected by an iterator over their order
static void iterated(int64_t size, double rate) {
  const auto x = rows(), y = labels();
  std::vector<int64_t> order(52);
  std::iota(order.begin(), order.end(), 0);
  torch::nn::Linear net(6, 3);
  torch::optim::SGD optimizer(net->parameters(), rate);
  for (auto it = order.begin(); it != order.end();) {
    std::vector<torch::Tensor> xs, ys;
    for (int64_t k = 0; k < size && it != order.end(); ++k, ++it) {
      xs.push_back(x[*it]);
      ys.push_back(y[*it]);
    }
    std::printf("iterated %.9f\n", learn(net, optimizer, torch::stack(xs), torch::stack(ys)));
  }
  torch::save(net, "net.pt");
}

int main(int argc, char** argv) {
  const int64_t size = argc > 1 ? std::atoll(argv[1]) : 8;
  const double rate = argc > 2 ? std::atof(argv[2]) : 0.05;
  torch::manual_seed(6);
  torch::set_default_dtype(caffe2::TypeMeta::Make<double>());
  filled(size, rate);
  before(size, rate);
  collected(size, rate);
  iterated(size, rate);
}
