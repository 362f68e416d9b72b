// SPDX-License-Identifier: Apache-2.0
#include "core/autocast.hpp"
#include "core/tensor_impl.hpp"

#include <hvd/nn/functional.hpp>

namespace hvd::nn {

LayerNormOptions& LayerNormOptions::eps(double value) { return eps_ = value, *this; }
LayerNormOptions& LayerNormOptions::elementwise_affine(bool value) { return affine_ = value, *this; }

}  // namespace hvd::nn

namespace hvd::nn::functional {

namespace {

void check_fits(const Tensor& x, const std::vector<int64_t>& shape, const Tensor& weight, const Tensor& bias) {
  core::check_real(x, "layer_norm");
  const size_t dims = x.sizes().size();
  const bool ends_so = !shape.empty() && dims >= shape.size() && std::vector<int64_t>(x.sizes().end() - shape.size(), x.sizes().end()) == shape;
  if (!ends_so) throw Error("layer_norm: an input " + to_string(x.sizes()) + " does not end in " + to_string(shape));
  for (const Tensor& t : {weight, bias})
    if (t.defined() && (t.sizes() != shape || t.dtype() != x.dtype() || t.device() != x.device()))
      throw Error("layer_norm: weight or bias " + to_string(t.sizes()) + " " + dtype_name(t.dtype()) + " for an input " + to_string(x.sizes()) + " " +
                  dtype_name(x.dtype()));
}

}  // namespace

Tensor layer_norm(const Tensor& input, IntList normalized_shape, const Tensor& weight, const Tensor& bias, double eps) {
  const Tensor x = core::autocast_wide(input);
  check_fits(x, normalized_shape.vec(), weight, bias);
  const int64_t columns = core::count(normalized_shape.vec()), rows = columns > 0 ? x.numel() / columns : 0;
  const Tensor in = x.contiguous(), w = weight.defined() ? weight.contiguous() : weight, b = bias.defined() ? bias.detach().contiguous() : bias;
  const Tensor out = core::make(x.sizes(), x.dtype(), x.device());
  const auto row_values = [&] {
    return std::make_shared<Storage>(static_cast<size_t>(rows) * sizeof(double), core::backend_of(x).allocator());
  };
  const auto mean = row_values(), inverse_std = row_values();
  const auto doubles = [](const std::shared_ptr<Storage>& s) { return static_cast<double*>(s->data()); };
  core::backend_of(x).layer_norm(x.dtype(), rows, columns, in.raw_data(), w.defined() ? w.raw_data() : nullptr, b.defined() ? b.raw_data() : nullptr,
                                 eps, out.raw_data(), doubles(mean), doubles(inverse_std));
  return autograd::record(
      "layer_norm", out, {in, w, bias}, {in, w},
      [rows, columns, mean, inverse_std, doubles, shape = normalized_shape.vec()](const autograd::Node& node, const Tensor& grad) {
        const Tensor g = grad.contiguous();
        const auto result = [&](size_t i, const std::vector<int64_t>& sizes) {
          return node.wants(i) ? core::make(sizes, g.dtype(), g.device()) : Tensor();
        };
        const std::vector<Tensor> grads = {result(0, node.saved(0).sizes()), result(1, shape), result(2, shape)};
        const auto data = [](const Tensor& t) { return t.defined() ? t.raw_data() : nullptr; };
        core::backend_of(g).layer_norm_grad(g.dtype(), rows, columns, g.raw_data(), node.saved(0).raw_data(), data(node.saved(1)), doubles(mean),
                                            doubles(inverse_std), data(grads[0]), data(grads[1]), data(grads[2]));
        return grads;
      });
}

}  // namespace hvd::nn::functional
