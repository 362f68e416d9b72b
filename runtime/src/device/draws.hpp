// SPDX-License-Identifier: Apache-2.0
//
// Element i of a draw, the same on every device: it depends on (seed, counter, first + i) alone.
#pragma once

#include "device/device.hpp"
#include "device/host_device.hpp"

#include <hvd/core/float16.hpp>
#include <hvd/random.hpp>

#include <cmath>
#include <type_traits>

namespace hvd::backends {

/// See philox() in hvd/random.hpp.
HVD_HD inline PhiloxBlock philox_block(uint64_t seed, uint64_t counter, uint64_t index) {
  uint32_t x[4] = {static_cast<uint32_t>(index), static_cast<uint32_t>(index >> 32), static_cast<uint32_t>(counter),
                   static_cast<uint32_t>(counter >> 32)};
  uint32_t key0 = static_cast<uint32_t>(seed), key1 = static_cast<uint32_t>(seed >> 32);
  for (int round = 0; round < 10; ++round) {
    const uint64_t p0 = uint64_t{0xD2511F53} * x[0], p1 = uint64_t{0xCD9E8D57} * x[2];
    const uint32_t y0 = static_cast<uint32_t>(p1 >> 32) ^ x[1] ^ key0, y2 = static_cast<uint32_t>(p0 >> 32) ^ x[3] ^ key1;
    x[1] = static_cast<uint32_t>(p1);
    x[3] = static_cast<uint32_t>(p0);
    x[0] = y0;
    x[2] = y2;
    key0 += 0x9E3779B9;
    key1 += 0xBB67AE85;
  }
  return {{x[0], x[1], x[2], x[3]}};
}

/// The 64 bits of element `index`: two words of the block of elements 2i and 2i + 1.
HVD_HD inline uint64_t draw_bits(uint64_t seed, uint64_t counter, uint64_t index) {
  const PhiloxBlock block = philox_block(seed, counter, index / 2);
  const int lane = static_cast<int>(index % 2) * 2;
  return static_cast<uint64_t>(block.word[lane]) << 32 | block.word[lane + 1];
}

/// Uniform on [0, 1) with 53 random bits.
HVD_HD inline double draw_uniform(uint64_t seed, uint64_t counter, uint64_t index) {
  return static_cast<double>(draw_bits(seed, counter, index) >> 11) * 0x1p-53;
}

/// Uniform on {0, ..., bound-1}, see philox_below().
HVD_HD inline uint64_t draw_below(uint64_t seed, uint64_t counter, uint64_t index, uint64_t bound) {
  if (bound == 0) return draw_bits(seed, counter, index);  // the full range of 2^64
  const uint64_t reject_below = (0 - bound) % bound;
  // A rejected element is drawn again from the far end of the index space, which no tensor reaches.
  for (uint64_t attempt = 0;; ++attempt) {
    const uint64_t at = attempt == 0 ? index : index ^ (attempt << 56);
    const auto wide = static_cast<unsigned __int128>(draw_bits(seed, counter, at)) * bound;
    if (static_cast<uint64_t>(wide) >= reject_below) return static_cast<uint64_t>(wide >> 64);
  }
}

HVD_HD inline uint64_t seed_of(const Draw& draw) { return draw.start ? draw.start[0] : draw.seed; }
HVD_HD inline uint64_t counter_of(const Draw& draw) { return draw.start ? draw.start[1] + draw.counter : draw.counter; }

/// Uniform on [low, high). Cut to as many bits as keep the rounded number below `high`: 24 for float32, 11 and 8 for float16 and bfloat16.
template <class T>
HVD_HD T uniform_at(const Draw& draw, uint64_t i, double low, double high) {
  double u = draw_uniform(seed_of(draw), counter_of(draw), draw.first + i);
  if constexpr (!std::is_same_v<T, double>) {
    const double steps = std::is_same_v<T, float> ? 0x1p24 : std::is_same_v<T, Half> ? 0x1p11 : 0x1p8;
    u = std::floor(u * steps) / steps;
  }
  const double x = plus(low, times(u, high - low));
  if constexpr (std::is_same_v<T, double>)
    return x;
  else
    return T(static_cast<float>(x));
}

/// Standard normals come in pairs (Box, Muller 1958): block i gives elements 2i and 2i + 1.
HVD_HD inline double normal_at(const Draw& draw, uint64_t i) {
  const uint64_t index = draw.first + i;
  const PhiloxBlock block = philox_block(seed_of(draw), counter_of(draw), index / 2);
  double unit[2];  // inside (0, 1)
  for (int k = 0; k < 2; ++k) {
    const uint64_t bits = (static_cast<uint64_t>(block.word[2 * k]) << 32 | block.word[2 * k + 1]) >> 11;
    unit[k] = (static_cast<double>(bits) + 0.5) * 0x1p-53;
  }
  const double radius = std::sqrt(-2 * std::log(unit[0])), angle = 6.283185307179586476925 * unit[1];
  return times(radius, index % 2 == 0 ? std::cos(angle) : std::sin(angle));
}

/// Whether an element stays in a dropout: its word of 32 bits is at or above `threshold`, p 2^32.
HVD_HD inline bool survives(const Draw& draw, uint64_t i, uint64_t threshold) {
  const uint64_t at = draw.first + i;
  return philox_block(seed_of(draw), counter_of(draw), at / 4).word[at % 4] >= threshold;
}

}  // namespace hvd::backends
