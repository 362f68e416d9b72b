// SPDX-License-Identifier: Apache-2.0
// REQUIRES: torch
// RUN: %refused_torch
// The size of the batches, written once more: where it counts batches of the data it is multiplied as well, where it may be anything hvdize says so.
#include <torch/torch.h>

#include <cstdio>

constexpr int64_t kRows = 256;

struct Points : torch::data::datasets::Dataset<Points> {
  torch::data::Example<> get(size_t i) override { return {x[static_cast<int64_t>(i)], y[static_cast<int64_t>(i)]}; }
  torch::optional<size_t> size() const override { return kRows; }
  torch::Tensor x = torch::randn({kRows, 8}), y = torch::arange(kRows).remainder(8);
};

int main() {
  torch::nn::Linear net(8, 8);  // widths
  auto loader = torch::data::make_data_loader(Points().map(torch::data::transforms::Stack<>()), torch::data::DataLoaderOptions(8));
  torch::optim::SGD opt(net->parameters(), 0.05);
  // CHECK: const int64_t batches = kRows / hvd::global_batch_size(8);
  const int64_t batches = kRows / 8;
  double total = 0;
  int64_t step = 0, next_log = 8, seen = 0;
  for (auto& batch : *loader) {
    auto loss = torch::nn::functional::cross_entropy(net(batch.data), batch.target);
    opt.zero_grad();
    loss.backward();
    opt.step();
    total += loss.item<double>() * 8;  // says: HVD2020
    // CHECK: seen += hvd::global_batch_size(8);
    seen += 8;
    // CHECK: if (++step == next_log) next_log += 8;
    if (++step == next_log) next_log += 8;  // says: HVD2020
  }
  std::printf("%ld of %ld: %f, %d\n", static_cast<long>(seen), static_cast<long>(batches), total, 2560 / 8);  // says: HVD2020
}
