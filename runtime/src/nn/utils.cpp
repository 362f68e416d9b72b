// SPDX-License-Identifier: Apache-2.0
#include "core/tensor_impl.hpp"

#include <hvd/nn/utils.hpp>

#include <algorithm>
#include <cmath>

namespace hvd::nn::utils {

namespace {

double total_norm(const std::vector<Tensor>& parameters, double p) {
  double total = 0;
  for (const Tensor& parameter : parameters) {
    if (!parameter.grad().defined()) continue;
    const Tensor g = parameter.grad().contiguous();
    const backends::Backend& backend = core::backend_of(g);
    if (std::isinf(p))
      total = std::max(total, backend.max_magnitude(g.dtype(), g.numel(), g.raw_data()));
    else if (p == 2)
      total += backend.sum_squares(g.dtype(), g.numel(), g.raw_data());
    else
      total += g.to(kFloat64).abs().pow(p).sum().item<double>();
  }
  return std::isinf(p) ? total : p == 2 ? std::sqrt(total) : std::pow(total, 1 / p);
}

}  // namespace

double clip_grad_norm_(const std::vector<Tensor>& parameters, double max_norm, double norm_type) {
  if (!(norm_type > 0)) throw Error("clip_grad_norm_: norm type " + std::to_string(norm_type) + " is not positive");
  const NoGradGuard no_grad;
  const double total = total_norm(parameters, norm_type);
  const double factor = max_norm / (total + 1e-6);
  if (factor < 1 || std::isnan(factor))
    for (const Tensor& parameter : parameters)
      if (parameter.grad().defined()) parameter.grad().mul_(factor);
  return total;
}
double clip_grad_norm_(const Tensor& parameter, double max_norm, double norm_type) {
  return clip_grad_norm_(std::vector<Tensor>{parameter}, max_norm, norm_type);
}

void clip_grad_value_(const std::vector<Tensor>& parameters, double value) {
  const NoGradGuard no_grad;
  for (const Tensor& parameter : parameters)
    if (parameter.grad().defined()) parameter.grad().clamp_(-value, value);
}
void clip_grad_value_(const Tensor& parameter, double value) { clip_grad_value_(std::vector<Tensor>{parameter}, value); }

}  // namespace hvd::nn::utils
