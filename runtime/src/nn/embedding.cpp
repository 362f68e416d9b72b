// SPDX-License-Identifier: Apache-2.0
#include "core/tensor_impl.hpp"

#include <hvd/context.hpp>
#include <hvd/nn/functional.hpp>

namespace hvd::nn {

EmbeddingOptions& EmbeddingOptions::padding_idx(int64_t value) {
  if (value < -1 || value >= count_) throw Error("Embedding: padding_idx " + std::to_string(value) + " of " + std::to_string(count_) + " rows");
  return padding_ = value, *this;
}

}  // namespace hvd::nn

namespace hvd::nn::functional {

Tensor embedding(const Tensor& index, const Tensor& weight, int64_t padding_idx) {
  if (weight.dim() != 2) throw Error("embedding: weights [V, E] expected, not " + to_string(weight.sizes()));
  std::vector<int64_t> sizes = index.sizes();
  sizes.push_back(weight.size(1));
  // The gradient of the padding row ends here.
  const Tensor rows = index.reshape({index.numel()});
  if (padding_idx < 0) return weight.index_select(0, rows).reshape(sizes);
  const Tensor table = weight.detach();
  const Tensor out = table.index_select(0, rows).reshape(sizes);
  return autograd::record("embedding", out, {weight}, {rows}, [from = weight.sizes(), padding_idx](const autograd::Node& node, const Tensor& grad) {
    const Tensor whole = zeros(from, grad.options()), dense = grad.contiguous();
    const Tensor& at = node.saved(0);
    core::backend_of(grad).index_add(whole.raw_data(), dense.raw_data(), grad.dtype(), at.data_ptr<int64_t>(), 1, from[0], at.numel(), from[1]);
    whole.narrow(0, padding_idx, 1).zero_();
    return std::vector<Tensor>{whole};
  });
}

Tensor causal_mask(int64_t length, Device device) {
  const Tensor mask = core::make_for_host({length, length}, Dtype::kBool, device);
  for (int64_t i = 0; i < length; ++i)
    for (int64_t j = 0; j < length; ++j) mask.data_ptr<bool>()[i * length + j] = j > i;
  return mask.to(device);
}
Tensor causal_mask(int64_t length) { return causal_mask(length, default_device()); }

}  // namespace hvd::nn::functional
