// SPDX-License-Identifier: Apache-2.0
#include "device_buckets.hpp"

#include <cstring>

#include <c10/core/impl/VirtualGuardImpl.h>

#include "device/gpu_library.hpp"
#include "wire.hpp"

namespace hvd::torch_binding {

namespace {

class DeviceBuckets final : public dist::BucketMemory {
 public:
  explicit DeviceBuckets(c10::Device device) : device_(device) {}

  int device() const override { return device_.index(); }
  // Through the host the gradients go piece by piece as they come to be, each by itself.
  bool only_direct() const override { return true; }

  std::shared_ptr<char> allocate(std::size_t bytes) override {
    auto owner = std::make_shared<at::Tensor>(at::zeros({static_cast<std::int64_t>(bytes)}, at::TensorOptions().dtype(at::kByte).device(device_)));
    return {owner, static_cast<char*>(owner->data_ptr())};
  }

  void put(void* to, const void* from, std::size_t count, dist::DataType type, double scale) override {
    const at::NoGradGuard no_grad;
    const at::Tensor target = on_device(to, count, scalar_type(type));
    if (!from) target.zero_();
    else if (scale == 1) target.copy_(on_device(from, count, scalar_type(type)), /*non_blocking=*/true);
    else target.copy_(on_device(from, count, scalar_type(type)) * scale, /*non_blocking=*/true);
  }

  // LibTorch gives locked memory to nobody else before copies from it are done.
  void write(void* to, const void* host, std::size_t bytes) override {
    if (bytes == 0) return;
    const at::NoGradGuard no_grad;
    const at::Tensor locked = at::empty({static_cast<std::int64_t>(bytes)}, at::TensorOptions().dtype(at::kByte).pinned_memory(true));
    std::memcpy(locked.data_ptr(), host, bytes);
    on_device(to, bytes, at::kByte).copy_(locked, /*non_blocking=*/true);
  }

  void read(void* host, const void* from, std::size_t bytes) override {
    if (bytes == 0) return;
    const at::NoGradGuard no_grad;
    const at::Tensor copy = on_device(from, bytes, at::kByte).to(at::kCPU);
    std::memcpy(host, copy.data_ptr(), bytes);
  }

  // LibTorch's events of a GPU are cudaEvent_t, as the runtime's are.
  std::shared_ptr<void> ready() override {
    const c10::impl::VirtualGuardImpl guard(device_.type());
    void* event = nullptr;
    guard.record(&event, guard.getStream(device_), device_.index(), c10::EventFlag::PYTORCH_DEFAULT);
    return {event, [device = device_](void* e) { c10::impl::VirtualGuardImpl(device.type()).destroyEvent(e, device.index()); }};
  }

 private:
  at::Tensor on_device(const void* data, std::size_t count, at::ScalarType type) const {
    const std::int64_t size = static_cast<std::int64_t>(count);
    const auto options = at::TensorOptions().dtype(type).device(device_);
    return at::for_blob(const_cast<void*>(data), size).options(options).target_device(device_).make_tensor();
  }

  c10::Device device_;
};

}  // namespace

std::unique_ptr<dist::BucketMemory> device_buckets(const std::vector<at::Tensor>& parameters) {
  if (parameters.empty() || !parameters[0].is_cuda()) return nullptr;
  const c10::Device device = parameters[0].device();
  for (const at::Tensor& p : parameters)
    if (p.device() != device) return nullptr;
  if (!backends::gpu_problem().empty() || backends::require_gpu().device() != device.index()) return nullptr;
  return std::make_unique<DeviceBuckets>(device);
}

}  // namespace hvd::torch_binding
