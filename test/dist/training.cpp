// SPDX-License-Identifier: Apache-2.0

// A training run on processes against the same run done by each of them alone: uneven slices, fillers, accumulation, overlap,
// batch norm, in float64.

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

#include "check.hpp"

namespace {

using hvd::Tensor;
namespace F = hvd::nn::functional;

struct NetImpl : hvd::nn::Module {
  NetImpl() {
    conv = register_module("conv", hvd::nn::Conv2d(hvd::nn::Conv2dOptions(1, 4, 3).padding(1).bias(false)));
    norm = register_module("norm", hvd::nn::BatchNorm2d(4));
    hidden = register_module("hidden", hvd::nn::Linear(4 * 6 * 6, 20));
    drop = register_module("drop", hvd::nn::Dropout(0.3));
    out = register_module("out", hvd::nn::Linear(20, 5));
  }
  Tensor forward(const Tensor& x) {
    const Tensor features = norm->forward(conv->forward(x)).relu().flatten(1);
    return out->forward(drop->forward(hidden->forward(features).relu()));
  }
  std::shared_ptr<hvd::nn::Conv2dImpl> conv;
  std::shared_ptr<hvd::nn::BatchNorm2dImpl> norm;
  std::shared_ptr<hvd::nn::LinearImpl> hidden, out;
  std::shared_ptr<hvd::nn::DropoutImpl> drop;
};

constexpr std::int64_t kBatches[] = {16, 16, 7, 16, 1, 16, 3, 16, 2, 13};

Tensor images(std::int64_t rows, int which) {
  const Tensor x = hvd::empty({rows, 1, 6, 6}, hvd::kCPU);
  for (std::int64_t i = 0; i < x.numel(); ++i) x.data_ptr<double>()[i] = std::sin(0.31 * static_cast<double>(i) + which);
  return x.to(hvd::default_device());
}

Tensor labels(std::int64_t rows, int which) {
  const Tensor y = hvd::empty({rows}, hvd::TensorOptions(hvd::kInt64).device(hvd::kCPU));
  for (std::int64_t i = 0; i < rows; ++i) y.data_ptr<std::int64_t>()[i] = (3 * i + which) % 5;
  return y.to(hvd::default_device());
}

struct Trained {
  std::vector<Tensor> state;
  std::vector<double> losses;
};

// The program as its author wrote it: no rank knows of another.
Trained sequential() {
  hvd::manual_seed(11);
  NetImpl net;
  hvd::optim::SGD opt(net.parameters(), hvd::optim::SGDOptions(0.05).momentum(0.9));
  Trained result;
  int which = 0;
  for (const std::int64_t rows : kBatches) {
    opt.zero_grad();
    const Tensor loss = F::cross_entropy(net.forward(images(rows, which)), labels(rows, which));
    loss.backward();
    hvd::nn::utils::clip_grad_norm_(net.parameters(), 1.0);
    opt.step();
    result.losses.push_back(loss.item<double>());
    ++which;
  }
  result.state = net.parameters();
  for (const Tensor& t : net.buffers()) result.state.push_back(t);
  return result;
}

Trained distributed(bool overlapped) {
  hvd::manual_seed(11 + static_cast<std::uint64_t>(hvd::rank()));  // broadcast must make this the root's
  NetImpl net;
  hvd::optim::SGD opt(net.parameters(), hvd::optim::SGDOptions(0.05).momentum(0.9));
  hvd::broadcast(net, opt);
  hvd::sync_batchnorm(net);
  if (overlapped) hvd::overlap(net, opt);
  Trained result;
  int which = 0;
  for (const std::int64_t rows : kBatches) {
    hvd::StepScope step;
    const Tensor x = hvd::shard(images(rows, which)), y = hvd::shard(labels(rows, which));
    opt.zero_grad();
    const Tensor loss = F::cross_entropy(net.forward(x), y);
    hvd::weighted(loss, hvd::LossKind::mean).backward();
    hvd::reduce_gradients(opt);
    hvd::nn::utils::clip_grad_norm_(net.parameters(), 1.0);
    opt.step();
    result.losses.push_back(hvd::batch_mean(loss.item<double>()));
    ++which;
  }
  hvd::sync_buffers(net);
  result.state = net.parameters();
  for (const Tensor& t : net.buffers()) result.state.push_back(t);
  return result;
}

double difference(const Tensor& a, const Tensor& b) {
  const double scale = std::max(1e-300, b.to(hvd::kFloat64).abs().max().item<double>());
  return (a.to(hvd::kFloat64) - b.to(hvd::kFloat64)).abs().max().item<double>() / scale;
}

}  // namespace

int main(int argc, char** argv) {
  hvd::Session session(argc, argv, hvd::Policy().batch(hvd::Batch::global));
  hvd::set_default_dtype(hvd::kFloat64);
  if (const char* device = std::getenv("HVD_TEST_DEVICE")) hvd::set_default_device(hvd::Device(device));
  const Trained alone = sequential();
  for (const bool overlapped : {false, true}) {
    const Trained together = distributed(overlapped);
    double worst = 0;
    for (std::size_t i = 0; i < alone.state.size(); ++i) worst = std::max(worst, difference(together.state[i], alone.state[i]));
    for (std::size_t i = 0; i < alone.losses.size(); ++i)
      worst = std::max(worst, std::abs(together.losses[i] - alone.losses[i]) / std::abs(alone.losses[i]));
    if (hvd::is_root()) std::printf("training, %s: largest relative difference %.1e\n", overlapped ? "overlapped" : "plain", worst);
    HVD_CHECK(worst <= 1e-10);
    HVD_CHECK(alone.losses.front() > 0);
  }
}
