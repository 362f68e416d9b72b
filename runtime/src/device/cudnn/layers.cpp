// SPDX-License-Identifier: Apache-2.0
#include "device/cudnn/layers.hpp"

#include "device/cudnn/graph/choice.hpp"
#include "device/cudnn/graph/planned.hpp"
#include "device/cudnn/handle.hpp"
#include "device/cudnn/layer_graphs.hpp"

#include <hvd/context.hpp>

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <map>

namespace hvd::backends::cuda {

namespace {

/// Below, a kernel's launch takes longer than its work, whoever wrote it.
constexpr int64_t kFewElements = int64_t{1} << 16;
constexpr size_t kMostLayerPlans = 4;
/// cuDNN's batch norm reads 16 bytes of a pixel's channels, and has its parameters in float32.
bool fits_norm(Dtype dtype, Dtype params, int64_t c) {
  if (params != Dtype::kFloat32 || (dtype != Dtype::kFloat32 && !is_low_precision(dtype))) return false;
  return c % (is_low_precision(dtype) ? 8 : 4) == 0;
}

bool wanted(int64_t elements) {
  return graph::use() != graph::Use::kOff && !context().deterministic && elements >= kFewElements && elements <= INT32_MAX;
}

int64_t alignment_of_all(std::initializer_list<const void*> operands) {
  int64_t alignment = 16;
  for (const void* operand : operands)
    if (operand) alignment = std::min(alignment, rules::alignment_of(operand));
  return alignment;
}

template <class Problem, class Make>
graph::Planned& plans_of_layer(cudnnHandle_t handle, const Problem& problem, Dtype dtype, Make make) {
  static auto* const known = new std::map<Problem, graph::Planned>;
  const auto place = known->find(problem);
  if (place != known->end()) return place->second;
  return known->try_emplace(problem, handle, describe(problem), rules::Arithmetic{dtype, false, false}, kMostLayerPlans, make).first->second;
}

/// float32 [c] of the device: `given`, or memory full of `otherwise`.
class Channels {
 public:
  Channels(const gpu::Gpu& device, int64_t c, const void* given, double otherwise) : own_(given ? 0 : static_cast<size_t>(c) * sizeof(float)), given_(given) {
    if (!given) device.fill(own_.data(), Dtype::kFloat32, c, Scalar(otherwise));
  }
  const void* data() const { return given_ ? given_ : own_.data(); }

 private:
  Workspace own_;
  const void* given_;
};

/// float64 [c] as float32.
class Narrowed {
 public:
  Narrowed(const gpu::Gpu& device, int64_t c, const double* values) : own_(static_cast<size_t>(c) * sizeof(float)) {
    Extents extents;
    extents.dims = 1;
    extents.size[0] = c;
    const auto operand = [](const void* data, Dtype dtype) {
      Operand o;
      o.data = const_cast<void*>(data);
      o.dtype = dtype;
      o.stride[0] = 1;
      return o;
    };
    device.copy(extents, operand(own_.data(), Dtype::kFloat32), operand(values, Dtype::kFloat64));
  }
  const void* data() const { return own_.data(); }

 private:
  Workspace own_;
};

graph::Planned& norm_plans(cudnnHandle_t handle, const BatchNormProblem& problem) {
  return plans_of_layer(handle, problem, problem.dtype, [&] { return batch_norm_graph(problem, {handle, nullptr}); });
}

}  // namespace

bool average(const gpu::Gpu& device, Dtype dtype, bool backward, int64_t planes, int64_t h, int64_t w, const Spans& down, const Spans& across, double divisor,
             const void* large, const void* small) {
  if (!wanted(planes * h * w)) return false;
  std::optional<rules::PoolingProblem> problem = rules::regular_windows(planes, h, w, down, across, divisor);
  if (!problem) return false;
  problem->arithmetic.dtype = dtype;
  problem->backward = backward;
  problem->alignment = alignment_of_all({large, small});
  const CudnnLock lock;
  graph::Planned& plans = plans_of_layer(lock.handle(), *problem, dtype, [&] { return pooling_graph(*problem, {lock.handle(), nullptr}); });
  const auto own = [&] {
    if (backward)
      device.gpu::Gpu::mean_pool2d_grad(dtype, planes, h, w, down, across, divisor, small, const_cast<void*>(large));
    else
      device.gpu::Gpu::mean_pool2d(dtype, planes, h, w, down, across, divisor, large, const_cast<void*>(small));
  };
  return !plans.none() && plans.run(lock.handle(), {{kPoolX, large}, {kPoolY, small}}, own);
}

bool normalise(const gpu::Gpu& device, Dtype dtype, Dtype params, int64_t n, int64_t c, int64_t inner, const void* x, const void* weight, const void* bias, double eps,
               void* y, double* mean, double* variance, double* inverse_std) {
  if (!fits_norm(dtype, params, c) || !wanted(n * c * inner)) return false;
  const BatchNormProblem problem = {dtype, n, c, inner, false, alignment_of_all({x, weight, bias, y})};
  const CudnnLock lock;
  graph::Planned& plans = norm_plans(lock.handle(), problem);
  if (plans.none()) return false;
  const Channels scale(device, c, weight, 1), shift(device, c, bias, 0);
  const Workspace means(static_cast<size_t>(c) * sizeof(float)), inverses(static_cast<size_t>(c) * sizeof(float));
  const float epsilon = static_cast<float>(eps);
  if (!plans.run(lock.handle(), {{kNormX, x}, {kNormScale, scale.data()}, {kNormBias, shift.data()}, {kNormEpsilon, &epsilon}, {kNormMean, means.data()},
                                 {kNormInverseStd, inverses.data()}, {kNormY, y}},
                 [&] { device.gpu::Gpu::batch_norm(dtype, params, n, c, inner, x, weight, bias, eps, y, mean, variance, inverse_std); }))
    return false;
  device.widen_statistics(c, eps, static_cast<const float*>(means.data()), static_cast<const float*>(inverses.data()), mean, variance, inverse_std);
  return true;
}

bool normalise_grad(const gpu::Gpu& device, Dtype dtype, Dtype params, int64_t n, int64_t c, int64_t inner, const void* grad, const void* x, const void* weight,
                    const double* mean, const double* inverse_std, void* grad_x, void* grad_weight, void* grad_bias) {
  if (!fits_norm(dtype, params, c) || !grad_x || !wanted(n * c * inner)) return false;
  const BatchNormProblem problem = {dtype, n, c, inner, true, alignment_of_all({grad, x, weight, grad_x, grad_weight, grad_bias})};
  const CudnnLock lock;
  graph::Planned& plans = norm_plans(lock.handle(), problem);
  if (plans.none()) return false;
  const Channels scale(device, c, weight, 1);
  const Narrowed means(device, c, mean), inverses(device, c, inverse_std);
  const Workspace of_scale(grad_weight ? 0 : static_cast<size_t>(c) * sizeof(float)), of_bias(grad_bias ? 0 : static_cast<size_t>(c) * sizeof(float));
  return plans.run(lock.handle(), {{kNormX, x}, {kNormGrad, grad}, {kNormScale, scale.data()}, {kNormMean, means.data()}, {kNormInverseStd, inverses.data()},
                                   {kNormGradX, grad_x}, {kNormGradScale, grad_weight ? grad_weight : of_scale.data()},
                                   {kNormGradBias, grad_bias ? grad_bias : of_bias.data()}},
                   [&] { device.gpu::Gpu::batch_norm_grad(dtype, params, n, c, inner, grad, x, weight, mean, inverse_std, grad_x, grad_weight, grad_bias); });
}

}  // namespace hvd::backends::cuda
