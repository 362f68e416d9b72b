// SPDX-License-Identifier: Apache-2.0
// e2e: name=torch_measured_shares; modes=global; env=HVD_SHARES=measured:1; ranks=1,2,3; timeout=120
// e2e: name=torch_fixed_shares; modes=global; env=HVD_SHARES=1,4,2; ranks=1,3; timeout=120
// Samples that take unequally long to make, in turn those at the beginning and those at the end of the batches: shares that are measured
// change all the time, within passes too. Predictions are collected in order.
#include <torch/torch.h>

#include <chrono>
#include <cstdint>
#include <iomanip>
#include <iostream>
#include <thread>
#include <vector>

namespace data = torch::data;

constexpr size_t kBatch = 12;

struct Blobs : data::datasets::Dataset<Blobs> {
  data::Example<> get(size_t i) override {
    const bool late = i % kBatch >= kBatch / 2, late_is_slow = i / (3 * kBatch) % 2 == 0;
    if (late == late_is_slow) std::this_thread::sleep_for(std::chrono::milliseconds(2));
    const auto k = static_cast<int64_t>(i % 3);
    auto x = torch::full({4}, static_cast<double>(k) - 1.0, torch::kDouble) + 0.7 * torch::sin(torch::arange(4, torch::kDouble) * 0.8 + static_cast<double>(i));
    return {x, torch::tensor(k)};
  }
  torch::optional<size_t> size() const override { return 130; }
};

int main() {
  torch::manual_seed(7);
  torch::nn::Linear net(4, 3);
  net->to(torch::kDouble);
  torch::optim::SGD opt(net->parameters(), torch::optim::SGDOptions(0.1).momentum(0.9));
  auto loader = data::make_data_loader<data::samplers::SequentialSampler>(Blobs().map(data::transforms::Stack<>()), kBatch);
  std::cout << std::setprecision(10);
  for (int epoch = 0; epoch < 3; ++epoch) {
    double sum = 0;
    int64_t batches = 0;
    std::vector<torch::Tensor> guesses;
    for (auto& batch : *loader) {
      opt.zero_grad();
      auto scores = net(batch.data);
      auto loss = torch::nn::functional::cross_entropy(scores, batch.target);
      loss.backward();
      opt.step();
      guesses.push_back(scores.argmax(1));
      sum += loss.item<double>();
      ++batches;
    }
    const auto all = torch::cat(guesses);
    std::cout << "epoch " << epoch << ": loss " << sum / static_cast<double>(batches) << ", guesses "
              << (all * torch::arange(all.size(0))).sum().item<int64_t>() << "\n";
  }
  torch::save(net, "net.pt");
}
