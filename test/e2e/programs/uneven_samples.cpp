// SPDX-License-Identifier: Apache-2.0
// e2e: name=measured_shares; modes=global; env=HVD_SHARES=measured:1; ranks=1,2,3; timeout=90
// e2e: name=measured_shares_checked; modes=global; env=HVD_SHARES=measured:2; env=HVD_CHECK=1; ranks=2; timeout=90
// Samples that take unequally long to make, in turn those at the beginning and those at the end of the batches: shares that are measured
// change all the time, within passes too. Predictions are collected in order.
#include <hvd/hvd.hpp>

#include <chrono>
#include <cmath>
#include <iomanip>
#include <iostream>
#include <memory>
#include <thread>
#include <vector>

using hvd::Tensor;
namespace nn = hvd::nn;
namespace F = hvd::nn::functional;

constexpr size_t kBatch = 12;

class Points : public hvd::data::Dataset {
 public:
  hvd::data::Example get(size_t i) override {
    const bool late = i % kBatch >= kBatch / 2, late_is_slow = i / (3 * kBatch) % 2 == 0;
    if (late == late_is_slow) std::this_thread::sleep_for(std::chrono::milliseconds(2));
    const double a = std::sin(0.7 * static_cast<double>(i)), b = std::cos(1.3 * static_cast<double>(i));
    return {hvd::tensor({a, b}, hvd::kFloat64), hvd::tensor(static_cast<int64_t>(a > b))};
  }
  size_t size() const override { return 130; }
};

struct NetImpl : nn::Module {
  NetImpl() {
    a = register_module("a", nn::Linear(2, 8));
    b = register_module("b", nn::Linear(8, 2));
  }
  Tensor forward(const Tensor& x) { return b->forward(a->forward(x).tanh()); }
  nn::Linear a{nullptr}, b{nullptr};
};
HVD_MODULE(Net);

int main() {
  hvd::set_default_dtype(hvd::kFloat64);
  hvd::manual_seed(3);
  Net net;
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1).momentum(0.9));
  auto loader = hvd::data::make_data_loader<hvd::data::SequentialSampler>(std::make_shared<Points>(), hvd::data::DataLoaderOptions(kBatch));
  std::cout << std::setprecision(10);
  for (int epoch = 0; epoch < 3; ++epoch) {
    double sum = 0;
    std::vector<Tensor> guesses;
    for (auto& batch : *loader) {
      const Tensor scores = net->forward(batch.data);
      const Tensor loss = F::cross_entropy(scores, batch.target);
      opt.zero_grad();
      loss.backward();
      opt.step();
      guesses.push_back(scores.argmax(1));
      sum += loss.item<double>();
    }
    const Tensor all = hvd::cat(guesses, 0);
    std::cout << "epoch " << epoch << ": loss " << sum / static_cast<double>(loader->size()) << ", guesses "
              << (all * hvd::arange(all.size(0))).sum().item<int64_t>() << "\n";
  }
  hvd::save(net, "net.safetensors");
}
