// SPDX-License-Identifier: Apache-2.0
#pragma once

// Gradients: weighted backward passes, and their sum over ranks.

#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

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
/// The same of parameters by themselves, which the program updates by hand or in an optimizer class of its own; one call for each step and list.
/// Errors: as above; HVD_SYNC=parameter-server, whose workers have no gradients to update with.
void reduce_gradients(const std::vector<Tensor>& parameters, CallSite site = CallSite::here());

/// From now on the gradients of this optimizer are reduced in buckets of HVD_BUCKET_MB (default 4) while backward runs;
/// allowed only where every backward is followed by one reduce_gradients before the next.
void overlap(nn::Module& model, optim::Optimizer& optimizer, CallSite site = CallSite::here());

/// From now on the batch norms that train inside a step, those of the model and all others, compute their statistics over the global batch: layers that
/// are frozen but in training mode go on with statistics of the batch as well. Local.
void sync_batchnorm(nn::Module& model);
void sync_batchnorm();

/// Floating-point buffers: mean over ranks, weighted by the samples each trained on since the last call; integers: the root's.
void sync_buffers(nn::Module& model, CallSite site = CallSite::here());

namespace detail {

template <class T>
inline constexpr bool is_plain = std::is_base_of_v<nn::Module, std::remove_cvref_t<T>> ||
                                 std::is_base_of_v<optim::Optimizer, std::remove_cvref_t<T>> || std::is_same_v<std::remove_cvref_t<T>, Tensor>;

// A module or optimizer behind whatever the author holds it by: itself, a pointer, a smart pointer, a module holder, a pointer to
// one of those.
template <class T>
constexpr auto& object(T& thing) {
  if constexpr (is_plain<T>) return thing;
  else return object(*thing);
}
// Said in the declarations, not only by what fails inside a body: whoever looks at a call alone sees whether it is possible.
template <class T, class To>
constexpr bool leads_to() {
  if constexpr (is_plain<T>) return std::is_convertible_v<T&, To&>;
  else if constexpr (requires(T& thing) { *thing; }) {
    using Behind = std::remove_reference_t<decltype(*std::declval<T&>())>;
    if constexpr (std::is_same_v<std::remove_cv_t<Behind>, std::remove_cv_t<T>>) return false;
    else return leads_to<Behind, To>();
  } else return false;
}
template <class T>
concept HoldsModule = leads_to<std::remove_reference_t<T>, nn::Module>();
template <class T>
concept HoldsOptimizer = leads_to<std::remove_reference_t<T>, optim::Optimizer>();
template <class T>
concept Holding = HoldsModule<T> || HoldsOptimizer<T> || leads_to<std::remove_reference_t<T>, Tensor>();

}  // namespace detail

template <detail::HoldsOptimizer Opt>
  requires(!detail::is_plain<Opt>)
void reduce_gradients(Opt&& optimizer, CallSite site = CallSite::here()) {
  reduce_gradients(static_cast<optim::Optimizer&>(detail::object(optimizer)), site);
}
template <detail::HoldsModule Model, detail::HoldsOptimizer Opt>
  requires(!detail::is_plain<Model> || !detail::is_plain<Opt>)
void overlap(Model&& model, Opt&& optimizer, CallSite site = CallSite::here()) {
  overlap(static_cast<nn::Module&>(detail::object(model)), static_cast<optim::Optimizer&>(detail::object(optimizer)), site);
}
template <detail::HoldsModule Model>
  requires(!detail::is_plain<Model>)
void sync_batchnorm(Model&& model) {
  sync_batchnorm(static_cast<nn::Module&>(detail::object(model)));
}
template <detail::HoldsModule Model>
  requires(!detail::is_plain<Model>)
void sync_buffers(Model&& model, CallSite site = CallSite::here()) {
  sync_buffers(static_cast<nn::Module&>(detail::object(model)), site);
}

}  // namespace hvd
