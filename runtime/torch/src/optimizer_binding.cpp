// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>

#include "state.hpp"

namespace hvd::torch_binding {

namespace {

std::vector<dist::GradientSpec> specs_of(const std::vector<at::Tensor>& params, const std::vector<std::string>& names) {
  std::vector<dist::GradientSpec> specs;
  for (std::size_t i = 0; i < params.size(); ++i)
    specs.push_back({i < names.size() && !names[i].empty() ? names[i] : "parameter " + std::to_string(i),
                     static_cast<std::size_t>(params[i].numel()), wire_type(params[i])});
  return specs;
}

// zero_grad leaves zeros behind by default before LibTorch 2; looking at them is cheaper than treating them as gradients.
bool all_zero(const at::Tensor& t) {
  if (t.is_sparse()) return t._nnz() == 0;
  if (!t.device().is_cpu()) return false;
  const at::Tensor flat = t.contiguous();
  const char* bytes = static_cast<const char*>(flat.data_ptr());
  const std::size_t n = flat.nbytes();
  // Bitwise: a negative zero merely counts as a value to keep.
  return n == 0 || (bytes[0] == 0 && std::memcmp(bytes, bytes + 1, n - 1) == 0);
}

}  // namespace

OptimizerBinding::OptimizerBinding(Rank& rank, torch::optim::Optimizer& optimizer, const std::vector<std::string>& names)
    : optimizer_(&optimizer), share_(1.0 / rank.size()), params_(parameters_of(optimizer)), aside_(params_.size()),
      reduced_(params_.size()), leftover_(params_.size()),
      reducer_(std::make_unique<dist::Reducer>(rank, specs_of(params_, names), rank.settings.bucket_bytes)) {
  for (const at::Tensor& p : params_) places_.push_back(p.unsafeGetTensorImpl());
}

OptimizerBinding::~OptimizerBinding() {
  for (std::size_t i = 0; i < hooks_.size(); ++i)
    if (hooks_[i] != ~0u) params_[i].remove_hook(hooks_[i]);
}

bool OptimizerBinding::fits(torch::optim::Optimizer& optimizer) const {
  const std::vector<at::Tensor> now = parameters_of(optimizer);
  if (now.size() != params_.size()) return false;
  for (std::size_t i = 0; i < now.size(); ++i) {
    const dist::GradientSpec& spec = reducer_->specs()[i];
    if (now[i].unsafeGetTensorImpl() != places_[i] || static_cast<std::size_t>(now[i].numel()) != spec.count || wire_type(now[i]) != spec.type)
      return false;
    if (overlap_ && hooks_[i] == ~0u && now[i].requires_grad()) return false;  // thawed since
  }
  return true;
}

bool OptimizerBinding::shares_parameters(torch::optim::Optimizer& optimizer) const {
  const std::vector<at::Tensor> others = parameters_of(optimizer);
  return std::any_of(others.begin(), others.end(), [&](const at::Tensor& t) {
    return std::find(places_.begin(), places_.end(), t.unsafeGetTensorImpl()) != places_.end();
  });
}

void OptimizerBinding::overlap() {
  if (overlap_) return;
  overlap_ = true;
  hooks_.assign(params_.size(), ~0u);
  for (std::size_t i = 0; i < params_.size(); ++i) hook(i);
}

void OptimizerBinding::hook(std::size_t i) {
  if (!params_[i].requires_grad() || !params_[i].is_leaf()) return;
  hooks_[i] = params_[i].register_hook([this, i](at::Tensor incoming) -> void { ready(i, incoming); });
}

void OptimizerBinding::before_backward(bool discard) {
  discard_ = discard;
  running_ = true;
  for (std::size_t i = 0; i < params_.size(); ++i) {
    at::Tensor& grad = params_[i].mutable_grad();
    leftover_[i] = grad.defined() && !all_zero(grad);
    if (leftover_[i] && reduced_[i]) grad = grad.detach() * share_;
    reduced_[i] = 0;
    if (discard) {
      aside_[i] = grad;
      grad = at::Tensor();
    }
  }
}

void OptimizerBinding::after_backward() {
  running_ = false;
  if (!discard_) return;
  for (std::size_t i = 0; i < params_.size(); ++i) {
    params_[i].mutable_grad() = aside_[i];
    aside_[i] = at::Tensor();
  }
}

void OptimizerBinding::ready(std::size_t i, const at::Tensor& incoming) {
  if (!running_ || discard_ || !incoming.defined()) return;
  const at::NoGradGuard no_grad;
  const at::Tensor whole = leftover_[i] ? incoming.detach() + params_[i].grad().detach() : incoming;
  const at::Tensor wire = to_wire(whole);
  // After a change of type the plan is made anew by the coming reduction.
  if (static_cast<std::size_t>(wire.numel()) != reducer_->specs()[i].count || wire_type(whole) != reducer_->specs()[i].type) return;
  reducer_->contribute(i, wire.data_ptr());
}

void OptimizerBinding::write_back() {
  for (std::size_t i = 0; i < params_.size(); ++i) {
    at::Tensor& grad = params_[i].mutable_grad();
    reduced_[i] = grad.defined() || reducer_->anywhere(i);
    if (!reducer_->anywhere(i)) continue;  // no rank has a gradient
    if (!grad.defined() || grad.is_sparse()) grad = at::zeros_like(params_[i].detach());
    const at::ScalarType type = reducer_->specs()[i].type == dist::DataType::float64 ? at::kDouble : at::kFloat;
    const at::Tensor sum = at::from_blob(const_cast<void*>(reducer_->sum(i)), params_[i].sizes(), at::TensorOptions().dtype(type));
    grad.detach().copy_(sum);
  }
}

void OptimizerBinding::reduce(Rank& rank) {
  const at::NoGradGuard no_grad;
  reducer_->begin();
  for (std::size_t i = params_.size(); i-- > 0;)
    if (!reducer_->contributed(i) && params_[i].grad().defined()) reducer_->contribute(i, to_wire(params_[i].grad()).data_ptr());
  reducer_->finish();
  write_back();
  if (overlap_ && !ordered_) {
    ordered_ = true;
    reducer_->reorder(rank, reducer_->order());
  }
}

}  // namespace hvd::torch_binding
