// SPDX-License-Identifier: Apache-2.0
#include "core/tensor_impl.hpp"

#include <hvd/context.hpp>
#include <hvd/random.hpp>

#include <algorithm>

namespace hvd {

namespace {

Tensor finish(const Tensor& t, const TensorOptions& options) { return options.requires_grad() ? t.requires_grad_() : t; }

Dtype dtype_of(Scalar value) {
  if (value.is_floating_point()) return default_dtype();
  return value.is_bool() ? Dtype::kBool : Dtype::kInt64;
}

TensorOptions with_default(TensorOptions options, Dtype dtype) { return options.has_dtype() ? options : options.dtype(dtype); }

/// Where the host makes values for `device`.
Device host_part(Device device) { return backends::backend(device).host_memory() ? device : Device(DeviceType::kCpu); }

template <class T>
Tensor from_values(const T* values, size_t n, Dtype stored, TensorOptions options, Dtype fallback) {
  const Tensor raw = core::make_for_host({static_cast<int64_t>(n)}, stored, options.device());
  std::copy(values, values + n, raw.data_ptr<T>());
  return finish(raw.to(options.device(), with_default(options, fallback).dtype()), options);
}

template <class T, class Values>
Tensor real_values(const Values& values, const TensorOptions& options) {
  const std::vector<T> list(values);
  return from_values(list.data(), list.size(), sizeof(T) == 4 ? Dtype::kFloat32 : Dtype::kFloat64, options, default_dtype());
}

template <class Values>
Tensor integer_values(const Values& values, const TensorOptions& options) {
  const std::vector<int64_t> list(values.begin(), values.end());
  return from_values(list.data(), list.size(), Dtype::kInt64, options, Dtype::kInt64);
}

}  // namespace

Tensor empty(IntList shape, TensorOptions options) { return finish(core::make(shape.vec(), options.dtype(), options.device()), options); }

Tensor full(IntList shape, Scalar value, TensorOptions options) {
  const Tensor t = core::make(shape.vec(), with_default(options, dtype_of(value)).dtype(), options.device());
  core::backend_of(t).fill(t.raw_data(), t.dtype(), t.numel(), value);
  return finish(t, options);
}
Tensor zeros(IntList shape, TensorOptions options) { return full(shape, 0, with_default(options, default_dtype())); }
Tensor ones(IntList shape, TensorOptions options) { return full(shape, 1, with_default(options, default_dtype())); }
Tensor empty_like(const Tensor& like) { return empty(like.sizes(), like.options()); }
Tensor zeros_like(const Tensor& like) { return zeros(like.sizes(), like.options()); }
Tensor ones_like(const Tensor& like) { return ones(like.sizes(), like.options()); }
Tensor full_like(const Tensor& like, Scalar value) { return full(like.sizes(), value, like.options()); }

Tensor rand(IntList shape, TensorOptions options) {
  return finish(core::make(shape.vec(), options.dtype(), options.device()).uniform_(), options);
}
Tensor randn(IntList shape, TensorOptions options) {
  return finish(core::make(shape.vec(), options.dtype(), options.device()).normal_(), options);
}
Tensor randint(int64_t low, int64_t high, IntList shape, TensorOptions options) {
  if (low >= high) throw Error("randint: no integers from " + std::to_string(low) + " to below " + std::to_string(high));
  const Tensor t = core::make(shape.vec(), Dtype::kInt64, options.device());
  core::backend_of(t).integers(t.numel(), t.data_ptr<int64_t>(), core::next_draw(t), low, high);
  return finish(t.to(with_default(options, Dtype::kInt64).dtype()), options);
}
Tensor randint(int64_t high, IntList shape, TensorOptions options) { return randint(0, high, shape, options); }

Tensor randperm(int64_t n, Generator& generator) {
  const Tensor t = arange(n, TensorOptions(host_part(default_device())));
  int64_t* p = t.data_ptr<int64_t>();
  const uint64_t seed = generator.seed(), counter = generator.next();
  for (int64_t i = n - 1; i > 0; --i) std::swap(p[i], p[philox_below(seed, counter, i, i + 1)]);  // Fisher, Yates
  return t;
}
Tensor randperm(int64_t n, TensorOptions options) {
  return randperm(n, default_generator()).to(options.device(), with_default(options, Dtype::kInt64).dtype());
}

Tensor arange(int64_t start, int64_t end, TensorOptions options) {
  const Tensor t = core::make_for_host({std::max<int64_t>(end - start, 0)}, Dtype::kInt64, options.device());
  int64_t* p = t.data_ptr<int64_t>();
  for (int64_t i = 0; i < t.numel(); ++i) p[i] = start + i;
  return finish(t.to(options.device(), with_default(options, Dtype::kInt64).dtype()), options);
}
Tensor arange(int64_t end, TensorOptions options) { return arange(0, end, options); }

Tensor linspace(double start, double end, int64_t steps, TensorOptions options) {
  if (steps < 1) throw Error("linspace: at least 1 step expected, not " + std::to_string(steps));
  const Tensor t = core::make_for_host({steps}, Dtype::kFloat64, options.device());
  double* p = t.data_ptr<double>();
  for (int64_t i = 0; i < steps; ++i) p[i] = steps == 1 ? start : start + (end - start) * static_cast<double>(i) / static_cast<double>(steps - 1);
  return finish(t.to(options.device(), options.dtype()), options);
}

Tensor tensor(Scalar value, TensorOptions options) { return full({}, value, options); }
Tensor tensor(std::initializer_list<double> values, TensorOptions options) { return real_values<double>(values, options); }
Tensor tensor(std::initializer_list<float> values, TensorOptions options) { return real_values<float>(values, options); }
Tensor tensor(std::initializer_list<int> values, TensorOptions options) { return integer_values(values, options); }
Tensor tensor(std::initializer_list<int64_t> values, TensorOptions options) { return integer_values(values, options); }
Tensor tensor(const std::vector<double>& values, TensorOptions options) { return real_values<double>(values, options); }
Tensor tensor(const std::vector<float>& values, TensorOptions options) { return real_values<float>(values, options); }
Tensor tensor(const std::vector<int>& values, TensorOptions options) { return integer_values(values, options); }
Tensor tensor(const std::vector<int64_t>& values, TensorOptions options) { return integer_values(values, options); }

Tensor from_blob(void* data, IntList shape, TensorOptions options, std::shared_ptr<void> owner) {
  auto impl = std::make_shared<TensorImpl>();
  impl->sizes = shape.vec();
  impl->strides = core::row_major_strides(impl->sizes);
  impl->numel = core::count(impl->sizes);
  impl->dtype = options.dtype();
  impl->device = options.device();
  impl->storage = std::make_shared<Storage>(data, impl->numel * dtype_size(impl->dtype), std::move(owner));
  return finish(Tensor(std::move(impl)), options);
}

}  // namespace hvd
