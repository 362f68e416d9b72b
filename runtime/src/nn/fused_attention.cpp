// SPDX-License-Identifier: Apache-2.0
#include "nn/fused_attention.hpp"

#include "core/tensor_impl.hpp"

#include <cmath>
#include <limits>

namespace hvd::nn {

namespace {

/// What is added to the scaled products: [1, T, S] or [N, T, S], or undefined.
Tensor added(const Tensor& query, const Tensor& key, const Tensor& padding, const Tensor& mask) {
  if (!padding.defined() && !mask.defined()) return {};
  const NoGradGuard no_grad;
  constexpr double never = -std::numeric_limits<double>::infinity();
  const int64_t n = query.size(0), t = query.size(1), s = key.size(1);
  Tensor all = zeros({1, t, s}, query.options());
  if (mask.defined()) all = mask.dtype() == kBool ? all.masked_fill(mask, never) : mask.detach().view({1, t, s});
  // An extent of 1 is repeated: the sum has the samples of the padding.
  if (padding.defined()) all = (all + zeros({n, 1, 1}, query.options())).masked_fill(padding.view({n, 1, s}), never);
  return all.contiguous();
}

/// Rows of features side by side, whatever lies between the rows.
Tensor with_dense_rows(const Tensor& x) { return x.strides()[2] == 1 || x.size(2) == 1 ? x : x.contiguous(); }

const void* mask_data(const Tensor& t) { return t.defined() ? t.raw_data() : nullptr; }

}  // namespace

Tensor fused_attention(const Tensor& query, const Tensor& key, const Tensor& value, int64_t heads, const Tensor& padding, const Tensor& mask) {
  const Dtype dtype = query.dtype();
  if (!is_low_precision(dtype) || key.dtype() != dtype || value.dtype() != dtype) return {};
  if (mask.defined() && ((mask.dtype() != kBool && mask.dtype() != dtype) || mask.requires_grad())) return {};
  const backends::Backend& device = backends::native_backend(query.device());
  if (!device.has_attention()) return {};
  const Tensor q = with_dense_rows(query), k = with_dense_rows(key), v = with_dense_rows(value), bias = added(query, key, padding, mask);
  const int64_t n = q.size(0), t = q.size(1), s = k.size(1), e = q.size(2);
  const backends::Attention shape = {n, heads, t, s, e / heads, 1 / std::sqrt(static_cast<double>(e / heads)), q.strides()[0], q.strides()[1],
                                     k.strides()[0], k.strides()[1], v.strides()[0], v.strides()[1], bias.defined() ? bias.size(0) : 0};
  const Tensor out = core::make({n, t, e}, dtype, q.device()), statistics = core::make({n, heads, t}, kFloat32, q.device());
  if (!device.attention(dtype, shape, q.raw_data(), k.raw_data(), v.raw_data(), mask_data(bias), out.raw_data(), statistics.data_ptr<float>())) return {};
  return autograd::record("attention", out, {q, k, v}, {q, k, v, out}, [=](const autograd::Node& node, const Tensor& grad) {
    const Tensor g = grad.contiguous();
    const auto made = [&](int64_t rows) { return core::make({n, rows, e}, dtype, g.device()); };
    const std::vector<Tensor> grads = {made(t), made(s), made(s)};
    const Tensor &q_now = node.saved(0), &k_now = node.saved(1), &v_now = node.saved(2);
    if (!backends::native_backend(g.device()).attention_grad(dtype, shape, g.raw_data(), q_now.raw_data(), k_now.raw_data(), v_now.raw_data(), mask_data(bias),
                                                             node.saved(3).raw_data(), statistics.data_ptr<float>(), grads[0].raw_data(),
                                                             grads[1].raw_data(), grads[2].raw_data()))
      throw Error("attention: device '" + g.device().name() + "' has no gradient for what it computed");
    return grads;
  });
}

}  // namespace hvd::nn
