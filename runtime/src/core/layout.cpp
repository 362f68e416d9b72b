// SPDX-License-Identifier: Apache-2.0
//
// Sizes, strides, broadcasting: what tensors look like, apart from their values.
#include "core/tensor_impl.hpp"

#include <hvd/context.hpp>

#include <algorithm>

namespace hvd::core {

std::vector<int64_t> row_major_strides(const std::vector<int64_t>& sizes) {
  std::vector<int64_t> strides(sizes.size());
  int64_t step = 1;
  for (size_t d = sizes.size(); d-- > 0;) {
    strides[d] = step;
    step *= std::max<int64_t>(sizes[d], 1);
  }
  return strides;
}

int64_t count(const std::vector<int64_t>& sizes) {
  int64_t n = 1;
  for (int64_t s : sizes) n *= s;
  return n;
}

Tensor make(std::vector<int64_t> sizes, Dtype dtype, Device device) {
  if (sizes.size() > backends::kMaxDims)
    throw Error("a tensor " + to_string(sizes) + " has more than " + std::to_string(backends::kMaxDims) + " dimensions");
  int64_t most = 1;  // of the elements that strides reach; where an extent is 0 there are fewer
  for (int64_t s : sizes) {
    if (s < 0) throw Error("a tensor cannot have the sizes " + to_string(sizes));
    if (__builtin_mul_overflow(most, std::max<int64_t>(s, 1), &most) || most > INT64_MAX / 8)
      throw Error("a tensor " + to_string(sizes) + " has more elements than can be counted");
  }
  if (count(sizes) > context().largest_tensor)
    throw Error("a tensor " + to_string(sizes) + " is larger than the " + std::to_string(context().largest_tensor) + " elements that are allowed here");
  auto impl = std::make_shared<TensorImpl>();
  impl->numel = count(sizes);
  impl->strides = row_major_strides(sizes);
  impl->sizes = std::move(sizes);
  impl->dtype = dtype;
  impl->device = device;
  impl->storage = std::make_shared<Storage>(impl->numel * dtype_size(dtype), backends::backend(device).allocator());
  return Tensor(std::move(impl));
}

Tensor make_view(const Tensor& base, std::vector<int64_t> sizes, std::vector<int64_t> strides, int64_t offset) {
  auto impl = std::make_shared<TensorImpl>();
  const TensorImpl& from = *base.impl();
  impl->storage = from.storage;
  impl->offset = offset;
  impl->numel = count(sizes);
  impl->sizes = std::move(sizes);
  impl->strides = std::move(strides);
  impl->dtype = from.dtype;
  impl->device = from.device;
  impl->is_view = true;
  return Tensor(std::move(impl));
}

backends::Extents extents(const std::vector<int64_t>& sizes) {
  backends::Extents e;
  e.dims = static_cast<int>(sizes.size());
  std::copy(sizes.begin(), sizes.end(), e.size);
  return e;
}

backends::Operand operand(const Tensor& t, const std::vector<int64_t>& sizes) {
  const TensorImpl& impl = *t.impl();
  backends::Operand o;
  o.data = address(impl);
  o.dtype = impl.dtype;
  const size_t missing = sizes.size() - impl.sizes.size();
  for (size_t d = 0; d < impl.sizes.size(); ++d) o.stride[missing + d] = impl.sizes[d] == 1 && sizes[missing + d] != 1 ? 0 : impl.strides[d];
  return o;
}

int64_t wrap_dim(int64_t dim, int64_t dims, const char* operation) {
  const int64_t wrapped = dim < 0 ? dim + dims : dim;
  if (wrapped < 0 || wrapped >= dims)
    throw Error(std::string(operation) + ": dimension " + std::to_string(dim) + " of a tensor with " + std::to_string(dims) + " dimensions");
  return wrapped;
}

std::vector<int64_t> broadcast_sizes(const std::vector<int64_t>& a, const std::vector<int64_t>& b, const char* operation) {
  if (a == b) return a;
  std::vector<int64_t> sizes(std::max(a.size(), b.size()));
  for (size_t i = 0; i < sizes.size(); ++i) {
    const int64_t x = i < a.size() ? a[a.size() - 1 - i] : 1;
    const int64_t y = i < b.size() ? b[b.size() - 1 - i] : 1;
    if (x != y && x != 1 && y != 1)
      throw Error(std::string(operation) + ": shapes " + to_string(a) + " and " + to_string(b) + " do not broadcast");
    sizes[sizes.size() - 1 - i] = x == 1 ? y : x;
  }
  return sizes;
}

Tensor sum_to(const Tensor& grad, const std::vector<int64_t>& sizes) {
  if (grad.sizes() == sizes) return grad;
  std::vector<int64_t> dims;
  const int64_t missing = grad.dim() - static_cast<int64_t>(sizes.size());
  for (int64_t d = 0; d < grad.dim(); ++d)
    if (d < missing || (sizes[d - missing] == 1 && grad.size(d) != 1)) dims.push_back(d);
  return (dims.empty() ? grad : grad.sum(dims, true)).reshape(sizes);
}

Dtype promote(const Tensor& a, const Tensor& b) {
  if (a.dtype() == b.dtype()) return a.dtype();
  if (is_low_precision(a.dtype()) && is_low_precision(b.dtype())) return Dtype::kFloat32;  // neither holds the other
  const auto rank = [](Dtype d) {
    return d == Dtype::kBool ? 0 : d == Dtype::kInt64 ? 1 : is_low_precision(d) ? 2 : d == Dtype::kFloat32 ? 3 : 4;
  };
  // A 0-d tensor counts like a number: it does not widen a tensor of the same category.
  if (a.is_floating_point() && b.is_floating_point() && (a.dim() == 0) != (b.dim() == 0)) return a.dim() == 0 ? b.dtype() : a.dtype();
  return rank(a.dtype()) > rank(b.dtype()) ? a.dtype() : b.dtype();
}

void check_same_device(const Tensor& a, const Tensor& b, const char* operation) {
  if (impl_of(a, operation).device != impl_of(b, operation).device)
    throw Error(std::string(operation) + ": tensors on different devices, " + a.device().name() + " and " + b.device().name());
}

void check_real(const Tensor& t, const char* operation) {
  if (!is_floating_point(impl_of(t, operation).dtype))
    throw Error(std::string(operation) + ": a floating-point tensor expected, not " + dtype_name(t.dtype()) + " " + to_string(t.sizes()));
}

Around around(const std::vector<int64_t>& sizes, int64_t dim) {
  Around a;
  for (int64_t d = 0; d < static_cast<int64_t>(sizes.size()); ++d) (d < dim ? a.outer : d == dim ? a.length : a.inner) *= sizes[d];
  return a;
}

}  // namespace hvd::core
