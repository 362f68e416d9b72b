// SPDX-License-Identifier: Apache-2.0
// e2e: edit=rows, 8, &optimizer => rows, {8*N}, &optimizer; edit=loader_of(rows, 10) => loader_of(rows, {10*N}); edit=run(rows, 6, true) => run(rows, {6*N}, true); edit=Part{rows, 9, true} => Part{rows, {9*N}, true}; edit=? 7 : 5 => ? {7*N} : 5; edit=each(net, rows, 11 => each(net, rows, {11*N}; edit=kRate = 0.02 => kRate = {0.02*N}; ranks=1,2,3; timeout=120
// Functions that train and evaluate, each with a size for its batches that the caller gives: what evaluation gets is not that of training, and the
// mean over its batches shows it.
#include <torch/torch.h>

#include <cstdio>
#include <functional>
#include <optional>
#include <string>

constexpr double kRate = 0.02;

struct Rows : torch::data::datasets::Dataset<Rows> {
  explicit Rows(int64_t n) : n_(n) {}
  torch::data::Example<> get(size_t i) override {
    auto v = torch::arange(4, torch::kDouble) * static_cast<double>(i) * 0.01;
    return {v, v.sum().unsqueeze(0).sin()};
  }
  torch::optional<size_t> size() const override { return static_cast<size_t>(n_); }
  int64_t n_;
};

auto loader_of(int64_t rows, int64_t batch) {
  return torch::data::make_data_loader<torch::data::samplers::SequentialSampler>(Rows(rows).map(torch::data::transforms::Stack<>()), batch);
}

// No optimizer: nothing is learnt.
double pass(torch::nn::Linear& net, int64_t rows, int64_t size, torch::optim::Optimizer* optimizer = nullptr) {
  auto loader = loader_of(rows, size);
  double total = 0;
  int batches = 0;
  for (auto& batch : *loader) {
    auto loss = torch::mse_loss(net(batch.data), batch.target);
    if (optimizer != nullptr) {
      optimizer->zero_grad();
      loss.backward();
      optimizer->step();
    }
    total += loss.item<double>();
    ++batches;
  }
  return total / batches;
}

struct Part {
  int64_t rows, size;
  bool learns = false;
};

double part_of(torch::nn::Linear& net, torch::optim::SGD& optimizer, const Part& part) {
  auto loader = loader_of(part.rows, part.size);
  double total = 0;
  int batches = 0;
  for (auto& batch : *loader) {
    auto loss = torch::mse_loss(net(batch.data), batch.target);
    total += loss.item<double>();
    ++batches;
    if (!part.learns) continue;
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
  }
  return total / batches;
}

double phase_of(torch::nn::Linear& net, const std::string& phase, torch::optim::SGD& optimizer) {
  const int64_t size = phase == "train" ? 7 : 5;
  auto loader = loader_of(40, size);
  double total = 0;
  int batches = 0;
  for (auto& batch : *loader) {
    auto loss = torch::mse_loss(net(batch.data), batch.target);
    if (phase != "train") {
      total += loss.item<double>();
      ++batches;
      continue;
    }
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
  }
  return batches ? total / batches : 0.0;
}

double each(torch::nn::Linear& net, int64_t rows, int64_t size, const std::function<void(torch::Tensor)>& learn) {
  auto loader = loader_of(rows, size);
  double total = 0;
  int batches = 0;
  for (auto& batch : *loader) {
    auto loss = torch::mse_loss(net(batch.data), batch.target);
    if (learn) learn(loss);
    total += loss.item<double>();
    ++batches;
  }
  return total / batches;
}

int main() {
  torch::manual_seed(1);
  const int64_t rows = 40;
  torch::nn::Linear net(4, 1);
  net->to(torch::kDouble);
  torch::optim::SGD optimizer(net->parameters(), kRate);
  std::printf("%.9f\n", pass(net, rows, 8, &optimizer));
  std::printf("%.9f\n", pass(net, rows, 3));

  auto whole = [&](auto& loader, bool train) {
    double total = 0;
    int batches = 0;
    for (auto& batch : loader) {
      auto loss = torch::mse_loss(net(batch.data), batch.target);
      if (train) {
        optimizer.zero_grad();
        loss.backward();
        optimizer.step();
      }
      total += loss.template item<double>();
      ++batches;
    }
    return total / batches;
  };
  auto train_loader = loader_of(rows, 10);
  auto held_loader = loader_of(37, 13);
  std::printf("%.9f\n", whole(*train_loader, true));
  std::printf("%.9f\n", whole(*held_loader, false));

  std::function<double(int64_t, int64_t, bool)> run = [&](int64_t n, int64_t size, bool train) {
    auto loader = loader_of(n, size);
    return whole(*loader, train);
  };
  std::printf("%.9f\n", run(rows, 6, true));
  std::printf("%.9f\n", run(37, 4, false));

  std::printf("%.9f\n", part_of(net, optimizer, Part{rows, 9, true}));
  std::printf("%.9f\n", part_of(net, optimizer, Part{37, 2, false}));
  std::printf("%.9f\n", phase_of(net, "train", optimizer));
  std::printf("%.9f\n", phase_of(net, "held out", optimizer));

  std::printf("%.9f\n", each(net, rows, 11, [&](torch::Tensor loss) {
                optimizer.zero_grad();
                loss.backward();
                optimizer.step();
              }));
  std::printf("%.9f\n", each(net, 37, 16, nullptr));
  torch::save(net, "trained.pt");
}
