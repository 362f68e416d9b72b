// SPDX-License-Identifier: Apache-2.0
#include "sums.hpp"

#include <algorithm>
#include <cstring>

#include "../combine.hpp"

namespace hvd::dist {

namespace {

constexpr std::size_t kBlock = 8 * 1024;  // bytes: a block of every rank stays in the first-level cache

// a = b = a + b, read once and written once.
template <class T>
void add_two(char* a, char* b, std::size_t count) {
  T* x = reinterpret_cast<T*>(a);
  T* y = reinterpret_cast<T*>(b);
#pragma GCC ivdep
  for (std::size_t i = 0; i < count; ++i) x[i] = y[i] = x[i] + y[i];
}

}  // namespace

Part part_of(std::size_t count, int rank, int size, DataType type) {
  const std::size_t grain = 64 / size_of(type), grains = (count + grain - 1) / grain;
  const auto first = [&](int r) {
    return std::min(count, grains * static_cast<std::size_t>(r) / static_cast<std::size_t>(size) * grain);
  };
  return {first(rank), first(rank + 1) - first(rank)};
}

void combine_all(char* to, const std::vector<const char*>& from, std::size_t count, DataType type, ReduceOp op) {
  const std::size_t width = size_of(type), step = kBlock / width;
  alignas(64) char sum[kBlock];
  for (std::size_t done = 0; done < count; done += step) {
    const std::size_t n = std::min(step, count - done), at = done * width;
    std::memcpy(sum, from[0] + at, n * width);
    for (std::size_t r = 1; r < from.size(); ++r) combine(sum, from[r] + at, n, type, op);
    std::memcpy(to + at, sum, n * width);
  }
}

void combine_everywhere(const std::vector<char*>& all, std::size_t count, DataType type, ReduceOp op) {
  if (all.size() == 2 && op == ReduceOp::sum && type == DataType::float32) return add_two<float>(all[0], all[1], count);
  if (all.size() == 2 && op == ReduceOp::sum && type == DataType::float64) return add_two<double>(all[0], all[1], count);
  const std::size_t width = size_of(type), step = kBlock / width;
  alignas(64) char sum[kBlock];
  for (std::size_t done = 0; done < count; done += step) {
    const std::size_t n = std::min(step, count - done), at = done * width;
    std::memcpy(sum, all[0] + at, n * width);
    for (std::size_t r = 1; r < all.size(); ++r) combine(sum, all[r] + at, n, type, op);
    for (char* buffer : all) std::memcpy(buffer + at, sum, n * width);
  }
}

}  // namespace hvd::dist
