// SPDX-License-Identifier: Apache-2.0
//
// Description, single values, conversion, and what autograd says of a tensor.
#include "core/tensor_impl.hpp"

#include <hvd/context.hpp>

namespace hvd {

using core::impl_of;

const std::vector<int64_t>& Tensor::sizes() const { return impl_of(*this, "sizes").sizes; }
const std::vector<int64_t>& Tensor::strides() const { return impl_of(*this, "strides").strides; }
int64_t Tensor::size(int64_t d) const { return impl_of(*this, "size").sizes[core::wrap_dim(d, dim(), "size")]; }
int64_t Tensor::dim() const { return static_cast<int64_t>(impl_of(*this, "dim").sizes.size()); }
int64_t Tensor::numel() const { return impl_of(*this, "numel").numel; }
Dtype Tensor::dtype() const { return impl_of(*this, "dtype").dtype; }
Device Tensor::device() const { return impl_of(*this, "device").device; }
TensorOptions Tensor::options() const { return TensorOptions(dtype()).device(device()); }
bool Tensor::is_floating_point() const { return hvd::is_floating_point(dtype()); }
std::shared_ptr<Storage> Tensor::storage() const { return impl_of(*this, "storage").storage; }

bool Tensor::is_contiguous() const {
  const TensorImpl& self = impl_of(*this, "is_contiguous");
  int64_t step = 1;
  for (size_t d = self.sizes.size(); d-- > 0;) {
    if (self.sizes[d] == 1) continue;
    if (self.strides[d] != step) return self.numel == 0;
    step *= self.sizes[d];
  }
  return true;
}

Scalar Tensor::item() const {
  const TensorImpl& self = impl_of(*this, "item");
  if (self.numel != 1) throw Error("item: a tensor " + to_string(self.sizes) + " does not have exactly one element");
  alignas(8) unsigned char value[8];
  core::backend_of(*this).to_host(value, core::address(self), dtype_size(self.dtype));
  const void* at = value;
  switch (self.dtype) {
    case Dtype::kFloat32: return *static_cast<const float*>(at);
    case Dtype::kFloat64: return *static_cast<const double*>(at);
    case Dtype::kInt64: return *static_cast<const int64_t*>(at);
    case Dtype::kBool: return *static_cast<const bool*>(at);
    case Dtype::kBFloat16: return static_cast<float>(*static_cast<const BFloat16*>(at));
    case Dtype::kFloat16: return static_cast<float>(*static_cast<const Half*>(at));
  }
  return 0;
}

void* Tensor::raw_data() const { return core::address(impl_of(*this, "raw_data")); }

namespace {

template <class T>
T* typed_data(const Tensor& t, Dtype dtype) {
  const TensorImpl& self = impl_of(t, "data_ptr");
  if (self.dtype != dtype) throw Error(std::string("data_ptr: the tensor holds ") + dtype_name(self.dtype) + ", not " + dtype_name(dtype));
  return reinterpret_cast<T*>(core::address(self));
}

}  // namespace

template <>
float* Tensor::data_ptr<float>() const {
  return typed_data<float>(*this, Dtype::kFloat32);
}
template <>
double* Tensor::data_ptr<double>() const {
  return typed_data<double>(*this, Dtype::kFloat64);
}
template <>
int64_t* Tensor::data_ptr<int64_t>() const {
  return typed_data<int64_t>(*this, Dtype::kInt64);
}
template <>
bool* Tensor::data_ptr<bool>() const {
  return typed_data<bool>(*this, Dtype::kBool);
}
template <>
BFloat16* Tensor::data_ptr<BFloat16>() const {
  return typed_data<BFloat16>(*this, Dtype::kBFloat16);
}
template <>
Half* Tensor::data_ptr<Half>() const {
  return typed_data<Half>(*this, Dtype::kFloat16);
}

namespace {

Tensor converted(const Tensor& t, Device device, Dtype dtype) {
  const Tensor out = core::make(t.sizes(), dtype, device);
  core::assign(out, t);
  return out;
}

}  // namespace

Tensor Tensor::to(Device device, Dtype dtype) const {
  const TensorImpl& self = impl_of(*this, "to");
  if (self.dtype == dtype && self.device == device) return *this;
  const Tensor out = converted(*this, device, dtype);
  if (!hvd::is_floating_point(dtype) || !hvd::is_floating_point(self.dtype)) return out;
  return autograd::record("to", out, {*this}, {}, [device = self.device, dtype = self.dtype](const autograd::Node&, const Tensor& g) {
    return std::vector<Tensor>{g.to(device, dtype)};
  });
}
Tensor Tensor::to(Dtype dtype) const { return to(device(), dtype); }
Tensor Tensor::to(Device device) const { return to(device, dtype()); }
Tensor Tensor::cpu() const { return to(Device(DeviceType::kCpu)); }

Tensor Tensor::clone() const {
  const TensorImpl& self = impl_of(*this, "clone");
  return autograd::record("clone", converted(*this, self.device, self.dtype), {*this}, {},
                          [](const autograd::Node&, const Tensor& g) { return std::vector<Tensor>{g}; });
}

Tensor Tensor::detach() const {
  const TensorImpl& self = impl_of(*this, "detach");
  return core::make_view(*this, self.sizes, self.strides, self.offset);
}

Tensor Tensor::contiguous() const { return is_contiguous() ? *this : clone(); }

bool Tensor::requires_grad() const {
  const TensorImpl& self = impl_of(*this, "requires_grad");
  return self.requires_grad || self.grad_fn != nullptr;
}

Tensor Tensor::requires_grad_(bool value) const {
  TensorImpl& self = impl_of(*this, "requires_grad_");
  if (value && !hvd::is_floating_point(self.dtype))
    throw Error(std::string("requires_grad_: only floating-point tensors have gradients, not ") + dtype_name(self.dtype));
  if (self.grad_fn && !value) throw Error("requires_grad_: only leaves can stop requiring gradients; use detach()");
  if (!self.grad_fn) self.requires_grad = value;
  return *this;
}

bool Tensor::is_leaf() const { return impl_of(*this, "is_leaf").grad_fn == nullptr; }
const Tensor& Tensor::grad() const { return impl_of(*this, "grad").grad; }
Tensor& Tensor::mutable_grad() const { return impl_of(*this, "mutable_grad").grad; }

void Tensor::set_data(const Tensor& source) const {
  TensorImpl& self = impl_of(*this, "set_data");
  const TensorImpl& from = impl_of(source, "set_data");
  if (self.grad_fn) throw Error("set_data: tensor " + to_string(self.sizes) + " is not a leaf");
  if (self.requires_grad && !hvd::is_floating_point(from.dtype))
    throw Error(std::string("set_data: a tensor that requires gradients cannot become ") + dtype_name(from.dtype));
  self.storage = from.storage;
  self.offset = from.offset;
  self.sizes = from.sizes;
  self.strides = from.strides;
  self.numel = from.numel;
  self.dtype = from.dtype;
  self.device = from.device;
  self.is_view = false;
}

}  // namespace hvd
