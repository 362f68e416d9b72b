// SPDX-License-Identifier: Apache-2.0
#include "core/tensor_impl.hpp"
#include "optim/options.hpp"

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
  const NoGradGuard no_grad;
  for (size_t g = 0; g < param_groups().size(); ++g) {
    const SGDOptions& o = options_as<SGDOptions>(param_groups()[g], "SGD");
    for (size_t i = 0; i < param_groups()[g].params().size(); ++i) {
      const Tensor& p = param_groups()[g].params()[i];
      if (!p.grad().defined()) continue;
      ParamState& state = param_state(g, i);
      const bool first = o.momentum() != 0 && !state.slots[0].defined();
      if (first) state.slots[0] = zeros_like(p);
      ++state.step;
      const backends::SgdUpdate update{o.lr() * lr_factor(), o.momentum(), o.dampening(), o.weight_decay(), o.nesterov(), first};
      const Tensor grad = dense_grad(p);
      core::backend_of(p).sgd(p.dtype(), p.numel(), update, grad.raw_data(), o.momentum() != 0 ? state.slots[0].raw_data() : nullptr, p.raw_data());
      p.storage()->bump_version();
    }
  }
}

}  // namespace hvd::optim
