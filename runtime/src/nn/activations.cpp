// SPDX-License-Identifier: Apache-2.0
#include "core/autocast.hpp"
#include "core/elementwise.hpp"

#include <hvd/context.hpp>
#include <hvd/nn/functional.hpp>
#include <hvd/random.hpp>

namespace hvd::nn::functional {

using backends::Binary;
using backends::Unary;
using Grads = std::vector<Tensor>;

Tensor relu(const Tensor& x) { return x.relu(); }
Tensor sigmoid(const Tensor& x) { return x.sigmoid(); }
Tensor tanh(const Tensor& x) { return x.tanh(); }

Tensor leaky_relu(const Tensor& x, double negative_slope) {
  core::check_real(x, "leaky_relu");
  return autograd::record("leaky_relu", core::unary_values(Unary::kLeakyRelu, x, "leaky_relu", negative_slope), {x}, {x},
                          [negative_slope](const autograd::Node& node, const Tensor& g) {
                            return Grads{g.mul(core::unary_values(Unary::kStep, node.saved(0), "leaky_relu", 1.0, negative_slope))};
                          });
}

Tensor gelu(const Tensor& x, const std::string& approximate) {
  core::check_real(x, "gelu");
  if (approximate != "none" && approximate != "tanh") throw Error("gelu: approximate is 'none' or 'tanh', not '" + approximate + "'");
  const bool exact = approximate == "none";
  return autograd::record("gelu", core::unary_values(exact ? Unary::kGelu : Unary::kGeluTanh, x, "gelu"), {x}, {x},
                          [exact](const autograd::Node& node, const Tensor& g) {
                            return Grads{core::binary_values(exact ? Binary::kGeluGrad : Binary::kGeluTanhGrad, g, node.saved(0), "gelu")};
                          });
}

Tensor softplus(const Tensor& input) {
  const Tensor x = core::autocast_wide(input);
  core::check_real(x, "softplus");
  return autograd::record("softplus", core::unary_values(Unary::kSoftplus, x, "softplus"), {x}, {x},
                          [](const autograd::Node& node, const Tensor& g) { return Grads{g.mul(node.saved(0).sigmoid())}; });
}

Tensor softmax(const Tensor& x, int64_t dim) { return x.softmax(dim); }
Tensor log_softmax(const Tensor& x, int64_t dim) { return x.log_softmax(dim); }

namespace {

/// Number, within the tensor of the whole global batch, of the first element of `x`: rows of the batch lead, several
/// to a sample perhaps. Tensors that are not made of rows of the slice start at 0.
uint64_t first_element(const Tensor& x) {
  const Slice* slice = current_slice();
  if (!slice || x.dim() == 0) return 0;
  const int64_t rows = slice->local_rows();
  if (x.size(0) == slice->whole_rows) return 0;
  if (rows <= 0 || x.size(0) % rows != 0) return 0;
  return static_cast<uint64_t>(slice->first_row) * static_cast<uint64_t>(x.numel() / rows);
}

}  // namespace

Tensor dropout(const Tensor& x, double p, bool training) {
  if (!(p >= 0 && p <= 1)) throw Error("dropout: probability " + std::to_string(p) + " is not between 0 and 1");
  core::check_real(x, "dropout");
  if (!training || p == 0) return x;
  const Tensor in = x.detach().contiguous(), out = core::make_like(in), mask = core::make(x.sizes(), Dtype::kBool, x.device());
  const double scale = p < 1 ? 1 / (1 - p) : 0;
  const backends::Draw draw = core::next_draw(x, first_element(x));
  core::backend_of(x).dropout(x.dtype(), x.numel(), in.raw_data(), mask.data_ptr<bool>(), out.raw_data(), draw, p, scale);
  return autograd::record("dropout", out, {x}, {mask}, [scale](const autograd::Node& node, const Tensor& grad) {
    const Tensor g = grad.contiguous(), gx = core::make_like(g);
    core::backend_of(g).masked_scale(g.dtype(), g.numel(), g.raw_data(), node.saved(0).data_ptr<bool>(), scale, gx.raw_data());
    return std::vector<Tensor>{gx};
  });
}

Tensor one_hot(const Tensor& index, int64_t num_classes) {
  if (index.dtype() != Dtype::kInt64) throw Error(std::string("one_hot: indices are int64, not ") + dtype_name(index.dtype()));
  std::vector<int64_t> sizes = index.sizes();
  sizes.push_back(num_classes);
  const Tensor dense = core::host_copy(index).contiguous(), out = zeros(sizes, TensorOptions(Dtype::kInt64).device(dense.device()));
  const int64_t* at = dense.data_ptr<int64_t>();
  for (int64_t i = 0; i < dense.numel(); ++i) {
    if (at[i] < 0 || at[i] >= num_classes)
      throw Error("one_hot: index " + std::to_string(at[i]) + " is not one of " + std::to_string(num_classes) + " classes");
    out.data_ptr<int64_t>()[i * num_classes + at[i]] = 1;
  }
  return out.to(index.device());
}

}  // namespace hvd::nn::functional

namespace hvd {

Tensor dropout(const Tensor& x, double p, bool training) { return nn::functional::dropout(x, p, training); }
Tensor max_pool2d(const Tensor& x, int64_t kernel_size) { return nn::functional::max_pool2d(x, kernel_size); }

}  // namespace hvd
