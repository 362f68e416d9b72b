// SPDX-License-Identifier: Apache-2.0
#pragma once

// Gradients of LibTorch programs: weighted backward passes, and their sum over ranks.

#include <string>
#include <type_traits>
#include <utility>

#include <torch/nn/module.h>
#include <torch/nn/modules/container/any.h>
#include <torch/optim/optimizer.h>
#include <torch/ordered_dict.h>
#include <torch/types.h>

#include <hvd/dist/call_site.hpp>
#include <hvd/dist/loss_kind.hpp>

namespace hvd {

/// A loss together with what its gradient counts for. Made by `weighted`; use at once.
class WeightedLoss {
 public:
  WeightedLoss(const at::Tensor& loss, LossKind kind, CallSite site) : loss_(loss), kind_(kind), site_(site) {}
  /// As at::Tensor::backward, the gradient of this pass multiplied by the weight. A filler slice contributes exact zeros to the
  /// parameters of the optimizers, whatever its gradient holds. Collective for the counted kind.
  void backward(const at::Tensor& gradient = {}, c10::optional<bool> retain_graph = c10::nullopt, bool create_graph = false,
                c10::optional<at::TensorList> inputs = c10::nullopt) const;

 private:
  at::Tensor loss_;
  LossKind kind_;
  CallSite site_;
};

/// `weighted(loss, kind).backward()`. Outside a step all ranks hold the same batch, and each counts 1/size().
inline WeightedLoss weighted(const at::Tensor& loss, LossKind kind, CallSite site = CallSite::here()) {
  return WeightedLoss(loss, kind, site);
}

/// Sums the weighted gradients of the optimizer's parameters over ranks, when a backward has run since the last call; else
/// does nothing. A gradient that no rank has stays undefined; one that some rank has counts as zero on the others; a sparse one
/// becomes dense. Also sets the learning rate of a warm-up step. Errors: ranks whose parameters differ in number, size or type.
void reduce_gradients(torch::optim::Optimizer& optimizer, CallSite site = CallSite::here());

/// The same of parameters by themselves. Those of an optimizer are reduced with all of that optimizer's, `reduce_gradients(net->parameters())` in a function that clips
/// them and does not know it. Others are ones that the program updates by hand, `reduce_gradients({w, b})`. Those without requires_grad are left alone. A call then
/// takes the place of an optimizer: the same parameters are one, and so are new ones that have taken the place of those of the call before
/// (`w = (w - rate * w.grad()).detach()`). Errors: HVD_SYNC=parameter-server, where workers have no gradients to update with; new
/// parameters in the place of old ones under any HVD_SYNC but `step`, where means are taken between steps.
void reduce_gradients(at::TensorList parameters, CallSite site = CallSite::here());
inline void reduce_gradients(const torch::OrderedDict<std::string, at::Tensor>& parameters, CallSite site = CallSite::here()) {
  reduce_gradients(parameters.values(), site);
}

/// From now on the gradients of this optimizer are reduced in buckets of HVD_BUCKET_MB (default 4) while backward runs;
/// allowed only where every backward is followed by one reduce_gradients before the next.
void overlap(torch::nn::Module& model, torch::optim::Optimizer& optimizer, CallSite site = CallSite::here());

/// From now on the batch norms that train inside a step, those of the model and all others, take their statistics, and the sums of their
/// backward, over the global batch; running statistics are then the same on all ranks. A rank's slice needs more than one value per
/// channel (LibTorch's own check). Errors: second derivatives. Local.
void sync_batchnorm(torch::nn::Module& model);
void sync_batchnorm();

/// Floating-point buffers: mean over ranks, weighted by the samples each trained on since the last call; integers: the root's.
void sync_buffers(torch::nn::Module& model, CallSite site = CallSite::here());
/// Of a model that a constant function writes into an archive: constant are its members, not what its buffers hold.
inline void sync_buffers(const torch::nn::Module& model, CallSite site = CallSite::here()) { sync_buffers(const_cast<torch::nn::Module&>(model), site); }

namespace detail {

template <class T>
using Bare = std::remove_cv_t<std::remove_reference_t<T>>;
template <class T>
inline constexpr bool is_plain = std::is_base_of_v<torch::nn::Module, Bare<T>> || std::is_base_of_v<torch::optim::Optimizer, Bare<T>> ||
                                 std::is_same_v<Bare<T>, at::Tensor>;
// A module or optimizer behind whatever the author holds it by.
template <class T>
auto& object(T& thing) {
  if constexpr (is_plain<T>) return thing;
  else if constexpr (std::is_same_v<std::remove_cv_t<T>, torch::nn::AnyModule>) return *thing.ptr();
  else if constexpr (is_plain<decltype(*thing)>) return *thing;
  else return object(*thing);  // a pointer to a holder
}

template <class T, class = void>
inline constexpr bool has_behind = false;
template <class T>
inline constexpr bool has_behind<T, std::void_t<decltype(*std::declval<T&>())>> = true;
// Said in the declarations, not only by what fails inside a body: whoever looks at a call alone sees whether it is possible.
template <class T, class To>
constexpr bool leads_to() {
  if constexpr (is_plain<T>) return std::is_convertible_v<T&, To&>;
  else if constexpr (std::is_same_v<std::remove_cv_t<T>, torch::nn::AnyModule>) return std::is_same_v<To, torch::nn::Module>;
  else if constexpr (has_behind<T>) {
    using Behind = std::remove_reference_t<decltype(*std::declval<T&>())>;
    if constexpr (std::is_same_v<std::remove_cv_t<Behind>, std::remove_cv_t<T>>) return false;
    else return leads_to<Behind, To>();
  } else return false;
}
template <class T>
inline constexpr bool holds_module = leads_to<std::remove_reference_t<T>, torch::nn::Module>();
template <class T>
inline constexpr bool holds_optimizer = leads_to<std::remove_reference_t<T>, torch::optim::Optimizer>();

}  // namespace detail

template <class Opt, std::enable_if_t<!detail::is_plain<Opt> && detail::holds_optimizer<Opt>, int> = 0>
void reduce_gradients(Opt&& optimizer, CallSite site = CallSite::here()) {
  reduce_gradients(static_cast<torch::optim::Optimizer&>(detail::object(optimizer)), site);
}
template <class Model, class Opt, std::enable_if_t<(!detail::is_plain<Model> || !detail::is_plain<Opt>) && detail::holds_module<Model> && detail::holds_optimizer<Opt>, int> = 0>
void overlap(Model&& model, Opt&& optimizer, CallSite site = CallSite::here()) {
  overlap(static_cast<torch::nn::Module&>(detail::object(model)), static_cast<torch::optim::Optimizer&>(detail::object(optimizer)), site);
}
template <class Model, std::enable_if_t<!detail::is_plain<Model> && detail::holds_module<Model>, int> = 0>
void sync_batchnorm(Model&& model) {
  sync_batchnorm(static_cast<torch::nn::Module&>(detail::object(model)));
}
template <class Model, std::enable_if_t<!detail::is_plain<Model> && (detail::holds_module<Model> || detail::leads_to<std::remove_reference_t<Model>, const torch::nn::Module>()), int> = 0>
void sync_buffers(Model&& model, CallSite site = CallSite::here()) {
  sync_buffers(static_cast<const torch::nn::Module&>(detail::object(model)), site);
}

}  // namespace hvd
