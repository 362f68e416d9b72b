// SPDX-License-Identifier: Apache-2.0
// e2e: scaled={7*N} {0.02*N**0.5}; ranks=1,2,3; timeout=60
// A reader that collects rows one by one, and statistics that take the batch's labels as they are.
#include <torch/torch.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <random>
#include <vector>

namespace F = torch::nn::functional;

// form: rows collected from where the reader stands, until there are as many as a batch has or none is left
class Reader {
 public:
  Reader(torch::Tensor x, torch::Tensor y, int64_t size, bool counts) : x_(x), y_(y), size_(size), counts_(counts) {
    for (int64_t i = 0; i < x.size(0); ++i) order_.push_back(i);
  }
  void restart() {
    at_ = 0;
    std::shuffle(order_.begin(), order_.end(), engine_);
  }
  bool next(torch::Tensor& x, torch::Tensor& y) {
    const int64_t all = static_cast<int64_t>(order_.size());
    if (at_ >= all) return false;
    std::vector<torch::Tensor> xs, ys;
    if (counts_) {
      for (; at_ < all && static_cast<int64_t>(xs.size()) < size_; ++at_) {
        xs.push_back(x_[order_[at_]]);
        ys.push_back(y_[order_[at_]]);
      }
    } else {
      return gather(x, y);
    }
    x = torch::stack(xs);
    y = torch::stack(ys);
    return true;
  }

 private:
  bool gather(torch::Tensor& x, torch::Tensor& y) {
    std::vector<torch::Tensor> xs, ys;
    while (size_ > static_cast<int64_t>(ys.size()) && at_ < static_cast<int64_t>(order_.size())) {
      const int64_t i = order_[at_];
      at_ += 1;
      ys.push_back(y_[i]);
      xs.push_back(x_[i]);
    }
    x = torch::stack(xs);
    y = torch::stack(ys);
    return true;
  }

  torch::Tensor x_, y_;
  int64_t size_, at_ = 0;
  bool counts_;
  std::vector<int64_t> order_;
  std::default_random_engine engine_{5};
};

// form: labels of a batch that is whole, beside predictions of this rank's rows
static void learn(bool counts, int64_t size, double rate) {
  auto x_all = torch::randn({90, 4}), y_all = x_all.argmax(1);
  Reader reader(x_all, y_all, size, counts);
  torch::nn::Sequential net(torch::nn::Linear(4, 9), torch::nn::ReLU(), torch::nn::Linear(9, 4));
  torch::optim::Adam optimizer(net->parameters(), rate);
  auto confusion = torch::zeros({4, 4}, torch::kLong), seen = torch::zeros({4}, torch::kLong);
  for (int epoch = 0; epoch < 3; ++epoch) {
    reader.restart();
    confusion.zero_();
    torch::Tensor x, y;
    double worst = 0;
    int64_t label_sum = 0;
    while (reader.next(x, y)) {
      auto out = net->forward(x);
      auto each = F::cross_entropy(out, y, F::CrossEntropyFuncOptions().reduction(torch::kNone));
      auto loss = each.mean();
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
      confusion.index_put_({y, out.argmax(1)}, torch::ones({y.size(0)}, torch::kLong), true);
      seen.scatter_add_(0, y, torch::ones_like(y));
      for (int64_t i = 0; i < y.size(0); ++i) label_sum += y[i].item<int64_t>() * (i + 1);
      worst = std::max(worst, each.max().item<double>());
    }
    std::cout << confusion << "\n" << seen << "\n";
    std::printf("%d %.9f %ld\n", epoch, worst, static_cast<long>(label_sum));
  }
}

int main(int argc, char** argv) {
  const int64_t size = argc > 1 ? std::atoll(argv[1]) : 7;
  const double rate = argc > 2 ? std::atof(argv[2]) : 0.02;
  torch::manual_seed(2);
  torch::set_default_dtype(caffe2::TypeMeta::Make<double>());
  learn(true, size, rate);
  learn(false, size, rate);
}
