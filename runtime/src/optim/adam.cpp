// SPDX-License-Identifier: Apache-2.0
#include "core/tensor_impl.hpp"
#include "optim/options.hpp"

#include <hvd/optim/adam.hpp>

namespace hvd::optim {

AdamOptions& AdamOptions::lr(double value) { return lr_ = value, *this; }
AdamOptions& AdamOptions::betas(std::pair<double, double> value) { return beta1_ = value.first, beta2_ = value.second, *this; }
AdamOptions& AdamOptions::eps(double value) { return eps_ = value, *this; }
AdamOptions& AdamOptions::weight_decay(double value) { return weight_decay_ = value, *this; }
std::unique_ptr<OptimizerOptions> AdamOptions::clone() const { return std::make_unique<AdamOptions>(*this); }

AdamWOptions& AdamWOptions::lr(double value) { return AdamOptions::lr(value), *this; }
AdamWOptions& AdamWOptions::betas(std::pair<double, double> value) { return AdamOptions::betas(value), *this; }
AdamWOptions& AdamWOptions::eps(double value) { return AdamOptions::eps(value), *this; }
AdamWOptions& AdamWOptions::weight_decay(double value) { return AdamOptions::weight_decay(value), *this; }
std::unique_ptr<OptimizerOptions> AdamWOptions::clone() const { return std::make_unique<AdamWOptions>(*this); }

Adam::Adam(std::vector<Tensor> params, AdamOptions options) : Adam(std::vector<ParamGroup>{ParamGroup(std::move(params))}, std::move(options)) {}
Adam::Adam(std::vector<ParamGroup> groups, AdamOptions options) : Optimizer(std::move(groups), options.clone(), {"exp_avg", "exp_avg_sq"}) {}

AdamW::AdamW(std::vector<Tensor> params, AdamWOptions options) : AdamW(std::vector<ParamGroup>{ParamGroup(std::move(params))}, std::move(options)) {}
AdamW::AdamW(std::vector<ParamGroup> groups, AdamWOptions options) : Optimizer(std::move(groups), options.clone(), {"exp_avg", "exp_avg_sq"}) {}

namespace {

void update_parameter(const Tensor& p, const AdamOptions& o, double lr, bool decoupled, int64_t step, std::vector<Tensor>& slots) {
  for (Tensor& slot : slots)
    if (!slot.defined()) slot = zeros_like(p);
  const auto [beta1, beta2] = o.betas();
  const backends::AdamUpdate update{lr, beta1, beta2, o.eps(), o.weight_decay(), decoupled, step};
  const Tensor grad = dense_grad(p);
  core::backend_of(p).adam(p.dtype(), p.numel(), update, grad.raw_data(), slots[0].raw_data(), slots[1].raw_data(), p.raw_data());
  p.storage()->bump_version();
}

}  // namespace

void Adam::step() {
  const NoGradGuard no_grad;
  for (size_t g = 0; g < param_groups().size(); ++g) {
    const AdamOptions& o = options_as<AdamOptions>(param_groups()[g], "Adam");
    for (size_t i = 0; i < param_groups()[g].params().size(); ++i) {
      const Tensor& p = param_groups()[g].params()[i];
      if (!p.grad().defined()) continue;
      ParamState& state = param_state(g, i);
      update_parameter(p, o, o.lr() * lr_factor(), false, ++state.step, state.slots);
    }
  }
}

void AdamW::step() {
  const NoGradGuard no_grad;
  for (size_t g = 0; g < param_groups().size(); ++g) {
    const AdamWOptions& o = options_as<AdamWOptions>(param_groups()[g], "AdamW");
    for (size_t i = 0; i < param_groups()[g].params().size(); ++i) {
      const Tensor& p = param_groups()[g].params()[i];
      if (!p.grad().defined()) continue;
      ParamState& state = param_state(g, i);
      update_parameter(p, o, o.lr() * lr_factor(), true, ++state.step, state.slots);
    }
  }
}

}  // namespace hvd::optim
