// SPDX-License-Identifier: Apache-2.0
#include "wire.hpp"

#include <chrono>
#include <cstring>
#include <stdexcept>
#include <thread>

#include <c10/core/Event.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <hvd/dist/failure.hpp>

namespace hvd::torch_binding {

namespace {

// Between two looks at a device that is still copying: the core may have a backward pass to run.
constexpr std::chrono::microseconds kNap{20};

bool plain(const at::Tensor& t, at::ScalarType type) {
  return t.device().is_cpu() && !t.is_sparse() && t.scalar_type() == type && t.is_contiguous();
}

}  // namespace

dist::DataType wire_type(const at::Tensor& t) {
  switch (t.scalar_type()) {
    case at::kFloat:
    case at::kHalf:
    case at::kBFloat16: return dist::DataType::float32;
    case at::kDouble: return dist::DataType::float64;
    default: throw dist::Failure<std::runtime_error>(std::string("gradients and parameters of type ") + c10::toString(t.scalar_type()) + " cannot be summed over ranks");
  }
}

at::ScalarType scalar_type(dist::DataType type) { return type == dist::DataType::float64 ? at::kDouble : at::kFloat; }

std::shared_ptr<char> host_memory(std::size_t bytes, c10::Device device) {
  const auto options = at::TensorOptions().dtype(at::kByte).device(at::kCPU).pinned_memory(device.is_cuda());
  auto owner = std::make_shared<at::Tensor>(at::zeros({static_cast<int64_t>(bytes)}, options));
  return {owner, static_cast<char*>(owner->data_ptr())};
}

at::Tensor over(std::shared_ptr<char> memory, at::IntArrayRef sizes, dist::DataType type, c10::Device device) {
  void* data = memory.get();
  const auto options = at::TensorOptions().dtype(scalar_type(type)).device(device);
  return at::for_blob(data, sizes).deleter([memory](void*) {}).options(options).target_device(device).make_tensor();
}

std::function<void()> begun_on(c10::Device device) {
  if (device.is_cpu()) return {};
  const c10::impl::VirtualGuardImpl guard(device.type());
  auto event = std::make_shared<c10::Event>(device.type());
  event->record(guard.getStream(device));
  return [event] {
    while (!event->query()) std::this_thread::sleep_for(kNap);
  };
}

std::function<void()> copy_to_bucket(const at::Tensor& to, const at::Tensor& from) {
  if (plain(from, to.scalar_type())) {
    if (from.data_ptr() != to.data_ptr()) std::memcpy(to.data_ptr(), from.data_ptr(), to.nbytes());
    return {};
  }
  const at::Tensor dense = from.is_sparse() ? from.detach().to_dense() : from.detach();
  if (dense.device() == to.device()) {
    to.copy_(dense);
    return {};
  }
  // Converted where it lies, then copied as it is: only such copies run beside the host.
  to.copy_(dense.to(to.scalar_type()).contiguous(), /*non_blocking=*/true);
  return begun_on(dense.device());
}

void copy_from_bucket(const at::Tensor& to, const at::Tensor& from) {
  if (plain(to, from.scalar_type())) std::memcpy(to.data_ptr(), from.data_ptr(), from.nbytes());
  else to.copy_(from, /*non_blocking=*/true);
}

}  // namespace hvd::torch_binding
