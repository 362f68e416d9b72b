// SPDX-License-Identifier: Apache-2.0
#include "core/tensor_impl.hpp"

#include <ostream>

namespace hvd {

namespace {

constexpr int64_t kEdge = 3;       // entries shown at either end of a long dimension
constexpr int64_t kLongest = 12;   // entries of a dimension that are all shown

void print_element(std::ostream& out, const Tensor& element) {
  const Scalar value = element.item();
  if (value.is_floating_point())
    out << value.to_double();
  else if (value.is_bool())
    out << (value.to_int64() ? "true" : "false");
  else
    out << value.to_int64();
}

void print_level(std::ostream& out, const Tensor& t, int indent) {
  if (t.dim() == 0) return print_element(out, t);
  out << '[';
  const int64_t n = t.size(0);
  for (int64_t i = 0; i < n; ++i) {
    if (i > 0) out << (t.dim() > 1 ? ",\n" : ", ");
    if (i > 0 && t.dim() > 1) out << std::string(indent, ' ');
    if (n > kLongest && i == kEdge) {
      out << "...";
      i = n - kEdge - 1;
      continue;
    }
    print_level(out, t[i], indent + 1);
  }
  out << ']';
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const Tensor& tensor) {
  if (!tensor.defined()) return out << "undefined tensor";
  print_level(out, core::host_copy(tensor), 1);
  return out << " {" << dtype_name(tensor.dtype()) << ' ' << to_string(tensor.sizes()) << '}';
}

}  // namespace hvd
