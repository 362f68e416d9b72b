// SPDX-License-Identifier: Apache-2.0
//
// What the tests of the training core share: operations as table entries, gradients by finite differences.
#pragma once

#include <hvd/hvd.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <string>
#include <vector>

namespace core_tests {

using hvd::Tensor;

/// An operation on real tensors of given shapes. Inputs are drawn from [low, high).
struct Operation {
  std::string name;
  std::vector<std::vector<int64_t>> shapes;
  std::function<Tensor(const std::vector<Tensor>&)> apply;
  double low = -1, high = 1;
  int rows = 0;               // that many of the first inputs hold one row per sample, and row i of the result is made of theirs alone
  double tolerance = 5e-6;    // of float32 against float64, see difference()
  int roundings = 8;          // of 16-bit results on the way of a value, for their tolerance
};

/// Numbers of a table: the same for the same seed everywhere (no distribution of the standard library is).
class Dice {
 public:
  explicit Dice(uint32_t seed) : engine_(seed), seed_(seed) {}
  int64_t operator()(int64_t low, int64_t high) { return low + static_cast<int64_t>(engine_() % static_cast<uint32_t>(high - low + 1)); }
  /// Samples of a batch: one in the table of seed 0.
  int64_t batch(int64_t low, int64_t high) {
    const int64_t drawn = (*this)(low, high);
    return seed_ == 0 ? 1 : drawn;
  }

 private:
  std::mt19937 engine_;
  uint32_t seed_;
};

/// Draws of shapes for each operation.
constexpr uint32_t kDraws = 4;

/// Restores the context's defaults when a test ends.
struct Defaults {
  hvd::Context saved = hvd::context();
  ~Defaults() { hvd::context() = saved; }
};

/// Inputs that depend on the seed alone, the same in all dtypes and on all devices up to rounding; `values_in`: rounded to that dtype.
inline std::vector<Tensor> inputs_of(const Operation& op, hvd::Device device, hvd::Dtype dtype, uint64_t seed, hvd::Dtype values_in = hvd::kFloat32) {
  hvd::Generator::State before = hvd::default_generator().state();
  hvd::manual_seed(seed);
  std::vector<Tensor> out;
  for (const auto& shape : op.shapes) {
    // Drawn in float32, so that float64 sees the same values.
    const Tensor values = hvd::empty(shape, hvd::TensorOptions(hvd::kFloat32).device(hvd::kCPU)).uniform_(op.low, op.high);
    Tensor t = values.to(values_in).to(device, dtype).clone();
    out.push_back(t.requires_grad_());
  }
  hvd::default_generator().set_state(before);
  return out;
}

/// Fixed weights with which an output becomes one number: no two elements weigh the same.
inline Tensor probe(const Tensor& out) {
  Tensor w = hvd::arange(out.numel(), hvd::TensorOptions(out.dtype()).device(out.device()));
  return ((w * 0.37 + 0.2) * 1.7).view(out.sizes()).to(out.dtype()) * 0.1 + 0.3;
}

struct Result {
  Tensor value;
  std::vector<Tensor> grads;
};

/// Value and gradients of sum(probe * op(inputs)).
inline Result run(const Operation& op, hvd::Device device, hvd::Dtype dtype, uint64_t seed, hvd::Dtype values_in = hvd::kFloat32) {
  std::vector<Tensor> inputs = inputs_of(op, device, dtype, seed, values_in);
  hvd::manual_seed(99);  // for operations that draw
  Tensor out = op.apply(inputs);
  Result result{out.detach(), {}};
  // The weights are made in float64 and rounded, so that 16 bits see the same up to that.
  (out * probe(out.to(hvd::kFloat64)).to(out.dtype())).sum().backward();
  for (const Tensor& t : inputs) result.grads.push_back(t.grad());
  return result;
}

inline double value_at(const Operation& op, const std::vector<Tensor>& inputs) {
  const hvd::NoGradGuard no_grad;
  hvd::manual_seed(99);
  const Tensor out = op.apply(inputs);
  return (out * probe(out)).sum().item<double>();
}

/// Largest difference between the gradients of backward and central differences, relative to the largest gradient.
inline double gradient_error(const Operation& op, hvd::Device device, uint64_t seed) {
  const Result analytic = run(op, device, hvd::kFloat64, seed);
  std::vector<Tensor> inputs = inputs_of(op, device, hvd::kFloat64, seed);
  double worst = 0, scale = 1;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!analytic.grads[i].defined()) return 1e30;
    const Tensor grad = analytic.grads[i].cpu().contiguous(), values = inputs[i].detach().cpu().clone(), there = inputs[i].detach();
    double* x = values.data_ptr<double>();
    const auto moved = [&](int64_t j, double to) {
      x[j] = to;
      there.copy_(values);
      return value_at(op, inputs);
    };
    for (int64_t j = 0; j < inputs[i].numel(); ++j) {
      const double kept = x[j], h = 1e-6;
      const double above = moved(j, kept + h), below = moved(j, kept - h);
      x[j] = kept;
      there.copy_(values);
      worst = std::max(worst, std::abs((above - below) / (2 * h) - grad.data_ptr<double>()[j]));
      scale = std::max(scale, std::abs(grad.data_ptr<double>()[j]));
    }
  }
  return worst / scale;
}

/// max|a - b| / max(1, max|b|), in float64.
inline double difference(const Tensor& a, const Tensor& b) {
  if (a.sizes() != b.sizes()) return 1e30;
  const Tensor x = a.detach().cpu().to(hvd::kFloat64), y = b.detach().cpu().to(hvd::kFloat64);
  if (x.numel() == 0) return 0;
  const double gap = (x - y).abs().max().item<double>();
  return std::isnan(gap) ? 1e30 : gap / std::max(1.0, y.abs().max().item<double>());
}

/// Gradients of every device against finite differences in float64.
inline void expect_gradients(const Operation& op) {
  for (hvd::Device device : hvd::available_devices()) EXPECT_LT(gradient_error(op, device, 7), 2e-8) << op.name << " on " << device.name();
}

/// What else an input is used for adds its own gradient, whichever of the two comes first.
inline void expect_gradients_add_up(const Operation& op) {
  const Result alone = run(op, hvd::kCPU, hvd::kFloat64, 7);
  for (hvd::Device device : hvd::available_devices())
    for (int order = 0; order < 4; ++order) {
      std::vector<Tensor> inputs = inputs_of(op, device, hvd::kFloat64, 7), used;
      for (const Tensor& t : inputs) used.push_back(t * 1);
      const auto also = [&] {
        Tensor sum = hvd::zeros({}, used[0].options());
        for (const Tensor& t : used) sum = sum + t.sum() * 0.7 + t.mean() * 0.5;
        return sum;
      };
      const Tensor before = order % 2 ? also() : Tensor();
      hvd::manual_seed(99);
      const Tensor out = op.apply(used), one = (out * probe(out)).sum(), other = before.defined() ? before : also();
      (order / 2 ? one + other : other + one).backward();
      for (size_t i = 0; i < inputs.size(); ++i)
        EXPECT_LT(difference(inputs[i].grad(), alone.grads[i] + 0.7 + 0.5 / static_cast<double>(inputs[i].numel())), 1e-12)
            << op.name << " on " << device.name() << ", input " << i << ", order " << order;
    }
}

/// Values and gradients of every device and dtype against the float64 reference.
inline void expect_devices_agree(const Operation& op, const std::vector<hvd::Device>& devices = hvd::available_devices()) {
  const Result reference = run(op, hvd::kCPU, hvd::kFloat64, 11);
  for (hvd::Device device : devices)
    for (hvd::Dtype dtype : {hvd::kFloat32, hvd::kFloat64}) {
      const double tolerance = dtype == hvd::kFloat32 ? op.tolerance : 1e-13;
      const Result result = run(op, device, dtype, 11);
      EXPECT_EQ(result.value.dtype(), dtype);
      EXPECT_LT(difference(result.value, reference.value), tolerance) << op.name << ' ' << device.name() << ' ' << hvd::dtype_name(dtype);
      for (size_t i = 0; i < reference.grads.size(); ++i)
        EXPECT_LT(difference(result.grads[i], reference.grads[i]), tolerance)
            << op.name << ' ' << device.name() << ' ' << hvd::dtype_name(dtype) << " gradient " << i;
    }
}

/// Values and gradients in bfloat16 and float16 against the float64 reference on the same inputs. Each operation that the entry is
/// made of rounds its result once, to 2^-9 or 2^-12 of it.
inline void expect_low_precision_agrees(const Operation& op, const std::vector<hvd::Device>& devices = hvd::available_devices()) {
  for (hvd::Dtype dtype : {hvd::kBFloat16, hvd::kFloat16}) {
    const Result reference = run(op, hvd::kCPU, hvd::kFloat64, 11, dtype);
    const double tolerance = op.roundings * (dtype == hvd::kBFloat16 ? 0x1p-9 : 0x1p-12);
    for (hvd::Device device : devices) {
      const Result result = run(op, device, dtype, 11);
      EXPECT_EQ(result.value.dtype(), dtype);
      EXPECT_LT(difference(result.value, reference.value), tolerance) << op.name << ' ' << device.name() << ' ' << hvd::dtype_name(dtype);
      for (size_t i = 0; i < reference.grads.size(); ++i) {
        EXPECT_EQ(result.grads[i].dtype(), dtype);
        EXPECT_LT(difference(result.grads[i], reference.grads[i]), tolerance)
            << op.name << ' ' << device.name() << ' ' << hvd::dtype_name(dtype) << " gradient " << i;
      }
    }
  }
}

inline void expect_same_bits_again(const Operation& op, const std::vector<hvd::Device>& devices = hvd::available_devices()) {
  const Defaults defaults;
  hvd::set_deterministic(true);
  for (hvd::Device device : devices) {
    const Result a = run(op, device, hvd::kFloat32, 3), b = run(op, device, hvd::kFloat32, 3);
    EXPECT_TRUE(hvd::equal(a.value, b.value)) << op.name;
    for (size_t i = 0; i < a.grads.size(); ++i) EXPECT_TRUE(hvd::equal(a.grads[i], b.grads[i])) << op.name;
  }
}

/// The three above on one GPU device; skipped where there is none. What `available_devices` holds of GPUs the other tests see too.
inline void expect_gpu_agrees(const Operation& op, hvd::Device device) {
  if (const std::string problem = hvd::device_problem(device); !problem.empty()) GTEST_SKIP() << "skipped: " << problem;
  expect_devices_agree(op, {device});
  expect_low_precision_agrees(op, {device});
  expect_same_bits_again(op, {device});
}

/// The operation on rows [first, first + count) of its batch: the same rows of the result; no rows give none, and gradients of zero.
inline void expect_rows_stand_alone(const Operation& op) {
  for (hvd::Device device : hvd::available_devices()) {
    const hvd::NoGradGuard no_grad;
    const std::vector<Tensor> inputs = inputs_of(op, device, hvd::kFloat64, 5);
    const Tensor whole = op.apply(inputs);
    const int64_t rows = inputs[0].size(0);
    ASSERT_EQ(whole.size(0) % rows, 0) << op.name;
    const int64_t each = whole.size(0) / rows;
    for (int64_t i = 0; i < rows; ++i) {
      std::vector<Tensor> part = inputs;
      for (int k = 0; k < op.rows; ++k) part[k] = inputs[k].narrow(0, i, 1);
      EXPECT_LT(difference(op.apply(part), whole.narrow(0, i * each, each)), 1e-13) << op.name << " row " << i << " on " << device.name();
    }
  }
  Operation empty = op;
  for (int k = 0; k < op.rows; ++k) empty.shapes[k][0] = 0;
  for (hvd::Device device : hvd::available_devices()) {
    const Result none = run(empty, device, hvd::kFloat32, 5);
    EXPECT_EQ(none.value.numel(), 0) << op.name;
    for (const Tensor& g : none.grads) {
      ASSERT_TRUE(g.defined()) << op.name;
      if (g.numel() == 0) continue;
      EXPECT_EQ(g.abs().max().item<double>(), 0) << op.name << " on " << device.name();
    }
  }
}

}  // namespace core_tests
