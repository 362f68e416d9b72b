// SPDX-License-Identifier: Apache-2.0
// e2e: scaled={8*N} {0.05*N}; ranks=1,2,3; timeout=60
// Samples are collected one by one, and a step is made whenever there are enough.
#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <utility>
#include <vector>

namespace F = torch::nn::functional;

struct Sample {
  std::vector<double> values;
  int64_t label;
};

static std::pair<torch::Tensor, torch::Tensor> collate(const std::vector<Sample>& samples) {
  std::vector<torch::Tensor> xs;
  std::vector<int64_t> ys;
  for (const auto& sample : samples) {
    xs.push_back(torch::tensor(sample.values));
    ys.push_back(sample.label);
  }
  return {torch::stack(xs), torch::tensor(ys)};
}

static std::vector<Sample> samples() {
  std::vector<Sample> all;
  for (int i = 0; i < 90; ++i) all.push_back({{std::sin(i), std::cos(i), i / 90.0}, i % 3});
  return all;
}

// form: samples collected in a list that is put together whenever it is full, the rest left out
static void full(int64_t size, double rate) {
  auto all = samples();
  std::mt19937 engine(4);
  torch::nn::Linear net(3, 3);
  torch::optim::SGD optimizer(net->parameters(), rate);
  for (int epoch = 0; epoch < 2; ++epoch) {
    std::shuffle(all.begin(), all.end(), engine);
    std::vector<Sample> chunk;
    double sum = 0;
    int steps = 0;
    for (const auto& sample : all) {
      chunk.push_back(sample);
      if (static_cast<int64_t>(chunk.size()) < size) continue;
      auto [x, y] = collate(chunk);
      optimizer.zero_grad();
      auto loss = F::cross_entropy(net->forward(x), y);
      loss.backward();
      optimizer.step();
      sum += loss.item<double>();
      ++steps;
      chunk.clear();
    }
    std::printf("full %d %.9f\n", steps, sum / steps);
  }
}

// form: rows collected in two lists for a step in a lambda, and one more step for those that are left
static void rest(int64_t size, double rate) {
  const auto x_all = torch::randn({90, 4}), y_all = x_all.argmax(1);
  torch::nn::Linear net(4, 4);
  torch::optim::SGD optimizer(net->parameters(), rate);
  auto learn = [&](std::vector<torch::Tensor>& xs, std::vector<torch::Tensor>& ys) {
    auto x = torch::stack(xs), y = torch::stack(ys);
    optimizer.zero_grad();
    auto loss = F::cross_entropy(net->forward(x), y);
    loss.backward();
    optimizer.step();
    xs.clear();
    ys.clear();
    return loss.item<double>();
  };
  for (int epoch = 0; epoch < 2; ++epoch) {
    std::vector<torch::Tensor> xs, ys;
    double sum = 0;
    int steps = 0;
    auto order = torch::randperm(90);
    for (int64_t i = 0; i < 90; ++i) {
      xs.push_back(x_all[order[i].item<int64_t>()]);
      ys.push_back(y_all[order[i].item<int64_t>()]);
      if (static_cast<int64_t>(xs.size()) == size) {
        sum += learn(xs, ys);
        ++steps;
      }
    }
    if (!xs.empty()) {
      sum += learn(xs, ys);
      ++steps;
    }
    std::printf("rest %d %.9f\n", steps, sum / steps);
  }
}

// form: rows collected until the list is full or the last one is in
static void last(int64_t size, double rate) {
  const auto x_all = torch::randn({53, 4}), y_all = x_all.argmax(1);
  torch::nn::Linear net(4, 4);
  torch::optim::SGD optimizer(net->parameters(), rate);
  std::vector<int64_t> positions;
  for (int epoch = 0; epoch < 2; ++epoch)
    for (int64_t i = 0; i < 53; ++i) {
      positions.push_back((i * 20 + epoch) % 53);
      if (static_cast<int64_t>(positions.size()) >= size || i + 1 == 53) {
        auto at = torch::tensor(positions);
        optimizer.zero_grad();
        auto loss = F::cross_entropy(net->forward(x_all.index_select(0, at)), y_all.index_select(0, at));
        loss.backward();
        optimizer.step();
        std::printf("last %.9f\n", loss.item<double>());
        positions.clear();
      }
    }
}

int main(int argc, char** argv) {
  const int64_t size = argc > 1 ? std::atoll(argv[1]) : 8;
  const double rate = argc > 2 ? std::atof(argv[2]) : 0.05;
  torch::manual_seed(2);
  torch::set_default_dtype(caffe2::TypeMeta::Make<double>());
  full(size, rate);
  rest(size, rate);
  last(size, rate);
}
