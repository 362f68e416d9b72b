// SPDX-License-Identifier: Apache-2.0
//
// Values between host and device.
#include "core/tensor_impl.hpp"

namespace hvd::core {

Tensor host_copy(const Tensor& t) { return on_host(t) ? t.detach() : t.detach().cpu(); }

Tensor make_for_host(std::vector<int64_t> sizes, Dtype dtype, Device device) {
  const bool direct = backends::backend(device).host_memory();
  const Tensor t = make(std::move(sizes), dtype, direct ? device : Device(DeviceType::kCpu));
  if (StepRecording* recording = context().step_recording) recording->made(t);
  return t;
}

namespace {

void assign_here(const Tensor& target, const Tensor& values) {
  backend_of(target).copy(extents(target.sizes()), operand(target), operand(values, target.sizes()));
}

/// `values` in that dtype, dense, where it lies.
Tensor dense_values(const Tensor& values, Dtype dtype) {
  if (values.dtype() == dtype && values.is_contiguous()) return values;
  const Tensor out = make(values.sizes(), dtype, values.device());
  assign_here(out, values);
  return out;
}

}  // namespace

// Converted where the values come from, copied as bytes, spread where they go.
void assign(const Tensor& target, const Tensor& values) {
  if (on_host(target) == on_host(values)) return assign_here(target, values);
  // Repeated steps would copy these values, and not those that it has then.
  if (const StepRecording* recording = context().step_recording; recording && on_host(values) && !recording->holds_constants(values))
    throw Error("StepGraph: a tensor " + to_string(values.sizes()) + " of the host is copied to the GPU within the step: hand it to the step as an input, on the GPU");
  const Tensor dense = dense_values(values.detach(), target.dtype());
  const bool direct = target.is_contiguous() && target.sizes() == dense.sizes();
  const Tensor received = direct ? target : make(dense.sizes(), target.dtype(), target.device());
  const size_t bytes = static_cast<size_t>(dense.numel()) * dtype_size(dense.dtype());
  if (bytes > 0 && on_host(target))
    backend_of(dense).to_host(address(received), address(dense), bytes);
  else if (bytes > 0)
    backend_of(received).from_host(address(received), address(dense), bytes);
  if (!direct) assign_here(target, received);
}

}  // namespace hvd::core
