// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hvd/nn/holder.hpp>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace hvd::nn {

namespace detail {
/// A module whose forward takes a tensor and gives a tensor.
class Layer {
 public:
  virtual ~Layer() = default;
  virtual Tensor forward(const Tensor& x) = 0;
};
template <class M>
class LayerOf final : public Layer {
 public:
  explicit LayerOf(std::shared_ptr<M> module) : module_(std::move(module)) {}
  Tensor forward(const Tensor& x) override { return module_->forward(x); }

 private:
  std::shared_ptr<M> module_;
};
}  // namespace detail

/// Modules one after the other; the children are named "0", "1", ... unless named.
class SequentialImpl : public Module {
 public:
  SequentialImpl() = default;
  template <class... Modules>
  explicit SequentialImpl(Modules&&... modules) {
    (push_back(std::forward<Modules>(modules)), ...);
  }

  template <class M>
  void push_back(std::shared_ptr<M> module) {
    push_back(std::to_string(layers_.size()), std::move(module));
  }
  template <class M>
  void push_back(std::string name, std::shared_ptr<M> module) {
    layers_.push_back(std::make_unique<detail::LayerOf<M>>(module));
    register_module(std::move(name), std::move(module));
  }
  template <class M>
  void push_back(const ModuleHolder<M>& holder) {
    push_back(holder.ptr());
  }
  template <class M>
  void push_back(std::string name, const ModuleHolder<M>& holder) {
    push_back(std::move(name), holder.ptr());
  }

  Tensor forward(const Tensor& x);
  size_t size() const { return layers_.size(); }

 private:
  std::vector<std::unique_ptr<detail::Layer>> layers_;
};
HVD_MODULE(Sequential);

}  // namespace hvd::nn
