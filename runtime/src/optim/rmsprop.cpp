// SPDX-License-Identifier: Apache-2.0
#include "optim/together.hpp"

#include <hvd/optim/rmsprop.hpp>

namespace hvd::optim {

RMSpropOptions& RMSpropOptions::lr(double value) { return lr_ = value, *this; }
RMSpropOptions& RMSpropOptions::alpha(double value) { return alpha_ = value, *this; }
RMSpropOptions& RMSpropOptions::eps(double value) { return eps_ = value, *this; }
RMSpropOptions& RMSpropOptions::weight_decay(double value) { return weight_decay_ = value, *this; }
RMSpropOptions& RMSpropOptions::momentum(double value) { return momentum_ = value, *this; }
RMSpropOptions& RMSpropOptions::centered(bool value) { return centered_ = value, *this; }
std::unique_ptr<OptimizerOptions> RMSpropOptions::clone() const { return std::make_unique<RMSpropOptions>(*this); }

RMSprop::RMSprop(std::vector<Tensor> params, RMSpropOptions options)
    : RMSprop(std::vector<ParamGroup>{ParamGroup(std::move(params))}, std::move(options)) {}
RMSprop::RMSprop(std::vector<ParamGroup> groups, RMSpropOptions options)
    : Optimizer(std::move(groups), options.clone(), {"square_avg", "grad_avg", "momentum"}) {}

void RMSprop::step() {
  if (core::later_in_step([this] { step(); })) return;
  const NoGradGuard no_grad;
  UpdatesTogether<backends::RmspropUpdate> updates;
  for_each_gradient([&](const ParamGroup& group, const Tensor& p, ParamState& state) {
    const RMSpropOptions& o = options_as<RMSpropOptions>(group, "RMSprop");
    const bool wanted[] = {true, o.centered(), o.momentum() != 0};
    for (size_t s = 0; s < state.slots.size(); ++s)
      if (wanted[s] && !state.slots[s].defined()) state.slots[s] = zeros_like(p);
    const auto slot = [&](size_t s) { return wanted[s] ? state.slots[s] : Tensor(); };
    updates.add(p, {o.lr() * lr_factor(), o.alpha(), o.eps(), o.momentum(), o.weight_decay()}, {slot(0), slot(1), slot(2)});
  });
  updates.run(&backends::Backend::rmsprop_all);
}

}  // namespace hvd::optim
