// SPDX-License-Identifier: Apache-2.0
//
// Transposition through tiles of 32 x 32: threads side by side read, and write, elements side by side.
#include "device/gpu/support.hpp"

#include <cstdint>

namespace hvd::backends::gpu {

namespace {

constexpr int kSide = 32, kLines = kTeam / kSide;

/// One column more than is used: a column's elements then lie in different banks of the memory.
template <class T>
struct Tile {
  T at[kSide][kSide + 1];
};

/// Where a tile begins in its matrix.
struct Corner {
  int64_t batch, row, column;
};
HVD_HD inline Corner corner_of(int64_t i, int64_t down, int64_t across) {
  const int64_t line = quotient(i, across), batch = quotient(line, down);
  return {batch, (line - batch * down) * kSide, (i - line * across) * kSide};
}

template <class T>
void transpose_tiles(int64_t batches, int64_t rows, int64_t columns, const T* in, T* out) {
  const int64_t down = (rows + kSide - 1) / kSide, across = (columns + kSide - 1) / kSide;
  for_tiles<Tile<T>>(
      "transpose", batches * down * across,
      [=] HVD_KERNEL(int64_t i, int thread, Tile<T>& tile) {
        const Corner c = corner_of(i, down, across);
        const int64_t column = c.column + thread % kSide;
        for (int line = thread / kSide; line < kSide; line += kLines)
          if (c.row + line < rows && column < columns) tile.at[line][thread % kSide] = in[(c.batch * rows + c.row + line) * columns + column];
      },
      [=] HVD_KERNEL(int64_t i, int thread, const Tile<T>& tile) {
        const Corner c = corner_of(i, down, across);
        const int64_t row = c.row + thread % kSide;
        for (int line = thread / kSide; line < kSide; line += kLines)
          if (row < rows && c.column + line < columns) out[(c.batch * columns + c.column + line) * rows + row] = tile.at[thread % kSide][line];
      });
}

// The same by tiles of twice the side, whose threads move pairs of elements: rows and columns are even, and pairs lie where they can be moved at once.

constexpr int kPairs = 32, kWide = 2 * kPairs, kWideLines = kTeam / kPairs;

template <class T>
struct WideTile {
  T at[kWide][kWide + 2];
};

template <class T>
void transpose_pairs(int64_t batches, int64_t rows, int64_t columns, const T* in, T* out) {
  const int64_t down = (rows + kWide - 1) / kWide, across = (columns + kWide - 1) / kWide;
  for_tiles<WideTile<T>>(
      "transpose", batches * down * across,
      [=] HVD_KERNEL(int64_t i, int thread, WideTile<T>& tile) {
        const Corner c = corner_of(i, down, across);
        const int pair = 2 * (thread % kPairs);
        const int64_t row = 2 * c.row, column = 2 * c.column + pair;
        HVD_UNROLL
        for (int k = 0; k < kWide / kWideLines; ++k) {
          const int line = thread / kPairs + k * kWideLines;
          if (row + line >= rows || column >= columns) continue;
          const Pack<T, 2> both = load_pack<2>(in + (c.batch * rows + row + line) * columns + column, true);
          tile.at[line][pair] = both.at[0];
          tile.at[line][pair + 1] = both.at[1];
        }
      },
      [=] HVD_KERNEL(int64_t i, int thread, const WideTile<T>& tile) {
        const Corner c = corner_of(i, down, across);
        const int pair = 2 * (thread % kPairs);
        const int64_t row = 2 * c.row + pair, column = 2 * c.column;
        for (int k = 0; k < kWide / kWideLines; ++k) {
          const int line = thread / kPairs + k * kWideLines;
          if (row >= rows || column + line >= columns) continue;
          store_pack<2>(out + (c.batch * columns + column + line) * rows + row, Pack<T, 2>{tile.at[pair][line], tile.at[pair + 1][line]}, true);
        }
      });
}

}  // namespace

void Gpu::transpose(size_t element, int64_t batches, int64_t rows, int64_t columns, const void* in, void* out) const {
  const auto as = [&](auto zero) {
    using T = decltype(zero);
    const T *const from = static_cast<const T*>(in), *const to = static_cast<T*>(out);
    if (sizeof(T) <= 4 && rows % 2 == 0 && columns % 2 == 0 && rows > kSide / 2 && columns > kSide / 2 && packs_lie<2>(from) && packs_lie<2>(to))
      return transpose_pairs(batches, rows, columns, from, static_cast<T*>(out));
    transpose_tiles(batches, rows, columns, static_cast<const T*>(in), static_cast<T*>(out));
  };
  if (element == 2) return as(uint16_t{0});
  if (element == 4) return as(uint32_t{0});
  as(uint64_t{0});
}

}  // namespace hvd::backends::gpu
