// SPDX-License-Identifier: Apache-2.0
#include "combine.hpp"

#include <algorithm>
#include <cstdint>

namespace hvd::dist {

namespace {

template <class T>
void combine_as(void* into, const void* from, std::size_t count, ReduceOp op) {
  T* a = static_cast<T*>(into);
  const T* b = static_cast<const T*>(from);
  switch (op) {
    case ReduceOp::sum:
      for (std::size_t i = 0; i < count; ++i) a[i] = static_cast<T>(a[i] + b[i]);
      break;
    case ReduceOp::min:
      for (std::size_t i = 0; i < count; ++i) a[i] = std::min(a[i], b[i]);
      break;
    case ReduceOp::max:
      for (std::size_t i = 0; i < count; ++i) a[i] = std::max(a[i], b[i]);
      break;
  }
}

}  // namespace

void combine(void* into, const void* from, std::size_t count, DataType type, ReduceOp op) {
  switch (type) {
    case DataType::uint8: return combine_as<std::uint8_t>(into, from, count, op);
    case DataType::int32: return combine_as<std::int32_t>(into, from, count, op);
    // Two's complement: adding as unsigned is the same and does not overflow.
    case DataType::int64:
      if (op == ReduceOp::sum) return combine_as<std::uint64_t>(into, from, count, op);
      return combine_as<std::int64_t>(into, from, count, op);
    case DataType::uint64: return combine_as<std::uint64_t>(into, from, count, op);
    case DataType::float32: return combine_as<float>(into, from, count, op);
    case DataType::float64: return combine_as<double>(into, from, count, op);
  }
}

}  // namespace hvd::dist
