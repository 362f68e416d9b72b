// SPDX-License-Identifier: Apache-2.0
// REQUIRES: torch
// RUN: %refused_torch
// Parameters that have no name where training begins: hvdize says that it relies on all ranks making the same.
#include <torch/torch.h>

#include <vector>

struct Rows : torch::data::datasets::Dataset<Rows> {
  torch::data::Example<> get(size_t i) override { return {x[static_cast<int64_t>(i)], y[static_cast<int64_t>(i)]}; }
  torch::optional<size_t> size() const override { return 40; }
  torch::Tensor x = torch::randn({40, 5}), y = torch::randn({40, 1});
};

class Line {
 public:
  Line() {
    own_.push_back(torch::randn({5, 1}, torch::requires_grad()));
    own_.push_back(torch::zeros({1}, torch::requires_grad()));
  }
  torch::Tensor operator()(const torch::Tensor& x) const { return x.mm(own_[0]) + own_[1]; }
  void step() {
    torch::NoGradGuard guard;
    for (auto& p : own_) {
      p -= 0.1 * p.grad();  // says: HVD2019
      p.mutable_grad().zero_();
    }
  }

 private:
  std::vector<torch::Tensor> own_;
};

// CHECK: hvd::Session hvd_session(
// CHECK-NOT: hvd::broadcast
int main() {
  auto loader = torch::data::make_data_loader(Rows().map(torch::data::transforms::Stack<>()), torch::data::DataLoaderOptions(8));
  Line line;
  for (auto& batch : *loader) {
    auto loss = torch::mse_loss(line(batch.data), batch.target);
    loss.backward();
    line.step();
  }
}
