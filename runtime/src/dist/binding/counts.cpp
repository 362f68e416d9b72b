// SPDX-License-Identifier: Apache-2.0
#include <hvd/dist/counts.hpp>

#include <string>

#include <hvd/core/error.hpp>
#include <hvd/dist/failure.hpp>

#include "core/tensor_impl.hpp"

namespace hvd {

// Label smoothing changes the terms, not what they are divided by.
double counted_terms(const Tensor& target, const nn::CrossEntropyLossOptions& options) { return counted_terms(target, options.terms()); }

double counted_terms(const Tensor& target, const nn::NLLLossOptions& options) {
  if (target.dtype() != kInt64)
    throw dist::Failure<Error>(std::string("counted_terms: targets are class indices (int64), not ") + dtype_name(target.dtype()));
  const Tensor dense = core::host_copy(target).contiguous();
  const int64_t* classes = dense.data_ptr<int64_t>();
  Tensor weights;
  if (options.weight().defined()) weights = core::host_copy(options.weight()).to(kFloat64).contiguous();
  double sum = 0;
  for (int64_t i = 0; i < dense.numel(); ++i) {
    if (classes[i] == options.ignore_index()) continue;
    if (weights.defined() && (classes[i] < 0 || classes[i] >= weights.numel()))
      throw dist::Failure<Error>("counted_terms: target " + std::to_string(classes[i]) + " in row " + std::to_string(i) + " is not one of " +
                  std::to_string(weights.numel()) + " classes");
    sum += weights.defined() ? weights.data_ptr<double>()[classes[i]] : 1;
  }
  return sum;
}

}  // namespace hvd
