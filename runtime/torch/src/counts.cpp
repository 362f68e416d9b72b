// SPDX-License-Identifier: Apache-2.0
#include <hvd/dist/failure.hpp>
#include <hvd/torch/counts.hpp>

#include <ATen/ATen.h>

namespace hvd::detail {

double count_terms(const at::Tensor& target, const at::Tensor& weight, std::int64_t ignore_index) {
  const at::NoGradGuard no_grad;
  if (target.is_floating_point())
    throw dist::Failure<std::runtime_error>("counted_terms: the targets are class probabilities; a mean over counted terms needs class indices");
  const at::Tensor kept = target.ne(ignore_index);
  if (!weight.defined()) return static_cast<double>(kept.sum().item<std::int64_t>());
  const at::Tensor classes = target.masked_select(kept);
  return weight.to(at::kDouble).index_select(0, classes.to(weight.device())).sum().item<double>();
}

}  // namespace hvd::detail
