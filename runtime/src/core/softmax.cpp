// SPDX-License-Identifier: Apache-2.0
#include "core/autocast.hpp"
#include "core/tensor_impl.hpp"

namespace hvd {

namespace {

/// Along the last dimension of a dense tensor.
Tensor softmax_rows(const Tensor& x, bool log) {
  const Tensor in = x.detach().contiguous(), out = core::make_like(in);
  const int64_t columns = x.size(-1), rows = columns ? x.numel() / columns : 0;
  core::backend_of(x).softmax(x.dtype(), rows, columns, in.raw_data(), out.raw_data(), log);
  return autograd::record(log ? "log_softmax" : "softmax", out, {x}, {out}, [=](const autograd::Node& node, const Tensor& g) {
    const Tensor dense = g.contiguous(), grad = core::make_like(dense);
    core::backend_of(g).softmax_grad(g.dtype(), rows, columns, dense.raw_data(), node.saved(0).raw_data(), grad.raw_data(), log);
    return std::vector<Tensor>{grad};
  });
}

Tensor softmax_along(const Tensor& input, int64_t dim, bool log) {
  const Tensor x = core::autocast_wide(input);
  core::check_real(x, log ? "log_softmax" : "softmax");
  const int64_t d = core::wrap_dim(dim, x.dim(), log ? "log_softmax" : "softmax");
  return d == x.dim() - 1 ? softmax_rows(x, log) : softmax_rows(x.transpose(d, -1), log).transpose(d, -1);
}

}  // namespace

Tensor Tensor::softmax(int64_t dim) const { return softmax_along(*this, dim, false); }
Tensor Tensor::log_softmax(int64_t dim) const { return softmax_along(*this, dim, true); }

}  // namespace hvd
