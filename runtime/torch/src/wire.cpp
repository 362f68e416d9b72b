// SPDX-License-Identifier: Apache-2.0
#include "state.hpp"

#include <stdexcept>

namespace hvd::torch_binding {

dist::DataType wire_type(const at::Tensor& t) {
  switch (t.scalar_type()) {
    case at::kFloat:
    case at::kHalf:
    case at::kBFloat16: return dist::DataType::float32;
    case at::kDouble: return dist::DataType::float64;
    default: throw std::runtime_error(std::string("gradients and parameters of type ") + c10::toString(t.scalar_type()) + " cannot be summed over ranks");
  }
}

at::Tensor to_wire(const at::Tensor& t) {
  const at::ScalarType type = wire_type(t) == dist::DataType::float64 ? at::kDouble : at::kFloat;
  const at::Tensor dense = t.is_sparse() ? t.to_dense() : t;
  return dense.detach().to(at::TensorOptions().device(at::kCPU).dtype(type)).contiguous();
}

}  // namespace hvd::torch_binding
