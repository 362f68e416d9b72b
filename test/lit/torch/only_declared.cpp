// SPDX-License-Identifier: Apache-2.0
// REQUIRES: torch
// RUN: %refused_torch
// What is only declared may write, on every rank: each class and each function is named once.
//--- events.cpp
#include <torch/torch.h>

#include <memory>
#include <string>

class EventWriter {
 public:
  explicit EventWriter(const std::string& folder);
  ~EventWriter();
  void add_scalar(const std::string& tag, int64_t step, double value);
};
void show(double value);

// Its optimizer is a member of what it points to.
class Learner {
 public:
  explicit Learner(torch::nn::Linear net);
  ~Learner();
  double learn(const torch::Tensor& x, const torch::Tensor& y);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};
struct Learner::Impl {
  torch::nn::Linear net;
  torch::optim::SGD optimizer;
};
// CHECK: hvd::broadcast(net, impl_->optimizer);
Learner::Learner(torch::nn::Linear net) : impl_(new Impl{net, torch::optim::SGD(net->parameters(), 0.1)}) {}
Learner::~Learner() = default;
double Learner::learn(const torch::Tensor& x, const torch::Tensor& y) {
  impl_->optimizer.zero_grad();
  auto loss = torch::mse_loss(impl_->net(x), y);
  loss.backward();
  impl_->optimizer.step();
  return loss.item<double>();
}

int main() {
  auto x = torch::randn({49, 8}), y = x.slice(1, 0, 3);
  Learner learner(torch::nn::Linear(8, 3));
  EventWriter events("runs");  // says: HVD2007
  // CHECK: const double loss = learner.learn
  // CHECK-NEXT: events.add_scalar("loss", i, loss);
  for (int64_t i = 0; i < 49; i += 8) {
    const double loss = learner.learn(x.slice(0, i, i + 8), y.slice(0, i, i + 8));
    events.add_scalar("loss", i, loss);
    show(loss);  // says: HVD2007
  }
}
