// SPDX-License-Identifier: Apache-2.0
#include "core/tensor_impl.hpp"
#include "nn/fused_attention.hpp"

#include <hvd/nn/init.hpp>
#include <hvd/nn/sequence.hpp>

#include <cmath>
#include <limits>

namespace hvd::nn {

MultiheadAttentionOptions& MultiheadAttentionOptions::dropout(double value) { return dropout_ = value, *this; }
MultiheadAttentionOptions& MultiheadAttentionOptions::bias(bool value) { return bias_ = value, *this; }

TransformerEncoderLayerOptions& TransformerEncoderLayerOptions::dim_feedforward(int64_t value) { return feedforward_ = value, *this; }
TransformerEncoderLayerOptions& TransformerEncoderLayerOptions::dropout(double value) { return dropout_ = value, *this; }
TransformerEncoderLayerOptions& TransformerEncoderLayerOptions::activation(Activation value) { return activation_ = value, *this; }
TransformerEncoderLayerOptions& TransformerEncoderLayerOptions::norm_first(bool value) { return norm_first_ = value, *this; }

MultiheadAttentionImpl::MultiheadAttentionImpl(const MultiheadAttentionOptions& options) : options(options) {
  const int64_t e = options.embed_dim();
  if (e < 1 || options.num_heads() < 1 || e % options.num_heads() != 0)
    throw Error("MultiheadAttention: " + std::to_string(e) + " features do not divide into " + std::to_string(options.num_heads()) + " heads");
  if (!(options.dropout() >= 0 && options.dropout() <= 1))
    throw Error("MultiheadAttention: probability " + std::to_string(options.dropout()) + " is not between 0 and 1");
  in_proj_weight = register_parameter("in_proj_weight", empty({3 * e, e}));
  in_proj_bias = register_parameter("in_proj_bias", options.bias() ? empty({3 * e}) : Tensor());
  out_proj = register_module("out_proj", Linear(LinearOptions(e, e).bias(options.bias())));
  reset_parameters();
}

void MultiheadAttentionImpl::reset_parameters() {
  init::xavier_uniform_(in_proj_weight);
  if (!options.bias()) return;
  init::zeros_(in_proj_bias);
  init::zeros_(out_proj->bias);
}

std::vector<Tensor> MultiheadAttentionImpl::project(const Tensor& query, const Tensor& key, const Tensor& value) const {
  const int64_t e = options.embed_dim();
  if (query.is_same(key) && key.is_same(value)) return functional::linear(query, in_proj_weight, in_proj_bias).chunk(3, 2);
  const auto part = [&](const Tensor& x, int64_t i) {
    return functional::linear(x, in_proj_weight.narrow(0, i * e, e), options.bias() ? in_proj_bias.narrow(0, i * e, e) : Tensor());
  };
  return {part(query, 0), part(key, 1), part(value, 2)};
}

namespace {

/// [N, T, E] as [N heads, T, E / heads].
Tensor by_head(const Tensor& x, int64_t heads) {
  const int64_t n = x.size(0), t = x.size(1), width = x.size(2) / heads;
  return x.reshape({n, t, heads, width}).transpose(1, 2).reshape({n * heads, t, width});
}

void check_attention(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& padding, const Tensor& mask, int64_t dim) {
  for (const Tensor* x : {&q, &k, &v})
    if (x->dim() != 3 || x->size(2) != dim)
      throw Error("MultiheadAttention: inputs [N, T, " + std::to_string(dim) + "] expected, not " + to_string(x->sizes()));
  if (k.sizes() != v.sizes() || k.size(0) != q.size(0))
    throw Error("MultiheadAttention: query " + to_string(q.sizes()) + ", key " + to_string(k.sizes()) + " and value " + to_string(v.sizes()) +
                " do not fit");
  if (padding.defined() && (padding.dtype() != kBool || padding.sizes() != std::vector<int64_t>{k.size(0), k.size(1)}))
    throw Error("MultiheadAttention: key_padding_mask is bool " + to_string({k.size(0), k.size(1)}) + ", not " + dtype_name(padding.dtype()) + " " +
                to_string(padding.sizes()));
  if (mask.defined() && mask.sizes() != std::vector<int64_t>{q.size(1), k.size(1)})
    throw Error("MultiheadAttention: attn_mask is " + to_string({q.size(1), k.size(1)}) + ", not " + to_string(mask.sizes()));
}

}  // namespace

Tensor MultiheadAttentionImpl::forward(const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& key_padding_mask,
                                       const Tensor& attn_mask) {
  check_attention(query, key, value, key_padding_mask, attn_mask, options.embed_dim());
  const int64_t n = query.size(0), t = query.size(1), s = key.size(1), e = options.embed_dim(), heads = options.num_heads();
  const std::vector<Tensor> parts = project(query, key, value);
  // Dropped weights are drawn as everywhere in the runtime, which no device's own operation does.
  if (!is_training() || options.dropout() == 0) {
    const Tensor whole = fused_attention(parts[0], parts[1], parts[2], heads, key_padding_mask, attn_mask);
    if (whole.defined()) return out_proj->forward(whole);
  }
  const Tensor q = by_head(parts[0] * (1 / std::sqrt(static_cast<double>(e / heads))), heads);
  Tensor scores = q.bmm(by_head(parts[1], heads).transpose(1, 2));
  constexpr double never = -std::numeric_limits<double>::infinity();
  if (attn_mask.defined()) scores = attn_mask.dtype() == kBool ? scores.masked_fill(attn_mask, never) : scores + attn_mask;
  if (key_padding_mask.defined())
    scores = scores.view({n, heads, t, s}).masked_fill(key_padding_mask.reshape({n, 1, 1, s}), never).view({n * heads, t, s});
  const Tensor weights = functional::dropout(scores.softmax(-1), options.dropout(), is_training());
  const Tensor out = weights.bmm(by_head(parts[2], heads));
  return out_proj->forward(out.view({n, heads, t, e / heads}).transpose(1, 2).reshape({n, t, e}));
}

TransformerEncoderLayerImpl::TransformerEncoderLayerImpl(const TransformerEncoderLayerOptions& options) : options(options) {
  const int64_t e = options.d_model();
  self_attn = register_module("self_attn", MultiheadAttention(MultiheadAttentionOptions(e, options.nhead()).dropout(options.dropout())));
  linear1 = register_module("linear1", Linear(e, options.dim_feedforward()));
  dropout = register_module("dropout", Dropout(options.dropout()));
  linear2 = register_module("linear2", Linear(options.dim_feedforward(), e));
  norm1 = register_module("norm1", LayerNorm(std::vector<int64_t>{e}));
  norm2 = register_module("norm2", LayerNorm(std::vector<int64_t>{e}));
  dropout1 = register_module("dropout1", Dropout(options.dropout()));
  dropout2 = register_module("dropout2", Dropout(options.dropout()));
}

Tensor TransformerEncoderLayerImpl::attend(const Tensor& x, const Tensor& mask, const Tensor& padding) {
  return dropout1(self_attn(x, x, x, padding, mask));
}

Tensor TransformerEncoderLayerImpl::feed_forward(const Tensor& x) {
  const Tensor hidden = linear1(x);
  return dropout2(linear2(dropout(options.activation() == Activation::kGELU ? functional::gelu(hidden) : hidden.relu())));
}

Tensor TransformerEncoderLayerImpl::forward(const Tensor& src, const Tensor& src_mask, const Tensor& src_key_padding_mask) {
  if (options.norm_first()) {
    const Tensor x = src + attend(norm1(src), src_mask, src_key_padding_mask);
    return x + feed_forward(norm2(x));
  }
  const Tensor x = norm1(src + attend(src, src_mask, src_key_padding_mask));
  return norm2(x + feed_forward(x));
}

}  // namespace hvd::nn
