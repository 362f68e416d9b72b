// SPDX-License-Identifier: Apache-2.0

// A training run whose messages can be counted beforehand, for trace.py: two epochs of five batches. "slow": rank 1 takes its time in
// every batch; "throw": it fails in the second epoch.

#include <chrono>
#include <cmath>
#include <stdexcept>
#include <string>
#include <thread>

#include <hvd/data.hpp>
#include <hvd/dist/broadcast.hpp>
#include <hvd/dist/gradients.hpp>
#include <hvd/dist/numbers.hpp>
#include <hvd/dist/sharded.hpp>
#include <hvd/dist/steps.hpp>
#include <hvd/nn.hpp>
#include <hvd/optim.hpp>
#include <hvd/random.hpp>

#include "check.hpp"

namespace {

namespace data = hvd::data;
namespace F = hvd::nn::functional;

constexpr std::int64_t kSamples = 40, kBatch = 8;

data::datasets::TensorDataset samples() {
  const hvd::Tensor x = hvd::empty({kSamples, 32}), y = hvd::empty({kSamples}, hvd::kInt64);
  for (std::int64_t i = 0; i < x.numel(); ++i) x.data_ptr<float>()[i] = std::sin(0.7f * static_cast<float>(i));
  for (std::int64_t i = 0; i < kSamples; ++i) y.data_ptr<std::int64_t>()[i] = i % 10;
  return {x, y};
}

}  // namespace

int main(int argc, char** argv) {
  hvd::Session session(argc, argv, hvd::Policy().batch(hvd::Batch::global));
  const std::string fault = argc > 1 ? argv[1] : "";
  hvd::manual_seed(1);
  hvd::nn::Linear first(32, 64), second(64, 10);
  std::vector<hvd::Tensor> parameters = first->parameters();
  for (const hvd::Tensor& p : second->parameters()) parameters.push_back(p);
  hvd::optim::SGD optimizer(parameters, hvd::optim::SGDOptions(0.1));
  hvd::broadcast(first, second, optimizer);
  auto loader = data::make_data_loader<hvd::Sharded<data::SequentialSampler>>(samples(), static_cast<std::size_t>(kBatch));
  double loss = 0;
  for (int epoch = 0; epoch < 2; ++epoch) {
    for (data::Batch& batch : hvd::steps(*loader)) {
      if (hvd::rank() == 1 && fault == "slow") std::this_thread::sleep_for(std::chrono::milliseconds(30));
      if (hvd::rank() == 1 && fault == "throw" && epoch == 1) throw std::runtime_error("no data for the second epoch");
      optimizer.zero_grad();
      const hvd::Tensor error = F::cross_entropy(second->forward(first->forward(batch.data).relu()), batch.target);
      hvd::weighted(error, hvd::LossKind::mean).backward();
      hvd::reduce_gradients(optimizer);
      optimizer.step();
      loss = hvd::batch_mean(error.item<double>());
    }
  }
  HVD_CHECK(std::isfinite(loss) && loss > 0);
}
