// SPDX-License-Identifier: Apache-2.0

// Steps that are noted once and repeated (hvd::StepGraph), on processes: the training of one rank that runs each step, in float64. Without a GPU
// every call runs the step, and all this holds as well.

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <vector>

#include <hvd/context.hpp>
#include <hvd/dist/batches.hpp>
#include <hvd/dist/broadcast.hpp>
#include <hvd/dist/gradients.hpp>
#include <hvd/dist/numbers.hpp>
#include <hvd/nn.hpp>
#include <hvd/optim.hpp>
#include <hvd/step_graph.hpp>

#include "check.hpp"

namespace {

using hvd::Tensor;
using Tensors = std::vector<Tensor>;
namespace F = hvd::nn::functional;

// With 7 and 15 of 16 rows some ranks have as many rows as before, and weights of their own; the one row leaves ranks without any.
constexpr std::int64_t kRows[] = {16, 16, 16, 16, 15, 16, 16, 7, 16, 16, 1, 16, 16, 15, 16};
constexpr int kRuns = 2;

Tensor inputs(std::int64_t rows, int which) {
  const Tensor x = hvd::empty({rows, 6}, hvd::TensorOptions(hvd::kFloat64).device(hvd::kCPU));
  for (std::int64_t i = 0; i < x.numel(); ++i) x.data_ptr<double>()[i] = std::sin(0.37 * static_cast<double>(i) + which);
  return x.to(hvd::default_device());
}
Tensor targets(std::int64_t rows, int which) {
  const Tensor y = hvd::empty({rows, 2}, hvd::TensorOptions(hvd::kFloat64).device(hvd::kCPU));
  for (std::int64_t i = 0; i < y.numel(); ++i) y.data_ptr<double>()[i] = std::cos(0.21 * static_cast<double>(i) + which);
  return y.to(hvd::default_device());
}

struct Trained {
  Tensors state;
  std::vector<double> losses;
  bool noted = false;
};

template <class Optimizer, class Options>
Trained train(bool together, bool overlapped, const Options& options) {
  hvd::manual_seed(7 + static_cast<std::uint64_t>(together ? hvd::rank() : 0));
  hvd::nn::Sequential net(hvd::nn::Linear(6, 32), hvd::nn::ReLU(), hvd::nn::Dropout(0.25), hvd::nn::Linear(32, 2));
  Optimizer optimizer(net->parameters(), options);
  hvd::optim::StepLR schedule(optimizer, 4, 0.7);
  if (together) hvd::broadcast(net, optimizer);
  if (together && overlapped) hvd::overlap(*net, optimizer);
  const hvd::StepGraph::Step step = [&](const Tensors& in) -> Tensors {
    optimizer.zero_grad();
    const Tensor loss = F::mse_loss(net->forward(in[0]), in[1]);
    if (together) {
      hvd::weighted(loss, hvd::LossKind::mean).backward();
      hvd::reduce_gradients(optimizer);
    } else {
      loss.backward();
    }
    optimizer.step();
    schedule.step();
    return {loss};
  };
  hvd::StepGraph graph(step, kRuns);
  Trained result;
  int which = 0;
  for (const std::int64_t rows : kRows) {
    const Tensor x = inputs(rows, which), y = targets(rows, which);
    ++which;
    if (!together) {
      result.losses.push_back(step({x, y})[0].item<double>());
      continue;
    }
    hvd::StepScope scope;
    result.losses.push_back(hvd::batch_mean(graph({hvd::shard(x), hvd::shard(y)})[0].item<double>()));
  }
  result.noted = graph.noted();
  result.state = net->parameters();
  for (const auto& entry : optimizer.state()) result.state.push_back(entry.tensor.to(hvd::kFloat64));
  return result;
}

double difference(const Tensor& a, const Tensor& b) {
  const double scale = std::max(1e-300, b.to(hvd::kFloat64).abs().max().item<double>());
  return (a.to(hvd::kFloat64) - b.to(hvd::kFloat64)).abs().max().item<double>() / scale;
}

template <class Optimizer, class Options>
void compare(const char* name, const Options& options) {
  const Trained alone = train<Optimizer>(false, false, options);
  for (const bool overlapped : {false, true}) {
    const Trained together = train<Optimizer>(true, overlapped, options);
    HVD_CHECK(together.noted == (hvd::default_device() == hvd::Device(hvd::kCUBLAS) || hvd::default_device() == hvd::Device(hvd::kCUDNN)));
    HVD_CHECK(together.state.size() == alone.state.size());
    double worst = 0;
    for (std::size_t i = 0; i < alone.state.size(); ++i) worst = std::max(worst, difference(together.state[i], alone.state[i]));
    for (std::size_t i = 0; i < alone.losses.size(); ++i)
      worst = std::max(worst, std::abs(together.losses[i] - alone.losses[i]) / std::abs(alone.losses[i]));
    if (hvd::is_root())
      std::printf("%s, %s, %s: largest relative difference %.1e\n", name, overlapped ? "overlapped" : "plain", together.noted ? "noted" : "run each time", worst);
    HVD_CHECK(worst <= 1e-10);
  }
}

}  // namespace

int main(int argc, char** argv) {
  hvd::Session session(argc, argv, hvd::Policy().batch(hvd::Batch::global));
  hvd::set_default_dtype(hvd::kFloat64);
  if (const char* device = std::getenv("HVD_TEST_DEVICE")) hvd::set_default_device(hvd::Device(device));
  compare<hvd::optim::SGD>("SGD", hvd::optim::SGDOptions(0.05).momentum(0.9));
  compare<hvd::optim::Adam>("Adam", hvd::optim::AdamOptions(0.01));
}
