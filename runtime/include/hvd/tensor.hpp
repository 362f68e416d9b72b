// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hvd/core/error.hpp>
#include <hvd/core/float16.hpp>
#include <hvd/core/types.hpp>

#include <iosfwd>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace hvd {

struct TensorImpl;
class Generator;
class Storage;

/// An n-dimensional array; a handle: copies of it are the same tensor. Views (view, transpose, slice, ...) share the
/// storage. Operations on floating-point tensors that require gradients are recorded for backward(). Shape mismatches
/// throw hvd::Error naming the operation and the shapes.
class Tensor {
 public:
  Tensor() = default;
  explicit Tensor(std::shared_ptr<TensorImpl> impl) : impl_(std::move(impl)) {}

  // -- description
  bool defined() const { return impl_ != nullptr; }
  const std::vector<int64_t>& sizes() const;
  const std::vector<int64_t>& strides() const;
  int64_t size(int64_t dim) const;  // negative dims count from the end
  int64_t dim() const;
  int64_t numel() const;
  Dtype dtype() const;
  Device device() const;
  TensorOptions options() const;
  bool is_contiguous() const;
  bool is_floating_point() const;
  bool is_same(const Tensor& other) const { return impl_ == other.impl_; }
  const std::shared_ptr<TensorImpl>& impl() const { return impl_; }
  std::shared_ptr<Storage> storage() const;

  // -- values
  Scalar item() const;  // one-element tensors only
  template <class T>
  T item() const {
    return item().to<T>();
  }
  /// Address of element 0; T must be the tensor's type. Writing through it bypasses autograd's checks.
  template <class T>
  T* data_ptr() const;
  void* raw_data() const;

  // -- conversion
  Tensor to(Dtype dtype) const;
  Tensor to(Device device) const;
  Tensor to(DeviceType device) const { return to(Device(device)); }
  Tensor to(Device device, Dtype dtype) const;
  Tensor cpu() const;
  Tensor clone() const;
  Tensor detach() const;  // shares storage, no history
  Tensor contiguous() const;

  // -- shape
  Tensor view(IntList shape) const;  // one extent may be -1
  Tensor view_as(const Tensor& other) const { return view(other.sizes()); }
  Tensor reshape(IntList shape) const;
  Tensor flatten(int64_t start_dim = 0, int64_t end_dim = -1) const;
  Tensor transpose(int64_t a, int64_t b) const;
  Tensor permute(IntList dims) const;
  Tensor t() const;
  Tensor squeeze() const;
  Tensor squeeze(int64_t dim) const;
  Tensor unsqueeze(int64_t dim) const;
  Tensor expand(IntList shape) const;
  Tensor slice(int64_t dim, int64_t start, int64_t end) const;
  Tensor narrow(int64_t dim, int64_t start, int64_t length) const;
  Tensor select(int64_t dim, int64_t index) const;
  /// Parts of `length` entries along a dimension, views; the last one may be shorter.
  std::vector<Tensor> split(int64_t length, int64_t dim = 0) const;
  /// At most `count` parts of equal length; the last one may be shorter.
  std::vector<Tensor> chunk(int64_t count, int64_t dim = 0) const;
  Tensor operator[](int64_t index) const { return select(0, index); }

  // -- indexing
  Tensor index_select(int64_t dim, const Tensor& index) const;
  Tensor gather(int64_t dim, const Tensor& index) const;

  // -- reductions
  Tensor sum() const;
  Tensor sum(int64_t dim, bool keepdim = false) const;
  Tensor sum(IntList dims, bool keepdim = false) const;
  Tensor mean() const;
  Tensor mean(int64_t dim, bool keepdim = false) const;
  Tensor mean(IntList dims, bool keepdim = false) const;
  Tensor max() const;
  Tensor min() const;
  std::pair<Tensor, Tensor> max(int64_t dim, bool keepdim = false) const;  // values, indices
  std::pair<Tensor, Tensor> min(int64_t dim, bool keepdim = false) const;
  Tensor argmax() const;
  Tensor argmax(int64_t dim, bool keepdim = false) const;
  Tensor norm() const;  // Euclidean
  Tensor all() const;
  Tensor any() const;

  // -- comparison: bool tensors
  Tensor eq(const Tensor& other) const;
  Tensor eq(Scalar other) const;
  Tensor ne(const Tensor& other) const;
  Tensor ne(Scalar other) const;
  Tensor lt(const Tensor& other) const;
  Tensor lt(Scalar other) const;
  Tensor le(const Tensor& other) const;
  Tensor le(Scalar other) const;
  Tensor gt(const Tensor& other) const;
  Tensor gt(Scalar other) const;
  Tensor ge(const Tensor& other) const;
  Tensor ge(Scalar other) const;
  Tensor isnan() const;
  Tensor isfinite() const;

  // -- elementwise, broadcasting
  Tensor add(const Tensor& other) const;
  Tensor add(Scalar other) const;
  Tensor sub(const Tensor& other) const;
  Tensor sub(Scalar other) const;
  Tensor mul(const Tensor& other) const;
  Tensor mul(Scalar other) const;
  Tensor div(const Tensor& other) const;  // true division: integers give the default floating dtype
  Tensor div(Scalar other) const;
  Tensor neg() const;
  Tensor pow(Scalar exponent) const;
  Tensor square() const;
  Tensor sqrt() const;
  Tensor exp() const;
  Tensor log() const;
  Tensor abs() const;
  Tensor tanh() const;
  Tensor sigmoid() const;
  Tensor relu() const;
  Tensor clamp(Scalar low, Scalar high) const;
  /// `value` where mask (bool, broadcast to this shape) is true, this tensor elsewhere; no gradient flows where it is true.
  Tensor masked_fill(const Tensor& mask, Scalar value) const;
  Tensor operator-() const { return neg(); }

  // -- products and rows
  Tensor softmax(int64_t dim) const;
  Tensor log_softmax(int64_t dim) const;
  /// Products of the matrices in the last two dimensions; those before them broadcast. A 1-d operand is a row (left) or a column.
  Tensor matmul(const Tensor& other) const;
  Tensor mm(const Tensor& other) const;   // [m, k] times [k, n]
  Tensor bmm(const Tensor& other) const;  // [b, m, k] times [b, k, n], one product for each index of the first dimension

  // -- in place; all return the tensor itself
  Tensor add_(const Tensor& other) const;
  Tensor add_(const Tensor& other, Scalar alpha) const;  // += alpha * other
  Tensor add_(Scalar other) const;
  Tensor sub_(const Tensor& other) const;
  Tensor sub_(Scalar other) const;
  Tensor mul_(const Tensor& other) const;
  Tensor mul_(Scalar other) const;
  Tensor div_(const Tensor& other) const;
  Tensor div_(Scalar other) const;
  Tensor zero_() const;
  Tensor fill_(Scalar value) const;
  Tensor copy_(const Tensor& source) const;  // converts dtype, broadcasts
  Tensor normal_(double mean = 0, double std = 1) const;
  Tensor uniform_(double low = 0, double high = 1) const;
  Tensor clamp_(Scalar low, Scalar high) const;
  Tensor& operator+=(const Tensor& other);
  Tensor& operator+=(Scalar other);
  Tensor& operator-=(const Tensor& other);
  Tensor& operator-=(Scalar other);
  Tensor& operator*=(const Tensor& other);
  Tensor& operator*=(Scalar other);
  Tensor& operator/=(const Tensor& other);
  Tensor& operator/=(Scalar other);

  // -- autograd
  bool requires_grad() const;
  Tensor requires_grad_(bool value = true) const;
  bool is_leaf() const;
  const Tensor& grad() const;    // undefined when nothing has arrived
  Tensor& mutable_grad() const;  // leaves only
  /// Accumulates d(this)/d(leaf) into the grad of every leaf. `gradient` may be left out for one-element tensors.
  /// Values saved for backward are freed unless `retain_graph`.
  void backward(const Tensor& gradient = Tensor(), bool retain_graph = false) const;
  /// Replaces dtype, shape and storage by those of `source`, keeping identity, grad hooks and requires_grad: all handles see it.
  void set_data(const Tensor& source) const;

 private:
  std::shared_ptr<TensorImpl> impl_;
};

template <>
float* Tensor::data_ptr<float>() const;
template <>
double* Tensor::data_ptr<double>() const;
template <>
int64_t* Tensor::data_ptr<int64_t>() const;
template <>
bool* Tensor::data_ptr<bool>() const;
template <>
BFloat16* Tensor::data_ptr<BFloat16>() const;
template <>
Half* Tensor::data_ptr<Half>() const;

std::ostream& operator<<(std::ostream& out, const Tensor& tensor);

/// A tensor with its name, as parameter lists give it.
struct NamedTensor {
  std::string name;
  Tensor tensor;
  const std::string& key() const { return name; }
  const Tensor& value() const { return tensor; }
};

/// While it lives, operations of this thread are not recorded for backward.
class NoGradGuard {
 public:
  NoGradGuard();
  ~NoGradGuard();
  NoGradGuard(const NoGradGuard&) = delete;
  NoGradGuard& operator=(const NoGradGuard&) = delete;

 private:
  bool previous_;
};

}  // namespace hvd

#include <hvd/core/factories.hpp>
#include <hvd/core/ops.hpp>
