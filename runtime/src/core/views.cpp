// SPDX-License-Identifier: Apache-2.0
//
// Tensors that see the same storage through other sizes and strides.
#include "core/tensor_impl.hpp"

#include <algorithm>

namespace hvd {

using autograd::Node;
using autograd::record;
using core::impl_of;
using Grads = std::vector<Tensor>;

namespace {

/// Resolves an extent of -1.
std::vector<int64_t> resolve(IntList shape, const Tensor& t, const char* operation) {
  std::vector<int64_t> sizes = shape.vec();
  int64_t known = 1, unknown = -1;
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] == -1 && unknown < 0)
      unknown = static_cast<int64_t>(d);
    else
      known *= sizes[d];
  }
  if (unknown >= 0 && known > 0) sizes[unknown] = t.numel() / known;
  const bool negative = std::any_of(sizes.begin(), sizes.end(), [](int64_t s) { return s < 0; });
  if (negative || core::count(sizes) != t.numel())
    throw Error(std::string(operation) + ": a tensor " + to_string(t.sizes()) + " cannot be seen as " + to_string(shape));
  return sizes;
}

Tensor reshaped(const Tensor& contiguous, std::vector<int64_t> sizes) {
  std::vector<int64_t> strides = core::row_major_strides(sizes);
  return core::make_view(contiguous, std::move(sizes), std::move(strides), contiguous.impl()->offset);
}

Tensor record_reshape(const Tensor& out, const Tensor& in) {
  return record("view", out, {in}, {}, [sizes = in.sizes()](const Node&, const Tensor& g) { return Grads{g.reshape(sizes)}; });
}

}  // namespace

Tensor Tensor::view(IntList shape) const {
  std::vector<int64_t> sizes = resolve(shape, *this, "view");
  if (!is_contiguous()) throw Error("view: tensor " + to_string(this->sizes()) + " is not contiguous; use reshape");
  return record_reshape(reshaped(*this, std::move(sizes)), *this);
}

Tensor Tensor::reshape(IntList shape) const {
  std::vector<int64_t> sizes = resolve(shape, *this, "reshape");
  if (sizes == this->sizes()) return *this;
  const Tensor dense = contiguous();
  return record_reshape(reshaped(dense, std::move(sizes)), dense);
}

Tensor Tensor::flatten(int64_t start_dim, int64_t end_dim) const {
  if (dim() == 0) return reshape({1});
  const int64_t start = core::wrap_dim(start_dim, dim(), "flatten"), end = core::wrap_dim(end_dim, dim(), "flatten");
  if (start > end) throw Error("flatten: start_dim lies behind end_dim");
  std::vector<int64_t> sizes(this->sizes().begin(), this->sizes().begin() + start);
  int64_t joined = 1;
  for (int64_t d = start; d <= end; ++d) joined *= size(d);
  sizes.push_back(joined);
  sizes.insert(sizes.end(), this->sizes().begin() + end + 1, this->sizes().end());
  return reshape(sizes);
}

Tensor Tensor::permute(IntList dims) const {
  const TensorImpl& self = impl_of(*this, "permute");
  std::vector<int64_t> sizes, strides, back(dims.size(), -1);
  if (static_cast<int64_t>(dims.size()) != dim()) throw Error("permute: " + to_string(dims) + " for a tensor " + to_string(self.sizes));
  for (size_t i = 0; i < dims.size(); ++i) {
    const int64_t d = core::wrap_dim(dims[i], dim(), "permute");
    if (back[d] >= 0) throw Error("permute: dimension " + std::to_string(d) + " occurs twice in " + to_string(dims));
    back[d] = static_cast<int64_t>(i);
    sizes.push_back(self.sizes[d]);
    strides.push_back(self.strides[d]);
  }
  const Tensor out = core::make_view(*this, std::move(sizes), std::move(strides), self.offset);
  return record("permute", out, {*this}, {}, [back](const Node&, const Tensor& g) { return Grads{g.permute(back)}; });
}

Tensor Tensor::transpose(int64_t a, int64_t b) const {
  const int64_t da = core::wrap_dim(a, dim(), "transpose"), db = core::wrap_dim(b, dim(), "transpose");
  std::vector<int64_t> dims(dim());
  for (int64_t d = 0; d < dim(); ++d) dims[d] = d;
  std::swap(dims[da], dims[db]);
  return permute(dims);
}

Tensor Tensor::t() const {
  if (dim() > 2) throw Error("t: at most 2 dimensions expected, not " + to_string(sizes()));
  return dim() < 2 ? *this : transpose(0, 1);
}

Tensor Tensor::squeeze(int64_t dim) const {
  const int64_t d = core::wrap_dim(dim, this->dim(), "squeeze");
  if (size(d) != 1) return *this;
  const TensorImpl& self = *impl_;
  std::vector<int64_t> sizes = self.sizes, strides = self.strides;
  sizes.erase(sizes.begin() + d);
  strides.erase(strides.begin() + d);
  return record("squeeze", core::make_view(*this, sizes, strides, self.offset), {*this}, {},
                [d](const Node&, const Tensor& g) { return Grads{g.unsqueeze(d)}; });
}

Tensor Tensor::squeeze() const {
  Tensor out = *this;
  for (int64_t d = dim() - 1; d >= 0; --d) out = out.squeeze(d);
  return out;
}

Tensor Tensor::unsqueeze(int64_t dim) const {
  const int64_t d = core::wrap_dim(dim, this->dim() + 1, "unsqueeze");
  const TensorImpl& self = *impl_;
  std::vector<int64_t> sizes = self.sizes, strides = self.strides;
  const int64_t stride = d < this->dim() ? sizes[d] * strides[d] : 1;
  sizes.insert(sizes.begin() + d, 1);
  strides.insert(strides.begin() + d, stride);
  return record("unsqueeze", core::make_view(*this, sizes, strides, self.offset), {*this}, {},
                [d](const Node&, const Tensor& g) { return Grads{g.squeeze(d)}; });
}

Tensor Tensor::expand(IntList shape) const {
  const TensorImpl& self = impl_of(*this, "expand");
  std::vector<int64_t> sizes = shape.vec();
  const auto refuse = [&] { throw Error("expand: a tensor " + to_string(self.sizes) + " cannot be expanded to " + to_string(shape)); };
  if (sizes.size() < self.sizes.size()) refuse();
  const size_t missing = sizes.size() - self.sizes.size();
  std::vector<int64_t> strides(sizes.size(), 0);
  for (size_t d = missing; d < sizes.size(); ++d) {
    if (sizes[d] == -1) sizes[d] = self.sizes[d - missing];
    if (sizes[d] == self.sizes[d - missing])
      strides[d] = self.strides[d - missing];
    else if (self.sizes[d - missing] != 1)
      refuse();
  }
  const Tensor out = core::make_view(*this, sizes, strides, self.offset);
  return record("expand", out, {*this}, {}, [from = self.sizes](const Node&, const Tensor& g) { return Grads{core::sum_to(g, from)}; });
}

Tensor Tensor::narrow(int64_t dim, int64_t start, int64_t length) const {
  const TensorImpl& self = impl_of(*this, "narrow");
  const int64_t d = core::wrap_dim(dim, this->dim(), "narrow");
  if (start < 0 || length < 0 || start + length > self.sizes[d])
    throw Error("narrow: entries " + std::to_string(start) + " to " + std::to_string(start + length) + " of dimension " + std::to_string(d) +
                " of a tensor " + to_string(self.sizes));
  std::vector<int64_t> sizes = self.sizes;
  sizes[d] = length;
  const Tensor out = core::make_view(*this, sizes, self.strides, self.offset + start * self.strides[d]);
  return record("narrow", out, {*this}, {}, [from = self.sizes, d, start, length](const Node&, const Tensor& g) {
    const Tensor whole = zeros(from, g.options());
    whole.narrow(d, start, length).copy_(g);
    return Grads{whole};
  });
}

Tensor Tensor::slice(int64_t dim, int64_t start, int64_t end) const {
  const int64_t d = core::wrap_dim(dim, this->dim(), "slice"), extent = size(d);
  const auto clip = [&](int64_t at) { return std::clamp<int64_t>(at < 0 ? at + extent : at, 0, extent); };
  const int64_t from = clip(start);
  return narrow(d, from, std::max<int64_t>(clip(end) - from, 0));
}

Tensor Tensor::select(int64_t dim, int64_t index) const {
  const int64_t d = core::wrap_dim(dim, this->dim(), "select"), extent = size(d);
  const int64_t at = index < 0 ? index + extent : index;
  if (at < 0 || at >= extent)
    throw Error("select: index " + std::to_string(index) + " of dimension " + std::to_string(d) + " of a tensor " + to_string(sizes()));
  return narrow(d, at, 1).squeeze(d);
}

std::vector<Tensor> Tensor::split(int64_t length, int64_t dim) const {
  const int64_t d = core::wrap_dim(dim, this->dim(), "split"), extent = size(d);
  if (length < 1) throw Error("split: parts of " + std::to_string(length) + " entries");
  std::vector<Tensor> parts;
  for (int64_t at = 0; at < extent; at += length) parts.push_back(narrow(d, at, std::min(length, extent - at)));
  if (parts.empty()) parts.push_back(*this);
  return parts;
}

std::vector<Tensor> Tensor::chunk(int64_t count, int64_t dim) const {
  const int64_t d = core::wrap_dim(dim, this->dim(), "chunk");
  if (count < 1) throw Error("chunk: " + std::to_string(count) + " parts");
  return split(std::max<int64_t>((size(d) + count - 1) / count, 1), d);
}

}  // namespace hvd
