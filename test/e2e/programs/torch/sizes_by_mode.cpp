// SPDX-License-Identifier: Apache-2.0
// e2e: edit=? 8 : 16 => ? {8*N} : 16; edit=size = 9; => size = {9*N};; edit=size = 7; => size = {7*N};; edit=size = 10; break => size = {10*N}; break; edit=? 5 : 11 => ? {5*N} : 11; edit=size = 6; else => size = {6*N}; else; edit=kRate = 0.02 => kRate = {0.02*N}; ranks=1,2,3; timeout=120
// form: batch size chosen by the mode of the model
// Functions that train and evaluate, and choose the size of their batches by what they are asked to do: evaluation keeps its own, and the mean over its
// batches shows it.
#include <torch/torch.h>

#include <cstdio>
#include <memory>
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

enum class Task { learn, look };

class Trainer {
 public:
  Trainer() {
    net_->to(torch::kDouble);
    optimizer_ = std::make_unique<torch::optim::SGD>(net_->parameters(), kRate);
  }
  void learns(bool on) { learns_ = on; }
  torch::nn::Linear& net() { return net_; }

  double by_model(int64_t rows) {
    const int64_t size = net_->is_training() ? 8 : 16;
    auto loader = loader_of(rows, size);
    double total = 0;
    int batches = 0;
    for (auto& batch : *loader) {
      auto loss = torch::mse_loss(net_(batch.data), batch.target);
      if (net_->is_training()) update(loss);
      total += loss.item<double>();
      ++batches;
    }
    return total / batches;
  }

  double by_member(int64_t rows) {
    int64_t size = 15;
    if (learns_) size = 9;
    auto loader = loader_of(rows, size);
    double total = 0;
    int batches = 0;
    for (auto& batch : *loader) {
      auto loss = torch::mse_loss(net_(batch.data), batch.target);
      total += loss.item<double>();
      ++batches;
      if (!learns_) continue;
      update(loss);
    }
    return total / batches;
  }

  double by_argument(int64_t rows, bool learn) {
    int64_t size;
    if (learn) {
      size = 7;
    } else {
      size = 14;
    }
    auto loader = loader_of(rows, size);
    double total = 0;
    int batches = 0;
    for (auto& batch : *loader) {
      auto loss = torch::mse_loss(net_(batch.data), batch.target);
      if (learn) update(loss);
      total += loss.item<double>();
      ++batches;
    }
    return total / batches;
  }

  double by_task(int64_t rows, Task task) {
    int64_t size = 0;
    switch (task) {
      case Task::learn: size = 10; break;
      case Task::look: size = 12; break;
    }
    auto loader = loader_of(rows, size);
    double total = 0;
    int batches = 0;
    for (auto& batch : *loader) {
      auto loss = torch::mse_loss(net_(batch.data), batch.target);
      if (task == Task::learn) update(loss);
      total += loss.item<double>();
      ++batches;
    }
    return total / batches;
  }

  double in_new_mode(int64_t rows, bool learn) {
    if (learn) net_->train();
    else net_->eval();
    auto loader = loader_of(rows, net_->is_training() ? 5 : 11);
    double total = 0;
    int batches = 0;
    for (auto& batch : *loader) {
      auto loss = torch::mse_loss(net_(batch.data), batch.target);
      if (net_->is_training()) update(loss);
      total += loss.item<double>();
      ++batches;
    }
    return total / batches;
  }

  void update(torch::Tensor loss) {
    optimizer_->zero_grad();
    loss.backward();
    optimizer_->step();
  }

 private:
  torch::nn::Linear net_{4, 1};
  std::unique_ptr<torch::optim::SGD> optimizer_;
  bool learns_ = true;
};

int main() {
  torch::manual_seed(1);
  Trainer trainer;
  for (int epoch = 0; epoch < 2; ++epoch) {
    for (const bool learn : {true, false}) {
      trainer.net()->train(learn);
      trainer.learns(learn);
      const int64_t rows = learn ? 40 : 37;
      std::printf("%.9f\n", trainer.by_model(rows));
      std::printf("%.9f\n", trainer.by_member(rows));
      std::printf("%.9f\n", trainer.by_argument(rows, learn));
      std::printf("%.9f\n", trainer.in_new_mode(rows, learn));
    }
    std::printf("%.9f\n", trainer.by_task(40, Task::learn));
    std::printf("%.9f\n", trainer.by_task(37, Task::look));
    for (const std::string phase : {"train", "held out"}) {
      int64_t size = 13;
      if (phase == "train") size = 6; else trainer.net()->eval();
      auto loader = loader_of(phase == "train" ? 40 : 37, size);
      double total = 0;
      int batches = 0;
      for (auto& batch : *loader) {
        auto loss = torch::mse_loss(trainer.net()(batch.data), batch.target);
        if (phase == "train") trainer.update(loss);
        total += loss.item<double>();
        ++batches;
      }
      std::printf("%s %.9f\n", phase.c_str(), total / batches);
    }
  }
  torch::save(trainer.net(), "trained.pt");
}
