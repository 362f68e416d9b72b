// SPDX-License-Identifier: Apache-2.0
#include "test/emulated_gpu/torch/host_view.hpp"

#include "test/emulated_gpu/torch/memory.hpp"

#include <cstring>

namespace emulated_torch {

namespace {

struct Current {
  int before = current_device();
  explicit Current(c10::Device device) { current_device() = device.has_index() ? device.index() : before; }
  ~Current() { current_device() = before; }
};

at::Tensor over(c10::Storage storage, c10::DispatchKey key, const at::Tensor& like, std::int64_t offset) {
  at::Tensor out = at::detail::make_tensor<c10::TensorImpl>(std::move(storage), c10::DispatchKeySet(key), like.dtype());
  out.unsafeGetTensorImpl()->set_storage_offset(offset);
  out.unsafeGetTensorImpl()->set_sizes_and_strides(like.sizes(), like.strides());
  return out;
}

c10::Storage on_gpu(const c10::Storage& host, c10::Device device) {
  const Current current(device);
  c10::DataPtr memory = device_allocator().allocate(host.nbytes());
  if (host.nbytes() > 0) std::memcpy(memory.get(), host.data(), host.nbytes());
  return c10::Storage(c10::Storage::use_byte_size_t(), host.nbytes(), std::move(memory), &device_allocator(), true);
}

}  // namespace

at::Tensor host_view(const at::Tensor& t) {
  if (!t.defined() || !t.is_cuda()) return t;
  TORCH_CHECK(t.layout() == at::kStrided, "the emulated GPU has dense tensors only");
  auto* const kept = new c10::Storage(t.storage());
  c10::DataPtr memory(t.storage().data(), kept, [](void* context) { delete static_cast<c10::Storage*>(context); }, c10::Device(c10::DeviceType::CPU));
  const c10::Storage storage(c10::Storage::use_byte_size_t(), t.storage().nbytes(), std::move(memory), c10::GetAllocator(c10::DeviceType::CPU), true);
  at::Tensor out = over(storage, c10::DispatchKey::CPU, t, t.storage_offset());
  if (t.unsafeGetTensorImpl()->is_wrapped_number()) out.unsafeGetTensorImpl()->set_wrapped_number(true);
  if (t.is_conj()) out._set_conj(true);
  return out;
}

at::Tensor device_result(const at::Tensor& result, at::ArrayRef<at::Tensor> sources, c10::Device device) {
  if (!result.defined() || result.is_cuda()) return result;
  if (on_device(result.storage().data()))
    for (const at::Tensor& source : sources)
      if (source.defined() && source.is_cuda() && source.storage().data() == result.storage().data())
        return over(source.storage(), c10::DispatchKey::CUDA, result, result.storage_offset());
  return over(on_gpu(result.storage(), device), c10::DispatchKey::CUDA, result, result.storage_offset());
}

void take_over(const at::Tensor& t, const at::Tensor& view) {
  c10::TensorImpl* const impl = t.unsafeGetTensorImpl();
  if (view.storage().data() != t.storage().data()) {
    c10::Storage moved = on_gpu(view.storage(), t.device());
    t.storage().set_nbytes(moved.nbytes());
    t.storage().set_data_ptr(std::move(moved.data_ptr()));
  }
  if (t.sizes() != view.sizes() || t.strides() != view.strides()) impl->set_sizes_and_strides(view.sizes(), view.strides());
  if (t.storage_offset() != view.storage_offset()) impl->set_storage_offset(view.storage_offset());
}

}  // namespace emulated_torch
