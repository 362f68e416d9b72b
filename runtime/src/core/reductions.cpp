// SPDX-License-Identifier: Apache-2.0
#include "core/autocast.hpp"
#include "core/tensor_impl.hpp"

#include <hvd/context.hpp>

#include <algorithm>
#include <cmath>

namespace hvd {

using autograd::Node;
using autograd::record;
using backends::Extremum;
using Grads = std::vector<Tensor>;

namespace {

/// What stays of `sizes` without the dimensions marked in `reduced`.
std::vector<int64_t> kept_sizes(const std::vector<int64_t>& sizes, const std::vector<bool>& reduced, bool keepdim) {
  std::vector<int64_t> out;
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (!reduced[d])
      out.push_back(sizes[d]);
    else if (keepdim)
      out.push_back(1);
  }
  return out;
}

std::vector<bool> marked(IntList dims, int64_t count, const char* name) {
  std::vector<bool> reduced(count, dims.empty());
  for (int64_t d : dims) reduced[core::wrap_dim(d, count, name)] = true;
  return reduced;
}

/// `t` with the reduced dimensions last, dense, and [outer, length, inner] for the sum: one run of dimensions needs no copy.
Tensor arrange(const Tensor& t, const std::vector<bool>& reduced, core::Around& a) {
  const int64_t dims = t.dim();
  int64_t first = dims, last = -1, marks = 0;
  for (int64_t d = 0; d < dims; ++d)
    if (reduced[d]) first = std::min(first, d), last = d, ++marks;
  a = {};
  if (marks == 0 || last - first + 1 == marks) {
    for (int64_t d = 0; d < dims; ++d) (d < first ? a.outer : d <= last ? a.length : a.inner) *= t.size(d);
    return t.contiguous();
  }
  std::vector<int64_t> order;
  for (int64_t d = 0; d < dims; ++d)
    if (!reduced[d]) order.push_back(d), a.outer *= t.size(d);
  for (int64_t d = 0; d < dims; ++d)
    if (reduced[d]) order.push_back(d), a.length *= t.size(d);
  return t.permute(order).contiguous();
}

Tensor sum_over(const Tensor& input, const std::vector<bool>& reduced, bool keepdim) {
  const Tensor t = core::autocast_wide(input);
  core::Around a;
  const Tensor in = arrange(t.detach(), reduced, a);
  const Tensor out = core::make(kept_sizes(t.sizes(), reduced, keepdim), t.is_floating_point() ? t.dtype() : Dtype::kInt64, t.device());
  core::backend_of(t).sum(t.dtype(), a.outer, a.length, a.inner, in.raw_data(), out.raw_data());
  return record("sum", out, {t}, {}, [sizes = t.sizes(), kept = kept_sizes(t.sizes(), reduced, true)](const Node&, const Tensor& g) {
    return Grads{g.reshape(kept).expand(sizes)};
  });
}

int64_t reduced_count(const Tensor& t, const std::vector<bool>& reduced) {
  int64_t n = 1;
  for (int64_t d = 0; d < t.dim(); ++d)
    if (reduced[d]) n *= t.size(d);
  return n;
}

Tensor mean_over(const Tensor& t, const std::vector<bool>& reduced, bool keepdim) {
  core::check_real(t, "mean");
  // The sum of many 16-bit numbers may be none.
  if (is_low_precision(t.dtype())) {
    const Tensor mean = mean_over(t.to(Dtype::kFloat32), reduced, keepdim);
    return context().autocast ? mean : mean.to(t.dtype());
  }
  const int64_t n = reduced_count(t, reduced);
  return sum_over(t, reduced, keepdim).div(n);
}

}  // namespace

Tensor Tensor::sum() const { return sum_over(*this, marked({}, dim(), "sum"), false); }
Tensor Tensor::sum(int64_t dim, bool keepdim) const { return sum(IntList{dim}, keepdim); }
Tensor Tensor::sum(IntList dims, bool keepdim) const { return sum_over(*this, marked(dims, dim(), "sum"), keepdim); }
Tensor Tensor::mean() const { return mean_over(*this, marked({}, dim(), "mean"), false); }
Tensor Tensor::mean(int64_t dim, bool keepdim) const { return mean(IntList{dim}, keepdim); }
Tensor Tensor::mean(IntList dims, bool keepdim) const { return mean_over(*this, marked(dims, dim(), "mean"), keepdim); }

namespace {

std::pair<Tensor, Tensor> extremum_along(Extremum op, const Tensor& t, int64_t dim, bool keepdim, const char* name) {
  const int64_t d = core::wrap_dim(dim, t.dim(), name);
  const core::Around a = core::around(t.sizes(), d);
  if (a.length == 0) throw Error(std::string(name) + ": dimension " + std::to_string(d) + " of a tensor " + to_string(t.sizes()) + " is empty");
  const Tensor in = t.detach().contiguous();
  std::vector<int64_t> kept = t.sizes();
  kept[d] = 1;
  const Tensor values = core::make(kept, t.dtype(), t.device()), indices = core::make(kept, Dtype::kInt64, t.device());
  core::backend_of(t).extremum(op, t.dtype(), a.outer, a.length, a.inner, in.raw_data(), values.raw_data(), indices.data_ptr<int64_t>());
  const Tensor out = record(name, values, {t}, {indices}, [sizes = t.sizes(), a](const Node& node, const Tensor& g) {
    const Tensor whole = zeros(sizes, g.options()), dense = g.contiguous();
    core::backend_of(g).scatter_add(whole.raw_data(), dense.raw_data(), g.dtype(), node.saved(0).data_ptr<int64_t>(), a.outer, a.length, 1,
                                    a.inner);
    return Grads{whole};
  });
  return keepdim ? std::pair{out, indices} : std::pair{out.squeeze(d), indices.squeeze(d)};
}

/// Integer and bool tensors have no gradient to scatter; real ones do.
Tensor extremum_of_all(Extremum op, const Tensor& t, const char* name) {
  if (t.numel() == 0) throw Error(std::string(name) + " of an empty tensor " + to_string(t.sizes()));
  return extremum_along(op, t.reshape({-1}), 0, false, name).first;
}

}  // namespace

Tensor Tensor::max() const { return extremum_of_all(Extremum::kMax, *this, "max"); }
Tensor Tensor::min() const { return extremum_of_all(Extremum::kMin, *this, "min"); }
std::pair<Tensor, Tensor> Tensor::max(int64_t dim, bool keepdim) const { return extremum_along(Extremum::kMax, *this, dim, keepdim, "max"); }
std::pair<Tensor, Tensor> Tensor::min(int64_t dim, bool keepdim) const { return extremum_along(Extremum::kMin, *this, dim, keepdim, "min"); }

Tensor Tensor::argmax(int64_t dim, bool keepdim) const { return extremum_along(Extremum::kMax, detach(), dim, keepdim, "argmax").second; }
Tensor Tensor::argmax() const {
  if (numel() == 0) throw Error("argmax of an empty tensor " + to_string(sizes()));
  return detach().reshape({-1}).argmax(0);
}

Tensor Tensor::norm() const {
  core::check_real(*this, "norm");
  if (const Tensor wide = core::autocast_wide(*this); !wide.is_same(*this)) return wide.norm();
  const Tensor in = detach().contiguous();
  const Tensor out = core::make({}, dtype(), device());
  out.fill_(std::sqrt(core::backend_of(in).sum_squares(in.dtype(), in.numel(), in.raw_data())));
  return record("norm", out, {*this}, {*this, out}, [](const Node& node, const Tensor& g) {
    const Tensor& total = node.saved(1);
    if (total.item<double>() == 0) return Grads{zeros_like(node.saved(0))};
    return Grads{node.saved(0).mul(g.div(total))};
  });
}

Tensor Tensor::any() const { return ne(0).sum().gt(0); }
Tensor Tensor::all() const { return ne(0).sum().eq(numel()); }

}  // namespace hvd
