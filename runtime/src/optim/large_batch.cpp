// SPDX-License-Identifier: Apache-2.0
#include "core/tensor_impl.hpp"
#include "optim/options.hpp"

#include <hvd/optim/large_batch.hpp>

#include <cmath>

namespace hvd::optim {

LARSOptions& LARSOptions::lr(double value) { return lr_ = value, *this; }
LARSOptions& LARSOptions::momentum(double value) { return momentum_ = value, *this; }
LARSOptions& LARSOptions::weight_decay(double value) { return weight_decay_ = value, *this; }
LARSOptions& LARSOptions::trust_coefficient(double value) { return trust_ = value, *this; }
LARSOptions& LARSOptions::eps(double value) { return eps_ = value, *this; }
LARSOptions& LARSOptions::adapt(bool value) { return adapt_ = value, *this; }
std::unique_ptr<OptimizerOptions> LARSOptions::clone() const { return std::make_unique<LARSOptions>(*this); }

LAMBOptions& LAMBOptions::lr(double value) { return lr_ = value, *this; }
LAMBOptions& LAMBOptions::betas(std::pair<double, double> value) { return beta1_ = value.first, beta2_ = value.second, *this; }
LAMBOptions& LAMBOptions::eps(double value) { return eps_ = value, *this; }
LAMBOptions& LAMBOptions::weight_decay(double value) { return weight_decay_ = value, *this; }
LAMBOptions& LAMBOptions::adapt(bool value) { return adapt_ = value, *this; }
std::unique_ptr<OptimizerOptions> LAMBOptions::clone() const { return std::make_unique<LAMBOptions>(*this); }

LARS::LARS(std::vector<Tensor> params, LARSOptions options) : LARS(std::vector<ParamGroup>{ParamGroup(std::move(params))}, std::move(options)) {}
LARS::LARS(std::vector<ParamGroup> groups, LARSOptions options) : Optimizer(std::move(groups), options.clone(), {"momentum"}) {}

LAMB::LAMB(std::vector<Tensor> params, LAMBOptions options) : LAMB(std::vector<ParamGroup>{ParamGroup(std::move(params))}, std::move(options)) {}
LAMB::LAMB(std::vector<ParamGroup> groups, LAMBOptions options) : Optimizer(std::move(groups), options.clone(), {"exp_avg", "exp_avg_sq"}) {}

namespace {

double length_of(const Tensor& dense) { return std::sqrt(core::backend_of(dense).sum_squares(dense.dtype(), dense.numel(), dense.raw_data())); }

double lars_ratio(const Tensor& p, const Tensor& grad, const LARSOptions& o) {
  const double weight = length_of(p), gradient = length_of(grad);
  if (!o.adapt() || weight == 0 || gradient == 0) return 1;
  return o.trust_coefficient() * weight / (gradient + o.weight_decay() * weight + o.eps());
}

}  // namespace

void LARS::step() {
  if (core::later_in_step([this] { step(); })) return;
  const NoGradGuard no_grad;
  for_each_gradient([&](const ParamGroup& group, const Tensor& p, ParamState& state) {
    const LARSOptions& o = options_as<LARSOptions>(group, "LARS");
    const Tensor grad = dense_grad(p);
    Tensor g = grad.clone();
    if (o.weight_decay() != 0) g.add_(p.detach(), o.weight_decay());
    g.mul_(lars_ratio(p, grad, o));
    const bool first = !state.slots[0].defined();
    if (first) state.slots[0] = zeros_like(p);
    const backends::SgdUpdate update{o.lr() * lr_factor(), o.momentum(), 0, 0, false, first};
    core::backend_of(p).sgd(p.dtype(), p.numel(), update, g.raw_data(), state.slots[0].raw_data(), p.raw_data());
    p.storage()->bump_version();
  });
}

void LAMB::step() {
  if (core::later_in_step([this] { step(); })) return;
  const NoGradGuard no_grad;
  for_each_gradient([&](const ParamGroup& group, const Tensor& p, ParamState& state) {
    const LAMBOptions& o = options_as<LAMBOptions>(group, "LAMB");
    for (Tensor& slot : state.slots)
      if (!slot.defined()) slot = zeros_like(p);
    const Tensor grad = dense_grad(p), direction = core::make_like(p);
    const auto [beta1, beta2] = o.betas();
    const backends::LambUpdate update{beta1, beta2, o.eps(), o.weight_decay(), state.step};
    const backends::Backend& backend = core::backend_of(p);
    backend.lamb_direction(p.dtype(), p.numel(), update, grad.raw_data(), state.slots[0].raw_data(), state.slots[1].raw_data(), p.raw_data(),
                           direction.raw_data());
    const double weight = length_of(p), length = length_of(direction);
    const double ratio = o.adapt() && weight > 0 && length > 0 ? weight / length : 1;
    backend.axpy(p.dtype(), p.numel(), -o.lr() * lr_factor() * ratio, direction.raw_data(), p.raw_data());
    p.storage()->bump_version();
  });
}

}  // namespace hvd::optim
