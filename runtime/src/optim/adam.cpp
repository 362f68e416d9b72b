// SPDX-License-Identifier: Apache-2.0
#include "optim/together.hpp"

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

using Updates = UpdatesTogether<backends::AdamUpdate>;

void add_update(Updates& updates, const Tensor& p, const AdamOptions& o, double lr, bool decoupled, int64_t step, std::vector<Tensor>& slots) {
  for (Tensor& slot : slots)
    if (!slot.defined()) slot = zeros_like(p);
  const auto [beta1, beta2] = o.betas();
  updates.add(p, {lr, beta1, beta2, o.eps(), o.weight_decay(), decoupled, step}, {slots[0], slots[1]});
}

}  // namespace

void Adam::step() {
  if (core::later_in_step([this] { step(); })) return;
  const NoGradGuard no_grad;
  Updates updates;
  for_each_gradient([&](const ParamGroup& group, const Tensor& p, ParamState& state) {
    const AdamOptions& o = options_as<AdamOptions>(group, "Adam");
    add_update(updates, p, o, o.lr() * lr_factor(), false, state.step, state.slots);
  });
  updates.run(&backends::Backend::adam_all);
}

void AdamW::step() {
  if (core::later_in_step([this] { step(); })) return;
  const NoGradGuard no_grad;
  Updates updates;
  for_each_gradient([&](const ParamGroup& group, const Tensor& p, ParamState& state) {
    const AdamWOptions& o = options_as<AdamWOptions>(group, "AdamW");
    add_update(updates, p, o, o.lr() * lr_factor(), true, state.step, state.slots);
  });
  updates.run(&backends::Backend::adam_all);
}

}  // namespace hvd::optim
