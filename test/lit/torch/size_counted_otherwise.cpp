// SPDX-License-Identifier: Apache-2.0
// REQUIRES: torch
// RUN: %refused_torch
// Batches are counted with the number that is their size, rounded up: the 7 says nothing of what it means, so the size stays as it is.
#include <torch/torch.h>

#include <cstdio>

struct Points : torch::data::datasets::Dataset<Points> {
  torch::data::Example<> get(size_t i) override { return {x[static_cast<int64_t>(i)], y[static_cast<int64_t>(i)]}; }
  torch::optional<size_t> size() const override { return 60; }
  torch::Tensor x = torch::randn({60, 4}), y = torch::arange(60).remainder(4);
};

int main() {
  torch::nn::Linear net(4, 4);
  auto set = Points().map(torch::data::transforms::Stack<>());
  const size_t batches = (set.size().value() + 7) / 8;  // says: HVD2010
  auto loader = torch::data::make_data_loader(std::move(set), torch::data::DataLoaderOptions(8));
  torch::optim::SGD opt(net->parameters(), 0.05);
  double total = 0;
  for (auto& batch : *loader) {
    auto loss = torch::nn::functional::cross_entropy(net(batch.data), batch.target);
    opt.zero_grad();
    loss.backward();
    opt.step();
    total += loss.item<double>();
  }
  // CHECK-NOT: global_batch_size
  std::printf("%f\n", total / static_cast<double>(batches));
}
