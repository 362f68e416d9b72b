// SPDX-License-Identifier: Apache-2.0
// REQUIRES: torch
// RUN: %refused_torch
// A static member counts the samples that a data set loads: each rank loads its own. Its uses in the class are of another declaration than those behind it.
//--- counter.cpp
#include <torch/torch.h>

#include <atomic>
#include <cstdio>

class Points : public torch::data::datasets::Dataset<Points> {
 public:
  torch::data::Example<> get(size_t i) override {
    ++loaded;  // refused: HVD3012
    return {x_[static_cast<int64_t>(i)], x_[static_cast<int64_t>(i)].sum(0, true)};
  }
  torch::optional<size_t> size() const override { return x_.size(0); }

  static std::atomic<int64_t> loaded;

 private:
  torch::Tensor x_ = torch::randn({60, 4});
};
std::atomic<int64_t> Points::loaded{0};

int main() {
  auto loader = torch::data::make_data_loader<torch::data::samplers::SequentialSampler>(Points().map(torch::data::transforms::Stack<>()), 8);
  torch::nn::Linear net(4, 1);
  torch::optim::SGD opt(net->parameters(), 0.1);
  for (auto& batch : *loader) {
    auto loss = torch::mse_loss(net(batch.data), batch.target);
    opt.zero_grad();
    loss.backward();
    opt.step();
  }
  std::printf("%ld samples\n", static_cast<long>(Points::loaded.load()));
}
