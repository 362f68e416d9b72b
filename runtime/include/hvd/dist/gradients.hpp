// SPDX-License-Identifier: Apache-2.0
#pragma once

// Gradients: weighted backward passes, and their sum over ranks.

#include <cstdint>
#include <type_traits>

#include <hvd/dist/call_site.hpp>
#include <hvd/dist/loss_kind.hpp>
#include <hvd/nn.hpp>
#include <hvd/optim.hpp>
#include <hvd/tensor.hpp>

namespace hvd {

/// A loss together with what its gradient counts for. Made by `weighted`; use at once.
class WeightedLoss {
 public:
  WeightedLoss(const Tensor& loss, LossKind kind, CallSite site) : loss_(loss), kind_(kind), site_(site) {}
  /// As Tensor::backward, every leaf gradient of this pass multiplied by the weight. A filler slice contributes exact zeros,
  /// whatever its gradient holds. Collective for the counted kind.
  void backward(const Tensor& gradient = Tensor(), bool retain_graph = false) const;

 private:
  Tensor loss_;
  LossKind kind_;
  CallSite site_;
};

/// `weighted(loss, kind).backward()`. Outside a step all ranks hold the same batch, and each counts 1/size().
inline WeightedLoss weighted(const Tensor& loss, LossKind kind, CallSite site = CallSite::here()) {
  return WeightedLoss(loss, kind, site);
}

/// Sums the weighted gradients of the optimizer's parameters over ranks, when a backward has run since the last call; else
/// does nothing. A gradient that no rank has stays undefined; one that some rank has counts as zero on the others. Also sets
/// the warm-up factor of the coming step. Errors: ranks whose parameters differ in number, size or type (names the first).
void reduce_gradients(optim::Optimizer& optimizer, CallSite site = CallSite::here());

/// From now on the gradients of this optimizer are reduced in buckets of HVD_BUCKET_MB (default 4) while backward runs;
/// allowed only where every backward is followed by one reduce_gradients before the next.
void overlap(nn::Module& model, optim::Optimizer& optimizer, CallSite site = CallSite::here());

/// Batch norm layers of the model compute their statistics over the global batch. Local.
void sync_batchnorm(nn::Module& model);

/// Floating-point buffers: mean over ranks, weighted by the samples each trained on since the last call; integers: the root's.
void sync_buffers(nn::Module& model, CallSite site = CallSite::here());

namespace detail {

// A module or optimizer behind whatever the author holds it by: itself, a pointer, a smart pointer, a module holder.
template <class T>
auto& object(T& thing) {
  using Plain = std::remove_cv_t<T>;
  if constexpr (std::is_base_of_v<nn::Module, Plain> || std::is_base_of_v<optim::Optimizer, Plain> ||
                std::is_same_v<Plain, Tensor>) {
    return thing;
  } else {
    return *thing;
  }
}
template <class T>
concept Indirect = !std::is_base_of_v<nn::Module, std::remove_cvref_t<T>> &&
                   !std::is_base_of_v<optim::Optimizer, std::remove_cvref_t<T>> &&
                   !std::is_same_v<std::remove_cvref_t<T>, Tensor> && requires(T& t) { *t; };
template <class T>
concept Holding = requires(T& t) { object(t); };

}  // namespace detail

template <detail::Indirect Opt>
void reduce_gradients(Opt&& optimizer, CallSite site = CallSite::here()) {
  reduce_gradients(static_cast<optim::Optimizer&>(*optimizer), site);
}
template <class Model, class Opt>
  requires(detail::Indirect<Model> || detail::Indirect<Opt>)
void overlap(Model&& model, Opt&& optimizer, CallSite site = CallSite::here()) {
  overlap(static_cast<nn::Module&>(detail::object(model)), static_cast<optim::Optimizer&>(detail::object(optimizer)), site);
}
template <detail::Indirect Model>
void sync_batchnorm(Model&& model) {
  sync_batchnorm(static_cast<nn::Module&>(*model));
}
template <detail::Indirect Model>
void sync_buffers(Model&& model, CallSite site = CallSite::here()) {
  sync_buffers(static_cast<nn::Module&>(*model), site);
}

}  // namespace hvd
