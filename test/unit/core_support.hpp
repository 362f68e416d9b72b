// SPDX-License-Identifier: Apache-2.0
//
// What the tests of the training core share: operations as table entries, gradients by finite differences.
#pragma once

#include <hvd/hvd.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
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
};

/// Restores the context's defaults when a test ends.
struct Defaults {
  hvd::Context saved = hvd::context();
  ~Defaults() { hvd::context() = saved; }
};

/// Inputs that depend on the seed alone, the same in all dtypes and on all devices up to rounding.
inline std::vector<Tensor> inputs_of(const Operation& op, hvd::Device device, hvd::Dtype dtype, uint64_t seed) {
  hvd::Generator::State before = hvd::default_generator().state();
  hvd::manual_seed(seed);
  std::vector<Tensor> out;
  for (const auto& shape : op.shapes) {
    // Drawn in float32, so that float64 sees the same values.
    const Tensor values = hvd::empty(shape, hvd::TensorOptions(hvd::kFloat32).device(hvd::kCPU)).uniform_(op.low, op.high);
    Tensor t = values.to(device, dtype).clone();
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
inline Result run(const Operation& op, hvd::Device device, hvd::Dtype dtype, uint64_t seed) {
  std::vector<Tensor> inputs = inputs_of(op, device, dtype, seed);
  hvd::manual_seed(99);  // for operations that draw
  Tensor out = op.apply(inputs);
  Result result{out.detach(), {}};
  (out * probe(out)).sum().backward();
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
    double* x = inputs[i].data_ptr<double>();
    if (!analytic.grads[i].defined()) return 1e30;
    const Tensor grad = analytic.grads[i].contiguous();
    for (int64_t j = 0; j < inputs[i].numel(); ++j) {
      const double kept = x[j], h = 1e-6;
      x[j] = kept + h;
      const double above = value_at(op, inputs);
      x[j] = kept - h;
      const double below = value_at(op, inputs);
      x[j] = kept;
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

}  // namespace core_tests
