// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hvd/optim/optimizer.hpp>

namespace hvd::optim {

/// The options of a group as an optimizer's own class.
template <class Options>
const Options& options_as(const ParamGroup& group, const char* optimizer) {
  const auto* options = dynamic_cast<const Options*>(&group.options());
  if (!options) throw Error(std::string(optimizer) + ": a parameter group has the options of another optimizer");
  return *options;
}

/// The gradient of a parameter, row-major, checked against it; the parameter itself must be row-major.
inline Tensor dense_grad(const Tensor& parameter) {
  const Tensor& grad = parameter.grad();
  if (grad.sizes() != parameter.sizes() || grad.dtype() != parameter.dtype())
    throw Error("optimizer: gradient " + to_string(grad.sizes()) + " " + dtype_name(grad.dtype()) + " for a parameter " +
                to_string(parameter.sizes()) + " " + dtype_name(parameter.dtype()));
  if (!parameter.is_contiguous()) throw Error("optimizer: a parameter " + to_string(parameter.sizes()) + " is not contiguous");
  return grad.contiguous();
}

}  // namespace hvd::optim
