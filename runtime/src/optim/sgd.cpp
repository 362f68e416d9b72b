// SPDX-License-Identifier: Apache-2.0
#include "optim/together.hpp"

#include <hvd/optim/sgd.hpp>

namespace hvd::optim {

SGDOptions& SGDOptions::lr(double value) { return lr_ = value, *this; }
SGDOptions& SGDOptions::momentum(double value) { return momentum_ = value, *this; }
SGDOptions& SGDOptions::dampening(double value) { return dampening_ = value, *this; }
SGDOptions& SGDOptions::weight_decay(double value) { return weight_decay_ = value, *this; }
SGDOptions& SGDOptions::nesterov(bool value) { return nesterov_ = value, *this; }
std::unique_ptr<OptimizerOptions> SGDOptions::clone() const { return std::make_unique<SGDOptions>(*this); }

SGD::SGD(std::vector<Tensor> params, SGDOptions options) : SGD(std::vector<ParamGroup>{ParamGroup(std::move(params))}, std::move(options)) {}
SGD::SGD(std::vector<ParamGroup> groups, SGDOptions options) : Optimizer(std::move(groups), options.clone(), {"momentum"}) {
  for (const ParamGroup& group : param_groups()) {
    const SGDOptions& o = options_as<SGDOptions>(group, "SGD");
    if (o.nesterov() && (o.momentum() <= 0 || o.dampening() != 0)) throw Error("SGD: Nesterov momentum needs a momentum and no dampening");
  }
}

void SGD::step() {
  if (core::later_in_step([this] { step(); })) return;
  const NoGradGuard no_grad;
  UpdatesTogether<backends::SgdUpdate> updates;
  for_each_gradient([&](const ParamGroup& group, const Tensor& p, ParamState& state) {
    const SGDOptions& o = options_as<SGDOptions>(group, "SGD");
    const bool first = o.momentum() != 0 && !state.slots[0].defined();
    if (first) state.slots[0] = zeros_like(p);
    const backends::SgdUpdate update{o.lr() * lr_factor(), o.momentum(), o.dampening(), o.weight_decay(), o.nesterov(), first};
    updates.add(p, update, {o.momentum() != 0 ? state.slots[0] : Tensor()});
  });
  updates.run(&backends::Backend::sgd_all);
}

}  // namespace hvd::optim
