// SPDX-License-Identifier: Apache-2.0

// Loss scaling and 16 bits on processes: ranks decide alike on the reduced gradient, and keep the scale and the parameters the same.

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <vector>

#include <hvd/amp.hpp>
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

constexpr std::int64_t kRows = 11;  // uneven slices on 2 and 4 ranks
constexpr int kBatches = 9;
constexpr int kPoisoned[] = {2, 5};  // batches with a row whose scaled gradient is not finite

struct Run {
  std::vector<Tensor> parameters;
  std::vector<double> scales;
  int left_out = 0;
};

Tensor inputs(int batch, double large) {
  const Tensor x = hvd::empty({kRows, 6}, hvd::TensorOptions(hvd::kFloat64).device(hvd::kCPU));
  for (std::int64_t i = 0; i < x.numel(); ++i) x.data_ptr<double>()[i] = std::sin(0.37 * static_cast<double>(i) + batch);
  if (std::count(std::begin(kPoisoned), std::end(kPoisoned), batch)) x.data_ptr<double>()[(batch * 3 % kRows) * 6] = large;
  return x.to(hvd::default_device(), hvd::default_dtype());
}

Tensor targets(int batch) {
  const Tensor y = hvd::empty({kRows, 2}, hvd::TensorOptions(hvd::kFloat64).device(hvd::kCPU));
  for (std::int64_t i = 0; i < y.numel(); ++i) y.data_ptr<double>()[i] = std::cos(0.21 * static_cast<double>(i) + batch);
  return y.to(hvd::default_device(), hvd::default_dtype());
}

/// The same steps alone and together; `low`: products in this dtype.
Run train(bool together, hvd::Dtype low, double scale, double large) {
  hvd::manual_seed(5);
  hvd::nn::Sequential net(hvd::nn::Linear(6, 8), hvd::nn::ReLU(), hvd::nn::Linear(8, 2));
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.05).momentum(0.9));
  hvd::amp::GradScaler scaler(hvd::amp::GradScalerOptions().init_scale(scale).growth_interval(2));
  if (together) hvd::broadcast(net, opt);
  Run run;
  for (int batch = 0; batch < kBatches; ++batch) {
    std::unique_ptr<hvd::StepScope> step;
    Tensor x = inputs(batch, large), y = targets(batch);
    if (together) {
      step = std::make_unique<hvd::StepScope>();
      x = hvd::shard(x);
      y = hvd::shard(y);
    }
    opt.zero_grad();
    Tensor loss;
    {
      const hvd::amp::AutocastGuard autocast(low);
      loss = F::mse_loss(net->forward(x), y);
    }
    if (together) {
      hvd::weighted(scaler.scale(loss), hvd::LossKind::mean).backward();
      hvd::reduce_gradients(opt);
    } else {
      scaler.scale(loss).backward();
    }
    run.left_out += !scaler.step(opt);
    scaler.update();
    run.scales.push_back(scaler.get_scale());
  }
  run.parameters = net->parameters();
  return run;
}

double difference(const Tensor& a, const Tensor& b) {
  return (a.to(hvd::kFloat64) - b.to(hvd::kFloat64)).abs().max().item<double>() / b.to(hvd::kFloat64).abs().max().item<double>();
}

void compare(hvd::Dtype dtype, hvd::Dtype low, double scale, double large, double tolerance) {
  hvd::set_default_dtype(dtype);
  const Run alone = train(false, low, scale, large), together = train(true, low, scale, large);
  HVD_CHECK(alone.left_out == 2);
  HVD_CHECK(together.left_out == 2);
  HVD_CHECK(together.scales == alone.scales);
  double worst = 0;
  for (std::size_t i = 0; i < alone.parameters.size(); ++i) {
    worst = std::max(worst, difference(together.parameters[i], alone.parameters[i]));
    // The same bits on all ranks.
    const Tensor mine_all = together.parameters[i].to(hvd::kFloat64).cpu().clone();
    for (std::int64_t k = 0; k < mine_all.numel(); ++k) {
      const double mine = mine_all.data_ptr<double>()[k];
      double sum = mine;
      hvd::all_reduce_sum(sum);
      HVD_CHECK(sum == mine * hvd::size());
    }
  }
  if (hvd::is_root())
    std::printf("%s, products in %s: largest relative difference %.1e\n", hvd::dtype_name(dtype), hvd::dtype_name(low), worst);
  HVD_CHECK(worst <= tolerance);
}

/// Parameters that are stored in 16 bits: their gradients are reduced in float32.
void sixteen_bit_parameters(hvd::Dtype dtype) {
  hvd::set_default_dtype(hvd::kFloat32);
  hvd::manual_seed(9 + static_cast<std::uint64_t>(hvd::rank()));
  hvd::nn::Linear net(6, 2);
  net->to(dtype);
  hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.05));
  hvd::broadcast(net, opt);
  hvd::nn::Linear copy(6, 2);
  copy->weight.set_data(net->weight.detach().to(hvd::kFloat32));
  copy->bias.set_data(net->bias.detach().to(hvd::kFloat32));
  F::mse_loss(copy->forward(inputs(0, 0)), targets(0)).backward();
  {
    hvd::StepScope step;
    const Tensor x = hvd::shard(inputs(0, 0)).to(dtype), y = hvd::shard(targets(0)).to(dtype);
    hvd::weighted(F::mse_loss(net->forward(x), y), hvd::LossKind::mean).backward();
    hvd::reduce_gradients(opt);
  }
  HVD_CHECK(net->weight.grad().dtype() == dtype);
  HVD_CHECK(difference(net->weight.grad(), copy->weight.grad()) <= 0.03);
  HVD_CHECK(difference(net->bias.grad(), copy->bias.grad()) <= 0.03);
}

}  // namespace

int main(int argc, char** argv) {
  hvd::Session session(argc, argv, hvd::Policy().batch(hvd::Batch::global));
  if (const char* device = std::getenv("HVD_TEST_DEVICE")) hvd::set_default_device(hvd::Device(device));
  compare(hvd::kFloat64, hvd::kBFloat16, 0x1p60, 1e150, 1e-10);
  compare(hvd::kFloat32, hvd::kBFloat16, 0x1p40, 1e17, 0.05);
  compare(hvd::kFloat32, hvd::kFloat16, 0x1p8, 6e4, 0.01);
  sixteen_bit_parameters(hvd::kBFloat16);
  sixteen_bit_parameters(hvd::kFloat16);
}
