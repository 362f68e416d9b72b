// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hvd/tensor.hpp>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace hvd::nn {

class Module;

/// A child module with its name.
struct NamedModule {
  std::string name;
  std::shared_ptr<Module> module;
  const std::string& key() const { return name; }
  const std::shared_ptr<Module>& value() const { return module; }
};

template <class T>
class ModuleHolder;

/// Base of all layers and models: owns parameters, buffers (state that is not trained) and child modules, each by name.
/// Lists come in order of registration, own entries before those of children, names joined by dots.
class Module {
 public:
  Module() = default;
  explicit Module(std::string name) : name_(std::move(name)) {}
  virtual ~Module() = default;

  /// Adds a child and returns it. Names must be new and without dots.
  template <class M>
  std::shared_ptr<M> register_module(std::string name, std::shared_ptr<M> module) {
    add_child(std::move(name), module);
    return module;
  }
  template <class M>
  std::shared_ptr<M> register_module(std::string name, ModuleHolder<M> holder) {
    add_child(std::move(name), holder.ptr());
    return holder.ptr();
  }
  /// An undefined tensor is kept as "no such parameter" and left out of the lists.
  Tensor& register_parameter(std::string name, Tensor tensor, bool requires_grad = true);
  Tensor& register_buffer(std::string name, Tensor tensor);

  std::vector<Tensor> parameters(bool recurse = true) const;
  std::vector<NamedTensor> named_parameters(bool recurse = true) const;
  std::vector<Tensor> buffers(bool recurse = true) const;
  std::vector<NamedTensor> named_buffers(bool recurse = true) const;
  std::vector<std::shared_ptr<Module>> children() const;
  std::vector<NamedModule> named_children() const { return children_; }
  /// All modules below this one, depth first, this one not included.
  std::vector<std::shared_ptr<Module>> modules() const;
  std::vector<NamedModule> named_modules() const;

  virtual void train(bool on = true);
  void eval() { train(false); }
  bool is_training() const { return training_; }

  /// Converts parameters and buffers in place: floating-point ones change dtype, all of them device.
  virtual void to(Dtype dtype);
  virtual void to(Device device);
  void to(DeviceType device) { to(Device(device)); }
  virtual void zero_grad(bool set_to_none = true);

  /// The name given to the constructor, else the class name.
  std::string name() const;

 private:
  void add_child(std::string name, std::shared_ptr<Module> module);
  void check_new_name(const char* kind, const std::string& name) const;
  void collect(const std::string& prefix, bool recurse, bool buffers, std::vector<NamedTensor>& out) const;
  void collect_modules(const std::string& prefix, std::vector<NamedModule>& out) const;

  std::string name_;
  std::vector<std::unique_ptr<NamedTensor>> parameters_;  // stable addresses: register_parameter returns references
  std::vector<std::unique_ptr<NamedTensor>> buffers_;
  std::vector<NamedModule> children_;
  bool training_ = true;
};

}  // namespace hvd::nn
