// SPDX-License-Identifier: Apache-2.0
#include "combine.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include <hvd/core/float16.hpp>

namespace hvd::dist {

namespace {

constexpr std::size_t kBlock = 8 * 1024;  // bytes: a block of every rank stays in the first-level cache

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

// a = b = a + b, read once and written once.
template <class T>
void add_two(char* a, char* b, std::size_t count) {
  T* x = reinterpret_cast<T*>(a);
  T* y = reinterpret_cast<T*>(b);
#pragma GCC ivdep
  for (std::size_t i = 0; i < count; ++i) x[i] = y[i] = x[i] + y[i];
}

// Short floats are widened, and rounded when all of them are in.
template <class T>
void combine_short(void* into, const void* from, std::size_t count, ReduceOp op) {
  T* a = static_cast<T*>(into);
  const T* b = static_cast<const T*>(from);
  for (std::size_t i = 0; i < count; ++i) {
    float wide = a[i];
    const float other = b[i];
    combine_as<float>(&wide, &other, 1, op);
    a[i] = T(wide);
  }
}

template <class T>
void combine_block_short(char* to, const std::vector<const char*>& from, std::size_t at, std::size_t count, ReduceOp op) {
  float sum[kBlock / sizeof(T)], other[kBlock / sizeof(T)];
  const auto widen = [&](const char* values, float* wide) {
    for (std::size_t i = 0; i < count; ++i) wide[i] = reinterpret_cast<const T*>(values)[i];
  };
  widen(from[0] + at, sum);
  for (std::size_t r = 1; r < from.size(); ++r) {
    widen(from[r] + at, other);
    combine_as<float>(sum, other, count, op);
  }
  for (std::size_t i = 0; i < count; ++i) reinterpret_cast<T*>(to)[i] = T(sum[i]);
}

// `count` elements, of at most kBlock bytes, that begin at byte `at` of each of `from`.
void combine_block(char* to, const std::vector<const char*>& from, std::size_t at, std::size_t count, DataType type, ReduceOp op) {
  if (type == DataType::bfloat16) return combine_block_short<BFloat16>(to, from, at, count, op);
  if (type == DataType::float16) return combine_block_short<Half>(to, from, at, count, op);
  std::memcpy(to, from[0] + at, count * size_of(type));
  for (std::size_t r = 1; r < from.size(); ++r) combine(to, from[r] + at, count, type, op);
}

// The sums into each of `to`, which may be among `from`.
void combine_into(const std::vector<char*>& to, const std::vector<const char*>& from, std::size_t count, DataType type, ReduceOp op) {
  const std::size_t width = size_of(type), step = kBlock / width;
  alignas(64) char sum[kBlock];
  for (std::size_t done = 0; done < count; done += step) {
    const std::size_t n = std::min(step, count - done), at = done * width;
    combine_block(sum, from, at, n, type, op);
    for (char* buffer : to) std::memcpy(buffer + at, sum, n * width);
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
    case DataType::bfloat16: return combine_short<BFloat16>(into, from, count, op);
    case DataType::float16: return combine_short<Half>(into, from, count, op);
  }
}

void combine_all(char* to, const std::vector<const char*>& from, std::size_t count, DataType type, ReduceOp op) {
  combine_into({to}, from, count, type, op);
}

void combine_everywhere(const std::vector<char*>& all, std::size_t count, DataType type, ReduceOp op) {
  if (all.size() == 2 && op == ReduceOp::sum && type == DataType::float32) return add_two<float>(all[0], all[1], count);
  if (all.size() == 2 && op == ReduceOp::sum && type == DataType::float64) return add_two<double>(all[0], all[1], count);
  combine_into(all, {all.begin(), all.end()}, count, type, op);
}

}  // namespace hvd::dist
