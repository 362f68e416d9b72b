// SPDX-License-Identifier: Apache-2.0
// e2e: edit=kBatch = 12 => kBatch = {12*N}; edit=SGDOptions(0.05) => SGDOptions({0.05*N}); timeout=120
// Batches that are written into new tensors by hand: through an accessor, by rows, by a function, as memory; the last one with its own size.
// form: batch tensors filled by hand
#include <torch/torch.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <numeric>
#include <random>
#include <vector>

namespace F = torch::nn::functional;

constexpr int64_t kBatch = 12, kRows = 64, kWidth = 5;

struct Table {
  std::vector<double> values = std::vector<double>(kRows * kWidth);
  std::vector<int64_t> labels = std::vector<int64_t>(kRows);
  Table() {
    for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>((i * 37) % 101) / 50 - 1;
    for (size_t i = 0; i < labels.size(); ++i) labels[i] = static_cast<int64_t>((i * 7) % 3);
  }
};

void fill(torch::Tensor& rows, torch::Tensor& truth, const Table& table, const std::vector<int64_t>& order, int64_t first) {
  for (int64_t j = 0; j < rows.size(0); ++j) {
    for (int64_t k = 0; k < kWidth; ++k) rows[j][k] = table.values[order[first + j] * kWidth + k];
    truth[j] = table.labels[order[first + j]];
  }
}

int main() {
  torch::manual_seed(9);
  const Table table;
  torch::nn::Linear net(kWidth, 3);
  net->to(torch::kDouble);
  torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(0.05));
  std::vector<int64_t> order(kRows);
  std::iota(order.begin(), order.end(), 0);
  std::mt19937 engine(4);
  const auto step = [&](const torch::Tensor& rows, const torch::Tensor& truth) {
    auto loss = F::cross_entropy(net(rows), truth);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    return loss.item<double>();
  };

  for (int epoch = 0; epoch < 2; ++epoch) {
    std::shuffle(order.begin(), order.end(), engine);
    double shown = 0;
    int64_t right = 0;
    for (int64_t i = 0; i < kRows; i += kBatch) {
      const int64_t n = std::min(kBatch, kRows - i);
      auto rows = torch::empty({n, kWidth}, torch::kDouble);
      auto truth = torch::empty({n}, torch::kLong);
      auto at = rows.accessor<double, 2>();
      auto label = truth.accessor<int64_t, 1>();
      for (int64_t j = 0; j < n; ++j) {
        for (int64_t k = 0; k < kWidth; ++k) at[j][k] = table.values[order[i + j] * kWidth + k];
        label[j] = table.labels[order[i + j]];
      }
      right += (net(rows).argmax(1) == truth).sum().item<int64_t>();
      shown += step(rows, truth);
    }
    std::printf("%d %.10f %d\n", epoch, shown, static_cast<int>(right));
  }

  double shown = 0;
  for (int64_t i = 0; i + kBatch <= kRows; i += kBatch) {
    auto rows = torch::zeros({kBatch, kWidth}, torch::kDouble);
    auto truth = torch::zeros({kBatch}, torch::kLong);
    fill(rows, truth, table, order, i);
    shown += step(rows, truth);
  }
  for (int64_t i = 0; i + kBatch <= kRows; i += kBatch) {
    auto rows = torch::empty({kBatch, kWidth}, torch::kDouble);
    auto truth = torch::empty({kBatch}, torch::kLong);
    std::memcpy(rows.data_ptr<double>(), table.values.data() + i * kWidth, kBatch * kWidth * sizeof(double));
    for (int64_t j = 0; j < kBatch; ++j) truth.index_put_({j}, torch::tensor(table.labels[i + j]));
    shown += step(rows, truth);
  }
  std::printf("%.10f\n", shown);
  for (const auto& p : net->parameters()) std::printf("%.12f\n", p.sum().item<double>());
}
