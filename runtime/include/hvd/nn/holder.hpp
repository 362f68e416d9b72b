// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hvd/nn/module.hpp>

#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>

namespace hvd::nn {

namespace detail {
struct ModuleHolderTag {};
template <class T>
inline constexpr bool is_module_pointer = false;
template <class T>
inline constexpr bool is_module_pointer<std::shared_ptr<T>> = true;
}  // namespace detail

/// A shared handle on a module of type T: constructing it constructs the module, `Holder{nullptr}` is empty. Copies are the
/// same module.
template <class T>
class ModuleHolder : public detail::ModuleHolderTag {
 public:
  using ContainedType = T;

  ModuleHolder() : module_(std::make_shared<T>()) {}
  ModuleHolder(std::nullptr_t) {}
  ModuleHolder(std::shared_ptr<T> module) : module_(std::move(module)) {}
  template <class Head, class... Tail,
            class = std::enable_if_t<!(sizeof...(Tail) == 0 && (std::is_base_of_v<ModuleHolder<T>, std::decay_t<Head>> ||
                                                                std::is_same_v<std::decay_t<Head>, std::nullptr_t> ||
                                                                detail::is_module_pointer<std::decay_t<Head>>))>>
  explicit ModuleHolder(Head&& head, Tail&&... tail) : module_(std::make_shared<T>(std::forward<Head>(head), std::forward<Tail>(tail)...)) {}

  T* operator->() const { return get(); }
  T& operator*() const { return *get(); }
  T* get() const {
    if (!module_) throw Error("use of an empty module holder");
    return module_.get();
  }
  const std::shared_ptr<T>& ptr() const { return module_; }
  bool is_empty() const { return !module_; }
  explicit operator bool() const { return module_ != nullptr; }
  template <class... Args>
  auto operator()(Args&&... args) const {
    return get()->forward(std::forward<Args>(args)...);
  }

 private:
  std::shared_ptr<T> module_;
};

}  // namespace hvd::nn

/// After `struct NetImpl : hvd::nn::Module { ... };` makes the handle class `Net`.
#define HVD_MODULE(Name)                                    \
  class Name : public ::hvd::nn::ModuleHolder<Name##Impl> { \
   public:                                                  \
    using ::hvd::nn::ModuleHolder<Name##Impl>::ModuleHolder; \
    using Impl = Name##Impl;                                \
  }
