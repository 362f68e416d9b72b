// SPDX-License-Identifier: Apache-2.0
#include <hvd/nn/module.hpp>

#include <cxxabi.h>

#include <cstdlib>
#include <typeinfo>

namespace hvd::nn {

void Module::check_new_name(const char* kind, const std::string& name) const {
  const auto refuse = [&](const std::string& why) { throw Error(this->name() + ": " + kind + " '" + name + "' " + why); };
  if (name.empty() || name.find('.') != std::string::npos) refuse("needs a name without dots");
  for (const auto& p : parameters_)
    if (p->name == name) refuse("exists already as a parameter");
  for (const auto& b : buffers_)
    if (b->name == name) refuse("exists already as a buffer");
  for (const auto& c : children_)
    if (c.name == name) refuse("exists already as a module");
}

void Module::add_child(std::string name, std::shared_ptr<Module> module) {
  check_new_name("module", name);
  if (!module) throw Error(this->name() + ": module '" + name + "' is empty");
  children_.push_back({std::move(name), std::move(module)});
}

Tensor& Module::register_parameter(std::string name, Tensor tensor, bool requires_grad) {
  check_new_name("parameter", name);
  if (tensor.defined()) {
    if (!tensor.is_leaf()) throw Error(this->name() + ": parameter '" + name + "' is the result of a recorded operation");
    if (requires_grad) tensor.requires_grad_();
  }
  parameters_.push_back(std::make_unique<NamedTensor>(NamedTensor{std::move(name), std::move(tensor)}));
  return parameters_.back()->tensor;
}

Tensor& Module::register_buffer(std::string name, Tensor tensor) {
  check_new_name("buffer", name);
  buffers_.push_back(std::make_unique<NamedTensor>(NamedTensor{std::move(name), std::move(tensor)}));
  return buffers_.back()->tensor;
}

void Module::collect(const std::string& prefix, bool recurse, bool buffers, std::vector<NamedTensor>& out) const {
  for (const auto& entry : buffers ? buffers_ : parameters_)
    if (entry->tensor.defined()) out.push_back({prefix + entry->name, entry->tensor});
  if (!recurse) return;
  for (const NamedModule& child : children_) child.module->collect(prefix + child.name + ".", true, buffers, out);
}

namespace {

/// A tensor that several modules share is listed once, where it comes first.
std::vector<NamedTensor> without_repeats(std::vector<NamedTensor> list) {
  std::vector<NamedTensor> out;
  for (NamedTensor& entry : list) {
    bool known = false;
    for (const NamedTensor& other : out) known = known || other.tensor.is_same(entry.tensor);
    if (!known) out.push_back(std::move(entry));
  }
  return out;
}

std::vector<Tensor> tensors_of(const std::vector<NamedTensor>& list) {
  std::vector<Tensor> out;
  for (const NamedTensor& entry : list) out.push_back(entry.tensor);
  return out;
}

}  // namespace

std::vector<NamedTensor> Module::named_parameters(bool recurse) const {
  std::vector<NamedTensor> out;
  collect("", recurse, false, out);
  return without_repeats(std::move(out));
}
std::vector<NamedTensor> Module::named_buffers(bool recurse) const {
  std::vector<NamedTensor> out;
  collect("", recurse, true, out);
  return without_repeats(std::move(out));
}
std::vector<Tensor> Module::parameters(bool recurse) const { return tensors_of(named_parameters(recurse)); }
std::vector<Tensor> Module::buffers(bool recurse) const { return tensors_of(named_buffers(recurse)); }

std::vector<std::shared_ptr<Module>> Module::children() const {
  std::vector<std::shared_ptr<Module>> out;
  for (const NamedModule& child : children_) out.push_back(child.module);
  return out;
}

void Module::collect_modules(const std::string& prefix, std::vector<NamedModule>& out) const {
  for (const NamedModule& child : children_) {
    out.push_back({prefix + child.name, child.module});
    child.module->collect_modules(prefix + child.name + ".", out);
  }
}

std::vector<NamedModule> Module::named_modules() const {
  std::vector<NamedModule> out;
  collect_modules("", out);
  return out;
}

std::vector<std::shared_ptr<Module>> Module::modules() const {
  std::vector<std::shared_ptr<Module>> out;
  for (const NamedModule& entry : named_modules()) out.push_back(entry.module);
  return out;
}

void Module::train(bool on) {
  training_ = on;
  for (const NamedModule& child : children_) child.module->train(on);
}

namespace {

/// Moves values and gradient; the handle stays the same tensor.
void convert(const Tensor& t, Device device, Dtype dtype) {
  t.set_data(t.detach().to(device, dtype));
  if (t.grad().defined()) t.mutable_grad() = t.grad().to(device, dtype);
}

}  // namespace

void Module::to(Dtype dtype) {
  if (!is_floating_point(dtype)) throw Error(name() + ": modules convert to float32 or float64, not to " + dtype_name(dtype));
  const NoGradGuard no_grad;
  for (const auto* list : {&parameters_, &buffers_})
    for (const auto& entry : *list)
      if (entry->tensor.defined() && entry->tensor.is_floating_point()) convert(entry->tensor, entry->tensor.device(), dtype);
  for (const NamedModule& child : children_) child.module->to(dtype);
}

void Module::to(Device device) {
  const NoGradGuard no_grad;
  for (const auto* list : {&parameters_, &buffers_})
    for (const auto& entry : *list)
      if (entry->tensor.defined()) convert(entry->tensor, device, entry->tensor.dtype());
  for (const NamedModule& child : children_) child.module->to(device);
}

void Module::zero_grad(bool set_to_none) {
  for (const Tensor& p : parameters()) {
    if (!p.grad().defined()) continue;
    if (set_to_none)
      p.mutable_grad() = Tensor();
    else
      p.grad().zero_();
  }
}

std::string Module::name() const {
  if (!name_.empty()) return name_;
  const char* mangled = typeid(*this).name();
  int status = 0;
  char* text = abi::__cxa_demangle(mangled, nullptr, nullptr, &status);
  std::string out = status == 0 ? text : mangled;
  std::free(text);
  return out;
}

}  // namespace hvd::nn
