// SPDX-License-Identifier: Apache-2.0
//
// Entries chosen by index, and tensors put together.
#include "core/tensor_impl.hpp"

#include <hvd/context.hpp>

namespace hvd {

using autograd::Node;
using autograd::record;
using core::Around;
using Grads = std::vector<Tensor>;

namespace {

/// Dense int64 indices, all inside [0, length).
Tensor checked_index(const Tensor& index, int64_t length, const char* name) {
  if (core::impl_of(index, name).dtype != Dtype::kInt64) throw Error(std::string(name) + ": indices are int64, not " + dtype_name(index.dtype()));
  const Tensor dense = index.contiguous();
  if (core::backend_of(dense).check_index(name, dense.data_ptr<int64_t>(), dense.numel(), length)) return dense;
  const Tensor values = core::host_copy(dense);
  const int64_t* at = values.data_ptr<int64_t>();
  for (int64_t i = 0; i < dense.numel(); ++i)
    if (at[i] < 0 || at[i] >= length)
      throw Error(std::string(name) + ": index " + std::to_string(at[i]) + " of a dimension of " + std::to_string(length));
  return dense;
}

}  // namespace

Tensor Tensor::index_select(int64_t dim, const Tensor& index) const {
  const int64_t d = core::wrap_dim(dim, this->dim(), "index_select");
  const Around a = core::around(sizes(), d);
  const Tensor at = checked_index(index, a.length, "index_select");
  if (at.dim() > 1) throw Error("index_select: indices have 1 dimension, not " + to_string(at.sizes()));
  const Tensor in = detach().contiguous();
  std::vector<int64_t> sizes = this->sizes();
  sizes[d] = at.numel();
  const Tensor out = core::make(sizes, dtype(), device());
  core::backend_of(*this).index_select(out.raw_data(), in.raw_data(), at.data_ptr<int64_t>(), a.outer, a.length, at.numel(),
                                       a.inner * static_cast<int64_t>(dtype_size(dtype())));
  return record("index_select", out, {*this}, {at}, [from = this->sizes(), a](const Node& node, const Tensor& g) {
    const Tensor whole = zeros(from, g.options()), dense = g.contiguous();
    const Tensor& at = node.saved(0);
    core::backend_of(g).index_add(whole.raw_data(), dense.raw_data(), g.dtype(), at.data_ptr<int64_t>(), a.outer, a.length, at.numel(), a.inner);
    return Grads{whole};
  });
}

Tensor Tensor::gather(int64_t dim, const Tensor& index) const {
  const int64_t d = core::wrap_dim(dim, this->dim(), "gather");
  const Around a = core::around(sizes(), d);
  const Tensor at = checked_index(index, a.length, "gather");
  std::vector<int64_t> expected = sizes();
  if (at.dim() == this->dim()) expected[d] = at.size(d);
  if (at.sizes() != expected)
    throw Error("gather: indices " + to_string(at.sizes()) + " for dimension " + std::to_string(d) + " of a tensor " + to_string(sizes()));
  const Tensor in = detach().contiguous(), out = core::make(at.sizes(), dtype(), device());
  const int64_t n = at.size(d);
  core::backend_of(*this).gather(out.raw_data(), in.raw_data(), dtype(), at.data_ptr<int64_t>(), a.outer, a.length, n, a.inner);
  return record("gather", out, {*this}, {at}, [from = sizes(), a, n](const Node& node, const Tensor& g) {
    const Tensor whole = zeros(from, g.options()), dense = g.contiguous();
    core::backend_of(g).scatter_add(whole.raw_data(), dense.raw_data(), g.dtype(), node.saved(0).data_ptr<int64_t>(), a.outer, a.length, n, a.inner);
    return Grads{whole};
  });
}

namespace {

bool same_dtypes(const std::vector<Tensor>& tensors) {
  for (const Tensor& t : tensors)
    if (t.dtype() != tensors[0].dtype()) return false;
  return true;
}

/// Under autocast operations leave results of different precision.
std::vector<Tensor> in_widest(const std::vector<Tensor>& tensors) {
  Dtype dtype = tensors[0].dtype();
  for (const Tensor& t : tensors) dtype = core::promote(empty({1}, dtype), empty({1}, t.dtype()));
  std::vector<Tensor> out;
  for (const Tensor& t : tensors) out.push_back(t.to(dtype));
  return out;
}

}  // namespace

Tensor cat(const std::vector<Tensor>& tensors, int64_t dim) {
  if (tensors.empty()) throw Error("cat: no tensors");
  if (context().autocast && !same_dtypes(tensors)) return cat(in_widest(tensors), dim);
  const Tensor& first = tensors[0];
  const int64_t d = core::wrap_dim(dim, core::impl_of(first, "cat").sizes.size(), "cat");
  std::vector<int64_t> sizes = first.sizes(), lengths;
  sizes[d] = 0;
  for (const Tensor& t : tensors) {
    core::check_same_device(first, t, "cat");
    std::vector<int64_t> rest = t.sizes();
    if (t.dim() == first.dim()) rest[d] = first.size(d);
    if (rest != first.sizes() || t.dtype() != first.dtype())
      throw Error("cat: " + to_string(t.sizes()) + " " + dtype_name(t.dtype()) + " does not fit to " + to_string(first.sizes()) + " " +
                  dtype_name(first.dtype()) + " along dimension " + std::to_string(d));
    lengths.push_back(t.size(d));
    sizes[d] += t.size(d);
  }
  const Tensor out = core::make(sizes, first.dtype(), first.device());
  int64_t start = 0;
  for (const Tensor& t : tensors) {
    out.narrow(d, start, t.size(d)).copy_(t.detach());
    start += t.size(d);
  }
  return record("cat", out, tensors, {}, [d, lengths](const Node& node, const Tensor& g) {
    Grads grads;
    int64_t at = 0;
    for (size_t i = 0; i < lengths.size(); at += lengths[i++]) grads.push_back(node.wants(i) ? g.narrow(d, at, lengths[i]) : Tensor());
    return grads;
  });
}

Tensor stack(const std::vector<Tensor>& tensors, int64_t dim) {
  if (tensors.empty()) throw Error("stack: no tensors");
  const int64_t d = core::wrap_dim(dim, tensors[0].dim() + 1, "stack");
  std::vector<Tensor> parts;
  parts.reserve(tensors.size());
  for (const Tensor& t : tensors) {
    if (t.sizes() != tensors[0].sizes()) throw Error("stack: shapes " + to_string(tensors[0].sizes()) + " and " + to_string(t.sizes()));
    parts.push_back(t.unsqueeze(d));
  }
  return cat(parts, d);
}

}  // namespace hvd
