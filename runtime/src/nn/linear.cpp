// SPDX-License-Identifier: Apache-2.0
#include "core/autocast.hpp"
#include "core/products.hpp"

#include <hvd/nn/functional.hpp>

namespace hvd::nn::functional {

using autograd::Node;
using Grads = std::vector<Tensor>;

namespace {

void check_linear(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  core::check_real(x, "linear");
  core::check_same_device(x, weight, "linear");
  if (x.dtype() != weight.dtype())
    throw Error(std::string("linear: input is ") + dtype_name(x.dtype()) + ", weight " + dtype_name(weight.dtype()));
  if (weight.dim() != 2 || x.dim() == 0 || x.size(-1) != weight.size(1))
    throw Error("linear: input " + to_string(x.sizes()) + " and weight " + to_string(weight.sizes()) + " do not fit");
  if (bias.defined() && (bias.dim() != 1 || bias.size(0) != weight.size(0)))
    throw Error("linear: bias " + to_string(bias.sizes()) + " and weight " + to_string(weight.sizes()) + " do not fit");
}

Tensor column_sums(const Tensor& g) {
  const Tensor dense = g.contiguous(), out = core::make({g.size(1)}, g.dtype(), g.device());
  core::backend_of(g).sum(g.dtype(), 1, g.size(0), g.size(1), dense.raw_data(), out.raw_data());
  return out;
}

}  // namespace

Tensor linear(const Tensor& input, const Tensor& weights, const Tensor& biases) {
  const Tensor x = core::autocast_low(input), weight = core::autocast_low(weights), bias = core::autocast_low(biases);
  check_linear(x, weight, bias);
  if (x.dim() != 2) {
    std::vector<int64_t> sizes = x.sizes();
    sizes.back() = weight.size(0);
    return linear(x.reshape({x.numel() / std::max<int64_t>(x.size(-1), 1), x.size(-1)}), weight, bias).reshape(sizes);
  }
  const Tensor out = core::multiply(x.detach(), false, weight.detach(), true);
  if (bias.defined()) {
    const Tensor b = bias.detach().contiguous();
    core::backend_of(x).add_rows(x.dtype(), out.size(0), out.size(1), b.raw_data(), out.raw_data());
  }
  return autograd::record("linear", out, {x, weight, bias}, {x, weight}, [](const Node& node, const Tensor& g) {
    return Grads{node.wants(0) ? core::multiply(g, false, node.saved(1), false) : Tensor(),
                 node.wants(1) ? core::multiply(g, true, node.saved(0), false) : Tensor(), node.wants(2) ? column_sums(g) : Tensor()};
  });
}

}  // namespace hvd::nn::functional
