// SPDX-License-Identifier: Apache-2.0
#pragma once

// How many terms a mean over counted terms has on this rank.

#include <hvd/nn/functional.hpp>

namespace hvd {

/// What a mean loss over classes is divided by: the sum, over the targets [N] (int64) that are not `ignore_index`, of the weight of
/// their class (1 without class weights). Local: of the targets at hand, no other rank takes part. Throws hvd::Error for targets of
/// another dtype and for a target that is neither ignored nor the index of a weight.
double counted_terms(const Tensor& target, const nn::NLLLossOptions& options);
double counted_terms(const Tensor& target, const nn::CrossEntropyLossOptions& options);

/// The same with the options of a loss module or of its holder.
template <class Module>
auto counted_terms(const Tensor& target, const Module& loss) -> decltype(counted_terms(target, loss.options)) {
  return counted_terms(target, loss.options);
}
template <class Holder>
auto counted_terms(const Tensor& target, const Holder& loss) -> decltype(counted_terms(target, loss->options)) {
  return counted_terms(target, loss->options);
}

}  // namespace hvd
