// SPDX-License-Identifier: Apache-2.0
//
// 16-bit formats, autocast and loss scaling. The operations in 16 bits are checked with all others (core_operations.cpp, core_random_shapes.cpp).
#include "test/unit/core_support.hpp"

#include <hvd/amp.hpp>
#include <hvd/checkpoint.hpp>

#include <bit>
#include <cstdio>
#include <limits>

namespace core_precision_test {
namespace {

using core_tests::Defaults;
using core_tests::difference;
using hvd::BFloat16;
using hvd::Half;
using hvd::Tensor;
using hvd::amp::AutocastGuard;
using hvd::amp::GradScaler;
using hvd::amp::GradScalerOptions;
namespace F = hvd::nn::functional;

/// What the bits mean, by the definition of a format with so many bits of exponent and fraction.
double meaning(uint16_t bits, int exponent_bits, int fraction_bits) {
  const int bias = (1 << (exponent_bits - 1)) - 1, exponent = bits >> fraction_bits & ((1 << exponent_bits) - 1);
  const int fraction = bits & ((1 << fraction_bits) - 1);
  const double sign = bits & 0x8000 ? -1 : 1;
  if (exponent == (1 << exponent_bits) - 1) return fraction ? std::nan("") : sign * INFINITY;
  if (exponent == 0) return sign * std::ldexp(fraction, 1 - bias - fraction_bits);
  return sign * std::ldexp(fraction + (1 << fraction_bits), exponent - bias - fraction_bits);
}

template <class T>
T of_bits(uint16_t bits) {
  T value;
  value.bits = bits;
  return value;
}

template <class T>
void expect_every_pattern(int exponent_bits, int fraction_bits) {
  for (int i = 0; i < 0x10000; ++i) {
    const auto value = of_bits<T>(static_cast<uint16_t>(i));
    const double wanted = meaning(value.bits, exponent_bits, fraction_bits);
    const float widened = value;
    if (std::isnan(wanted)) {
      EXPECT_TRUE(std::isnan(widened)) << i;
      EXPECT_TRUE(std::isnan(static_cast<float>(T(widened)))) << i;
      continue;
    }
    ASSERT_EQ(widened, wanted) << i;
    ASSERT_EQ(T(widened).bits, value.bits) << i;
  }
}

/// Between two neighbours: the nearer one; in the middle the one whose last bit is 0.
template <class T>
void expect_nearest(uint16_t largest) {
  for (uint16_t i = 0; i < largest; ++i) {
    const double low = static_cast<float>(of_bits<T>(i)), high = static_cast<float>(of_bits<T>(i + 1));
    const auto middle = static_cast<float>((low + high) / 2);
    ASSERT_EQ(T(middle).bits, i % 2 == 0 ? i : i + 1) << i;
    ASSERT_EQ(T(std::nextafter(middle, 0.0f)).bits, i) << i;
    ASSERT_EQ(T(std::nextafter(middle, INFINITY)).bits, i + 1) << i;
    ASSERT_EQ(T(-middle).bits, 0x8000 | T(middle).bits) << i;
  }
}

TEST(CorePrecision, FormatsWidenExactlyAndRoundToNearest) {
  expect_every_pattern<BFloat16>(8, 7);
  expect_every_pattern<Half>(5, 10);
  expect_nearest<Half>(0x7bff);
  expect_nearest<BFloat16>(0x7f7f);
  EXPECT_EQ(Half(65519.0f).bits, 0x7bff);
  EXPECT_EQ(Half(65520.0f).bits, 0x7c00);
  EXPECT_EQ(Half(1e30f).bits, 0x7c00);
  EXPECT_EQ(BFloat16(std::numeric_limits<float>::max()).bits, 0x7f80);
  EXPECT_EQ(Half(1e-8f).bits, 0);
}

TEST(CorePrecision, TensorsConvertPrintAndPromote) {
  const Tensor x = hvd::tensor({1.0, -2.5, 1e-3, 70000.0}, hvd::kFloat16);
  EXPECT_EQ(x.dtype(), hvd::kFloat16);
  EXPECT_EQ(x.data_ptr<Half>()[1].bits, 0xc100);
  EXPECT_THROW(x.data_ptr<float>(), hvd::Error);
  EXPECT_EQ(x[0].item<double>(), 1);
  EXPECT_TRUE(std::isinf(x[3].item<double>()));
  EXPECT_FALSE(x.isfinite().all().item<bool>());
  const Tensor b = x.to(hvd::kBFloat16);
  EXPECT_EQ((x + x).dtype(), hvd::kFloat16);
  EXPECT_EQ((x + b).dtype(), hvd::kFloat32);
  EXPECT_EQ((x + hvd::ones({4})).dtype(), hvd::kFloat32);
  EXPECT_EQ((x * 2).dtype(), hvd::kFloat16);
  EXPECT_EQ((x * hvd::tensor(2.0)).dtype(), hvd::kFloat16);  // a 0-d tensor counts like a number
  EXPECT_EQ((hvd::arange(4) * b).dtype(), hvd::kBFloat16);
  EXPECT_TRUE((x == x).all().item<bool>());
  EXPECT_EQ(x.to(hvd::kInt64)[1].item<int64_t>(), -2);
  for (hvd::Dtype dtype : {hvd::kFloat16, hvd::kBFloat16, hvd::kFloat32, hvd::kFloat64})  // what no int64 stands for
    for (double outside : {HUGE_VAL, -HUGE_VAL, std::nan("")})
      EXPECT_EQ(hvd::tensor({outside}, dtype).to(hvd::kInt64)[0].item<int64_t>(), std::numeric_limits<int64_t>::min());
  std::ostringstream text;
  text << hvd::tensor({0.5, 2.0}, hvd::kBFloat16);
  EXPECT_EQ(text.str(), "[0.5, 2] {bfloat16 [2]}");
  EXPECT_THROW(hvd::set_default_dtype(hvd::kBFloat16), hvd::Error);
}

TEST(CorePrecision, MeansAndDrawsStayInRange) {
  EXPECT_EQ(hvd::full({1000}, 1000.0, hvd::kFloat16).mean().item<double>(), 1000);  // the sum would not be a float16
  hvd::manual_seed(3);
  for (hvd::Dtype dtype : {hvd::kBFloat16, hvd::kFloat16}) {
    const Tensor u = hvd::rand({20000}, dtype);
    EXPECT_LT(u.max().item<double>(), 1);
    EXPECT_GE(u.min().item<double>(), 0);
    EXPECT_NEAR(u.to(hvd::kFloat32).mean().item<double>(), 0.5, 0.02);
  }
}

TEST(CorePrecision, FilesKeepTheBits) {
  const std::string path = testing::TempDir() + "precision.safetensors";
  hvd::manual_seed(5);
  const std::map<std::string, Tensor> saved = {{"b", hvd::randn({3, 5}, hvd::kBFloat16)}, {"h", hvd::randn({7}, hvd::kFloat16)}, {"w", hvd::randn({2})}};
  hvd::save_tensors(path, saved);
  const auto loaded = hvd::load_tensors(path);
  for (const auto& [name, tensor] : saved) {
    EXPECT_EQ(loaded.at(name).dtype(), tensor.dtype());
    EXPECT_TRUE(hvd::equal(loaded.at(name), tensor)) << name;
  }
  std::remove(path.c_str());
}

TEST(CorePrecision, OptimizersWorkOnParametersOf16Bits) {
  for (hvd::Dtype dtype : {hvd::kBFloat16, hvd::kFloat16}) {
    const Tensor p = hvd::tensor({1.0, -2.0, 0.5}, dtype).requires_grad_(), q = p.detach().to(hvd::kFloat64).clone().requires_grad_();
    hvd::optim::Adam low({p}, hvd::optim::AdamOptions(0.1)), high({q}, hvd::optim::AdamOptions(0.1));
    for (int i = 0; i < 3; ++i) {
      for (hvd::optim::Optimizer* o : {static_cast<hvd::optim::Optimizer*>(&low), static_cast<hvd::optim::Optimizer*>(&high)}) o->zero_grad();
      (p * p).sum().backward();
      (q * q).sum().backward();
      low.step();
      high.step();
    }
    EXPECT_EQ(p.dtype(), dtype);
    EXPECT_LT(difference(p, q), dtype == hvd::kBFloat16 ? 0.02 : 0.003);
  }
}

// ---------------------------------------------------------------------------------------------------------------------
// Autocast

struct Net : hvd::nn::Module {
  Net() {
    conv = register_module("conv", hvd::nn::Conv2d(hvd::nn::Conv2dOptions(1, 4, 3).padding(1)));
    norm = register_module("norm", hvd::nn::BatchNorm2d(4));
    out = register_module("out", hvd::nn::Linear(4 * 16, 3));
  }
  Tensor forward(const Tensor& x) { return out(norm(conv(x)).relu().flatten(1)); }
  hvd::nn::Conv2d conv{nullptr};
  hvd::nn::BatchNorm2d norm{nullptr};
  hvd::nn::Linear out{nullptr};
};

TEST(CoreAutocast, OperationsChooseTheirPrecision) {
  const Tensor a = hvd::randn({3, 4}), b = hvd::randn({4, 5}), wide = a.to(hvd::kFloat64);
  for (hvd::Dtype dtype : {hvd::kBFloat16, hvd::kFloat16}) {
    const AutocastGuard autocast(dtype);
    EXPECT_TRUE(hvd::amp::is_autocast_enabled());
    const Tensor product = a.mm(b);
    EXPECT_EQ(product.dtype(), dtype);
    EXPECT_EQ(a.unsqueeze(0).bmm(b.unsqueeze(0)).dtype(), dtype);
    EXPECT_EQ(F::linear(a, b.t()).dtype(), dtype);
    EXPECT_EQ(product.relu().dtype(), dtype);
    EXPECT_EQ((product + b[0]).dtype(), hvd::kFloat32);
    for (const Tensor& t : {product.softmax(1), product.log_softmax(1), product.sum(), product.mean(), product.exp(), product.norm(),
                            F::layer_norm(product, {5}, hvd::ones({5}), hvd::zeros({5})), F::mse_loss(product, product),
                            F::cross_entropy(product, hvd::tensor({0, 1, 2}))})
      EXPECT_EQ(t.dtype(), hvd::kFloat32);
    EXPECT_EQ(hvd::cat({product, b}).dtype(), hvd::kFloat32);
    EXPECT_EQ(wide.mm(b.to(hvd::kFloat64)).dtype(), hvd::kFloat64);
    {
      const AutocastGuard off(dtype, false);
      EXPECT_EQ(a.mm(b).dtype(), hvd::kFloat32);
    }
    EXPECT_EQ(a.mm(b).dtype(), dtype);
  }
  EXPECT_EQ(a.mm(b).dtype(), hvd::kFloat32);
  EXPECT_THROW(AutocastGuard{hvd::kFloat32}, hvd::Error);
}

TEST(CoreAutocast, WeightsStayInFloat32AndGradientsComeBackInIt) {
  const Defaults defaults;
  for (hvd::Device device : hvd::available_devices())
    for (hvd::Dtype dtype : {hvd::kBFloat16, hvd::kFloat16}) {
      hvd::manual_seed(4);
      Net net;
      net.to(device);
      const Tensor x = hvd::randn({6, 1, 4, 4}).to(device), y = hvd::tensor({0, 1, 2, 0, 1, 2}).to(device);
      F::cross_entropy(net.forward(x), y).backward();
      std::vector<Tensor> plain;
      for (const Tensor& p : net.parameters()) plain.push_back(p.grad().clone());
      net.zero_grad();
      {
        const AutocastGuard autocast(dtype);
        const Tensor logits = net.forward(x);
        EXPECT_EQ(logits.dtype(), dtype);
        const Tensor loss = F::cross_entropy(logits, y);
        EXPECT_EQ(loss.dtype(), hvd::kFloat32);
        loss.backward();  // inside of the guard as well as outside
      }
      const std::vector<Tensor> parameters = net.parameters();
      for (size_t i = 0; i < parameters.size(); ++i) {
        EXPECT_EQ(parameters[i].dtype(), hvd::kFloat32);
        ASSERT_EQ(parameters[i].grad().dtype(), hvd::kFloat32);
        EXPECT_LT(difference(parameters[i].grad(), plain[i]), dtype == hvd::kBFloat16 ? 0.03 : 0.004) << i << ' ' << device.name();
      }
      EXPECT_EQ(net.norm->running_mean.dtype(), hvd::kFloat32);
    }
}

TEST(CoreAutocast, AttentionRunsInMixedPrecision) {
  hvd::manual_seed(8);
  hvd::nn::TransformerEncoderLayer layer(hvd::nn::TransformerEncoderLayerOptions(16, 4).dim_feedforward(32).dropout(0));
  const Tensor x = hvd::randn({2, 5, 16}), mask = F::causal_mask(5);
  const Tensor plain = layer(x, mask);
  const AutocastGuard autocast(hvd::kBFloat16);
  EXPECT_LT(difference(layer(x, mask), plain), 0.03);
}

// ---------------------------------------------------------------------------------------------------------------------
// Loss scaling

TEST(CoreGradScaler, ScalesUnscalesAndGrows) {
  const Tensor p = hvd::tensor({1.0, 2.0}).requires_grad_();
  hvd::optim::SGD opt({p}, hvd::optim::SGDOptions(0.1));
  GradScaler scaler(GradScalerOptions().init_scale(1024).growth_interval(2));
  for (int i = 0; i < 2; ++i) {
    opt.zero_grad();
    scaler.scale((p * hvd::tensor({3.0, 4.0})).sum()).backward();
    EXPECT_EQ(p.grad()[0].item<double>(), 3 * 1024);
    scaler.unscale_(opt);
    EXPECT_EQ(p.grad()[0].item<double>(), 3);
    EXPECT_THROW(scaler.unscale_(opt), hvd::Error);
    EXPECT_TRUE(scaler.step(opt));
    EXPECT_THROW(scaler.step(opt), hvd::Error);
    scaler.update();
  }
  EXPECT_FLOAT_EQ(p[0].item<float>(), 1 - 2 * 0.3f);
  EXPECT_EQ(scaler.get_scale(), 2048);
  EXPECT_THROW(scaler.update(), hvd::Error);
}

TEST(CoreGradScaler, LeavesOutStepsThatAreNotFinite) {
  const Tensor p = hvd::tensor({1.0, 2.0}).requires_grad_(), q = hvd::tensor({1.0}).requires_grad_();
  hvd::optim::SGD first({p}, hvd::optim::SGDOptions(0.1)), second({q}, hvd::optim::SGDOptions(0.1));
  GradScaler scaler(GradScalerOptions().init_scale(8).growth_interval(1));
  for (const double bad : {static_cast<double>(INFINITY), -static_cast<double>(INFINITY), std::nan("")}) {
    const double before = scaler.get_scale();
    p.mutable_grad() = hvd::tensor({1.0, bad});
    q.mutable_grad() = hvd::tensor({before});
    EXPECT_FALSE(scaler.step(first));
    EXPECT_TRUE(scaler.step(second));  // the other optimizer's gradients are in order
    scaler.update();
    EXPECT_EQ(scaler.get_scale(), before / 2);
  }
  EXPECT_EQ(p[0].item<double>(), 1);
  EXPECT_FLOAT_EQ(q[0].item<float>(), 0.7f);
  // Large and finite: the sum of their squares overflows a double.
  const Tensor wide = hvd::tensor({1e200, 1.0}, hvd::kFloat64).requires_grad_();
  hvd::optim::SGD third({wide}, hvd::optim::SGDOptions(0.1));
  wide.mutable_grad() = hvd::tensor({1e200, 1e200}, hvd::kFloat64);
  EXPECT_TRUE(scaler.step(third));
}

TEST(CoreGradScaler, DisabledChangesNothing) {
  const Tensor p = hvd::tensor({1.0}).requires_grad_();
  hvd::optim::SGD opt({p}, hvd::optim::SGDOptions(0.1));
  GradScaler scaler(GradScalerOptions().enabled(false));
  const Tensor loss = p.sum();
  EXPECT_TRUE(scaler.scale(loss).is_same(loss));
  loss.backward();
  EXPECT_TRUE(scaler.step(opt));
  scaler.update();
  EXPECT_EQ(scaler.get_scale(), 1);
}

TEST(CoreGradScaler, StateComesBackAndBadTextIsRefused) {
  GradScaler scaler(GradScalerOptions().init_scale(3e-5).growth_interval(3));
  const Tensor p = hvd::tensor({1.0}).requires_grad_();
  hvd::optim::SGD opt({p}, hvd::optim::SGDOptions(0.1));
  scaler.step(opt);
  scaler.update();
  GradScaler other(GradScalerOptions().growth_interval(3));
  other.load_state(scaler.state());
  EXPECT_EQ(other.get_scale(), scaler.get_scale());
  for (int i = 0; i < 2; ++i) other.step(opt), other.update();
  EXPECT_EQ(other.get_scale(), 6e-5);  // the third good step
  for (const char* text : {"", "1", "x 1", "0 1", "-1 1", "inf 1", "nan 1", "1 -1", "1 1 1"}) EXPECT_THROW(other.load_state(text), hvd::Error) << text;
  EXPECT_THROW(GradScalerOptions().init_scale(0), hvd::Error);
  EXPECT_THROW(GradScalerOptions().growth_factor(1), hvd::Error);
  EXPECT_THROW(GradScalerOptions().backoff_factor(1), hvd::Error);
  EXPECT_THROW(GradScalerOptions().growth_interval(0), hvd::Error);
}

/// Losses of a few steps on a fixed batch.
std::vector<double> train(hvd::Dtype dtype, double scale) {
  hvd::manual_seed(21);
  Net net;
  const Tensor x = hvd::randn({24, 1, 4, 4}), y = hvd::randint(0, 3, {24});
  hvd::optim::SGD opt(net.parameters(), hvd::optim::SGDOptions(0.2).momentum(0.9));
  GradScaler scaler(GradScalerOptions().init_scale(scale).enabled(dtype == hvd::kFloat16));
  std::vector<double> losses;
  for (int i = 0; i < 30; ++i) {
    opt.zero_grad();
    const AutocastGuard autocast(dtype == hvd::kFloat32 ? hvd::kBFloat16 : dtype, dtype != hvd::kFloat32);
    const Tensor loss = F::cross_entropy(net.forward(x), y);
    scaler.scale(loss).backward();
    scaler.step(opt);
    scaler.update();
    losses.push_back(loss.item<double>());
  }
  return losses;
}

TEST(CoreGradScaler, MixedPrecisionTrainsLikeFloat32) {
  const std::vector<double> plain = train(hvd::kFloat32, 1);
  ASSERT_LT(plain.back(), 0.1 * plain.front());
  for (hvd::Dtype dtype : {hvd::kBFloat16, hvd::kFloat16}) {
    const std::vector<double> mixed = train(dtype, 1024);
    EXPECT_NEAR(mixed.front(), plain.front(), 0.01);
    EXPECT_NEAR(mixed[10], plain[10], 0.1);
    EXPECT_LT(mixed.back(), 0.1 * plain.front());
  }
  // A scale far too large: the first steps are left out until gradients fit.
  const std::vector<double> late = train(hvd::kFloat16, 0x1p30);
  EXPECT_EQ(late[1], late[0]);
  EXPECT_LT(late.back(), 0.5 * plain.front());
}

}  // namespace
}  // namespace core_precision_test
