// SPDX-License-Identifier: Apache-2.0
#include "core/step_recording.hpp"

#include <hvd/context.hpp>
#include <hvd/optim/optimizer.hpp>

#include <algorithm>

namespace hvd::optim {

ParamGroup::ParamGroup(const ParamGroup& other) : params_(other.params_), options_(other.options_ ? other.options_->clone() : nullptr) {}
ParamGroup& ParamGroup::operator=(const ParamGroup& other) {
  params_ = other.params_;
  options_ = other.options_ ? other.options_->clone() : nullptr;
  return *this;
}
OptimizerOptions& ParamGroup::options() {
  if (!options_) throw Error("ParamGroup: no options yet; a group takes the optimizer's when it is added");
  return *options_;
}
const OptimizerOptions& ParamGroup::options() const { return const_cast<ParamGroup*>(this)->options(); }

Optimizer::Optimizer(std::vector<ParamGroup> groups, std::unique_ptr<OptimizerOptions> defaults, std::vector<std::string> slots)
    : defaults_(std::move(defaults)), slots_(std::move(slots)) {
  for (ParamGroup& group : groups) add_param_group(std::move(group));
}

void Optimizer::add_param_group(ParamGroup group) {
  for (const Tensor& p : group.params()) {
    if (!p.defined() || !p.is_leaf()) throw Error("optimizer: parameters are leaves; one of the group is undefined or computed");
    for (const Tensor& other : parameters())
      if (p.is_same(other)) throw Error("optimizer: a parameter " + to_string(p.sizes()) + " is in two groups");
  }
  if (!group.has_options()) group.set_options(defaults_->clone());
  states_.emplace_back(group.params().size());
  groups_.push_back(std::move(group));
}

std::vector<Tensor> Optimizer::parameters() const {
  std::vector<Tensor> out;
  for (const ParamGroup& group : groups_) out.insert(out.end(), group.params().begin(), group.params().end());
  return out;
}

void Optimizer::zero_grad(bool set_to_none) {
  core::StepRecording* const recording = context().step_recording;
  if (recording && set_to_none) recording->again([this] { zero_grad(); });
  for (const ParamGroup& group : groups_)
    for (const Tensor& p : group.params()) {
      if (recording && set_to_none) recording->cleared(p);
      if (!p.grad().defined()) continue;
      if (set_to_none)
        p.mutable_grad() = Tensor();
      else
        p.grad().zero_();
    }
}

double Optimizer::lr() const {
  if (groups_.empty()) throw Error("optimizer: no parameter groups, no learning rate");
  return groups_[0].options().get_lr();
}
void Optimizer::set_lr(double lr) {
  for (ParamGroup& group : groups_) group.options().set_lr(lr);
}

Optimizer::ParamState& Optimizer::param_state(size_t group, size_t i) {
  // Those of the library leave their steps to the host; the numbers of another one would stay what they are now.
  if (context().step_recording) throw Error("StepGraph: an optimizer of the program's own makes a step within the noted one: call its step() outside of it");
  // A group may have been given more parameters since it was added.
  if (states_[group].size() < groups_[group].params().size()) states_[group].resize(groups_[group].params().size());
  ParamState& state = states_[group][i];
  state.slots.resize(slots_.size());
  return state;
}

std::vector<NamedTensor> Optimizer::state() const {
  std::vector<NamedTensor> out;
  size_t index = 0;
  for (size_t g = 0; g < groups_.size(); ++g)
    for (size_t i = 0; i < groups_[g].params().size(); ++i, ++index) {
      if (i >= states_[g].size()) continue;
      const ParamState& state = states_[g][i];
      for (size_t s = 0; s < state.slots.size(); ++s)
        if (state.slots[s].defined()) out.push_back({std::to_string(index) + "." + slots_[s], state.slots[s]});
      if (state.step > 0) out.push_back({std::to_string(index) + ".step", tensor(state.step)});
    }
  for (size_t g = 0; g < groups_.size(); ++g)
    out.push_back({"group." + std::to_string(g) + ".lr", tensor(groups_[g].options().get_lr(), kFloat64)});
  return out;
}

namespace {

[[noreturn]] void refuse(const std::string& name, const std::string& why) { throw Error("optimizer state '" + name + "': " + why); }

size_t number(const std::string& text, const std::string& name) {
  if (text.empty() || text.size() > 9 || !std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; }))
    refuse(name, "a name like '3.step' or 'group.0.lr' expected");
  return static_cast<size_t>(std::stoul(text));
}

}  // namespace

void Optimizer::load_group(const NamedTensor& entry) {
  const size_t end = entry.name.rfind(".lr");
  if (end == std::string::npos || end < 6 || end + 3 != entry.name.size()) refuse(entry.name, "a name like 'group.0.lr' expected");
  const size_t g = number(entry.name.substr(6, end - 6), entry.name);
  if (g >= groups_.size()) refuse(entry.name, "the optimizer has " + std::to_string(groups_.size()) + " parameter groups");
  groups_[g].options().set_lr(entry.tensor.item<double>());
}

void Optimizer::load_slot(const NamedTensor& entry) {
  const size_t dot = entry.name.find('.');
  size_t i = number(entry.name.substr(0, dot), entry.name), g = 0;
  while (g < groups_.size() && i >= groups_[g].params().size()) i -= groups_[g++].params().size();
  if (g == groups_.size()) refuse(entry.name, "the optimizer has " + std::to_string(parameters().size()) + " parameters");
  const std::string slot = dot == std::string::npos ? "" : entry.name.substr(dot + 1);
  ParamState& state = param_state(g, i);
  if (slot == "step") {
    state.step = entry.tensor.item<int64_t>();
    return;
  }
  const auto at = std::find(slots_.begin(), slots_.end(), slot);
  if (at == slots_.end()) refuse(entry.name, "this optimizer keeps no '" + slot + "'");
  const Tensor& param = groups_[g].params()[i];
  if (entry.tensor.sizes() != param.sizes())
    refuse(entry.name, "shape " + to_string(entry.tensor.sizes()) + " for a parameter " + to_string(param.sizes()));
  state.slots[at - slots_.begin()] = entry.tensor.detach().to(param.device(), param.dtype()).clone().contiguous();
}

void Optimizer::load_state(const std::vector<NamedTensor>& state) {
  const std::vector<std::vector<ParamState>> before = std::move(states_);
  states_.clear();
  for (const ParamGroup& group : groups_) states_.emplace_back(group.params().size());
  try {
    for (const NamedTensor& entry : state) {
      if (entry.name.rfind("group.", 0) == 0)
        load_group(entry);
      else
        load_slot(entry);
    }
  } catch (...) {
    states_ = before;
    throw;
  }
}

}  // namespace hvd::optim
