// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/node.hpp"
#include "core/step_recording.hpp"
#include "device/device.hpp"

#include <hvd/autograd.hpp>
#include <hvd/context.hpp>
#include <hvd/core/allocator.hpp>
#include <hvd/tensor.hpp>

#include <memory>
#include <utility>
#include <vector>

namespace hvd {

/// What autograd keeps with a leaf. It belongs to the tensor's identity: set_data and load() leave it alone.
struct LeafState {
  std::weak_ptr<autograd::Node> accumulator;  // lives as long as a graph that ends here
  std::vector<std::pair<uint64_t, std::shared_ptr<autograd::GradientHook>>> hooks;
  uint64_t next_hook = 1;
  uint64_t generation = 0;
  Tensor gradient_buffer;
};

struct TensorImpl {
  std::shared_ptr<Storage> storage;
  int64_t offset = 0;  // in elements
  std::vector<int64_t> sizes;
  std::vector<int64_t> strides;  // in elements
  int64_t numel = 0;
  Dtype dtype = Dtype::kFloat32;
  Device device = DeviceType::kCpu;
  bool is_view = false;  // shares its storage with the tensor it was made from
  bool requires_grad = false;
  Tensor grad;
  std::shared_ptr<autograd::Node> grad_fn;  // null for leaves
  LeafState leaf;
};

namespace core {

inline TensorImpl& impl_of(const Tensor& t, const char* operation = "use") {
  if (!t.defined()) throw Error(std::string(operation) + " of an undefined tensor");
  return *t.impl();
}

inline const backends::Backend& backend_of(const Tensor& t) { return backends::backend(impl_of(t).device); }

inline char* address(const TensorImpl& t) {
  if (StepRecording* recording = context().step_recording) recording->uses(t);
  return static_cast<char*>(t.storage->data()) + t.offset * dtype_size(t.dtype);
}
inline char* address(const Tensor& t) { return address(*t.impl()); }

/// Whether the host may address the values of `t`.
inline bool on_host(const Tensor& t) { return backend_of(t).host_memory(); }
/// `t` itself where the host may address its values, else a copy on the reference device; no history.
Tensor host_copy(const Tensor& t);
/// Fresh memory that the host may write: on `device` when it may do that there, else on the reference device, to be moved by to(device).
Tensor make_for_host(std::vector<int64_t> sizes, Dtype dtype, Device device);
/// target = values, converted, across devices; `values` broadcasts. No history, no check.
void assign(const Tensor& target, const Tensor& values);

std::vector<int64_t> row_major_strides(const std::vector<int64_t>& sizes);
int64_t count(const std::vector<int64_t>& sizes);

/// Fresh memory, no values.
Tensor make(std::vector<int64_t> sizes, Dtype dtype, Device device);
inline Tensor make_like(const Tensor& t) { return make(t.sizes(), t.dtype(), t.device()); }
/// The same storage seen otherwise; no history.
Tensor make_view(const Tensor& base, std::vector<int64_t> sizes, std::vector<int64_t> strides, int64_t offset);

backends::Extents extents(const std::vector<int64_t>& sizes);
/// `t` as an operand of a loop over `sizes`: missing leading dimensions and extents of 1 are repeated.
backends::Operand operand(const Tensor& t, const std::vector<int64_t>& sizes);
inline backends::Operand operand(const Tensor& t) { return operand(t, t.sizes()); }

/// `dim` counted from the front; throws when there is no such dimension.
int64_t wrap_dim(int64_t dim, int64_t dims, const char* operation);
/// NumPy's rule; throws naming both shapes.
std::vector<int64_t> broadcast_sizes(const std::vector<int64_t>& a, const std::vector<int64_t>& b, const char* operation);
/// Sums `grad` over what was broadcast, back to `sizes`.
Tensor sum_to(const Tensor& grad, const std::vector<int64_t>& sizes);
/// The dtype in which a and b meet.
Dtype promote(const Tensor& a, const Tensor& b);
void check_same_device(const Tensor& a, const Tensor& b, const char* operation);
void check_real(const Tensor& t, const char* operation);

/// [outer, length, inner] around a dimension.
struct Around {
  int64_t outer = 1, length = 1, inner = 1;
};
Around around(const std::vector<int64_t>& sizes, int64_t dim);

}  // namespace core
}  // namespace hvd
