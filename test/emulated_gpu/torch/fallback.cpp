// SPDX-License-Identifier: Apache-2.0
//
// Every operation on a tensor of an emulated GPU: run by the host's kernels on the same memory, which is open while they run. As on a GPU,
// operands lie on one GPU, and only numbers (tensors without dimensions) and indices may be the host's.
#include "test/emulated_gpu/torch/copies.hpp"
#include "test/emulated_gpu/torch/generator.hpp"
#include "test/emulated_gpu/torch/host_view.hpp"
#include "test/emulated_gpu/torch/memory.hpp"

#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/library.h>

#include <cstring>
#include <string>
#include <vector>

namespace emulated_torch {

namespace {

/// The operands of one call.
class Call {
 public:
  Call(const c10::OperatorHandle& op, std::vector<c10::IValue> arguments) : schema_(op.schema()), before_(std::move(arguments)) {
    for (std::size_t i = 0; i < before_.size(); ++i) note(before_[i]);
    device_ = gpu_.value_or(c10::Device(c10::DeviceType::CUDA, static_cast<c10::DeviceIndex>(current_device())));
    if (!device_.has_index()) device_ = c10::Device(c10::DeviceType::CUDA, static_cast<c10::DeviceIndex>(current_device()));
    check_operands();
    for (std::size_t i = 0; i < before_.size(); ++i) views_.push_back(viewed(before_[i], schema_.arguments()[i]));
  }

  const std::vector<c10::IValue>& views() const { return views_; }

  /// What the call gives back; and what it has written is taken over.
  std::vector<c10::IValue> results(const std::vector<c10::IValue>& given) const {
    for (std::size_t i = 0; i < before_.size(); ++i) {
      const c10::AliasInfo* const alias = schema_.arguments()[i].alias_info();
      if (alias && alias->isWrite()) written(before_[i], views_[i]);
    }
    std::vector<c10::IValue> out;
    for (std::size_t r = 0; r < given.size(); ++r) out.push_back(result(given[r], schema_.returns()[r].alias_info()));
    return out;
  }

 private:
  void note(const c10::IValue& value) {
    if (value.isTensor()) {
      const at::Tensor& t = value.toTensor();
      if (!t.defined()) return;
      tensors_.push_back(t);
      if (t.is_cuda() && !gpu_) gpu_ = t.device();
    } else if (value.isList()) {
      for (const c10::IValue& entry : value.toListRef()) note(entry);
    } else if (value.isDevice() && value.toDevice().is_cuda() && !gpu_) {
      gpu_ = value.toDevice();
    }
  }

  void check_operands() const {
    const bool indexes = schema_.name().find("index") != std::string::npos;
    for (const at::Tensor& t : tensors_) {
      const bool fits = t.is_cuda() ? t.device() == device_ : t.dim() == 0 || indexes;
      TORCH_CHECK(fits, "Expected all tensors to be on the same device, but found at least two devices, ", device_, " and ", t.device(), "! (", schema_.name(), ")");
    }
  }

  c10::IValue viewed(const c10::IValue& value, const c10::Argument& argument) const {
    const std::string type = argument.type()->str();
    if (value.isTensor()) return host_view(value.toTensor());
    if (value.isList()) {
      c10::List<c10::IValue> list = value.toList().copy();
      for (std::size_t i = 0; i < list.size(); ++i)
        if (const c10::IValue entry = list.get(i); entry.isTensor()) list.set(i, host_view(entry.toTensor()));
      return list;
    }
    if (value.isDevice()) return c10::Device(c10::DeviceType::CPU);
    if (argument.name() == "pin_memory") return c10::IValue();
    if (type.find("Generator") != std::string::npos) return host_generator(value.isNone() ? default_generator(device_.index()) : value.toGenerator());
    return value;
  }

  static void written(const c10::IValue& before, const c10::IValue& view) {
    if (before.isTensor() && before.toTensor().defined() && before.toTensor().is_cuda()) take_over(before.toTensor(), view.toTensor());
    if (before.isTensorList())
      for (std::size_t i = 0; i < before.toTensorList().size(); ++i) take_over(before.toTensorList().get(i), view.toTensorList().get(i));
  }

  c10::IValue result(const c10::IValue& given, const c10::AliasInfo* alias) const {
    if (given.isTensor()) {
      if (alias && alias->isWrite())
        for (std::size_t i = 0; i < before_.size(); ++i) {
          const c10::AliasInfo* const argument = schema_.arguments()[i].alias_info();
          if (argument && *argument == *alias) return before_[i];
        }
      return device_result(given.toTensor(), tensors_, device_);
    }
    if (given.isTensorList()) {
      c10::List<at::Tensor> list;
      for (const at::Tensor& t : given.toTensorVector()) list.push_back(device_result(t, tensors_, device_));
      return list;
    }
    return given;
  }

  const c10::FunctionSchema& schema_;
  std::vector<c10::IValue> before_, views_;
  std::vector<at::Tensor> tensors_;
  c10::optional<c10::Device> gpu_;
  c10::Device device_{c10::DeviceType::CUDA, 0};
};

/// Operations whose result lies on the host: who calls them waits.
bool waits(const std::string& name) { return name == "aten::_local_scalar_dense" || name == "aten::equal" || name == "aten::nonzero"; }

void on_host(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  waits(op.schema().name()) ? finish() : arrive();
  const Open open;
  const Call call(op, torch::jit::pop(*stack, op.schema().arguments().size()));
  torch::jit::Stack own = call.views();
  op.callBoxed(&own);
  for (c10::IValue& value : call.results(own)) stack->push_back(std::move(value));
}

at::Tensor& copy_to(at::Tensor& self, const at::Tensor& src, bool non_blocking) { return copy(self, src, non_blocking); }

bool pinned(const at::Tensor& self, c10::optional<c10::Device>) { return !self.is_cuda() && is_pinned(self.storage().data()); }

at::Tensor pin(const at::Tensor& self, c10::optional<c10::Device>) {
  at::Tensor out = at::empty(self.sizes(), self.options().pinned_memory(true));
  return out.copy_(self);
}

at::Tensor& set_storage(at::Tensor& self, c10::Storage storage, c10::SymInt offset, c10::SymIntArrayRef sizes, c10::SymIntArrayRef strides) {
  c10::TensorImpl* const impl = self.unsafeGetTensorImpl();
  impl->set_storage_keep_dtype(std::move(storage));
  impl->set_sizes_and_strides(c10::asIntArrayRefSlow(sizes), c10::asIntArrayRefSlow(strides), offset.expect_int());
  return self;
}

TORCH_LIBRARY_IMPL(_, CUDA, m) { m.fallback(torch::CppFunction::makeFromBoxedFunction<&on_host>()); }
TORCH_LIBRARY_IMPL(aten, CUDA, m) {
  m.impl("copy_", &copy_to);
  m.impl("is_pinned", &pinned);
  m.impl("_pin_memory", &pin);
  m.impl("set_.source_Storage_storage_offset", &set_storage);
}

}  // namespace

}  // namespace emulated_torch
