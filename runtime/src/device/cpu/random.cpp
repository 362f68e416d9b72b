// SPDX-License-Identifier: Apache-2.0
//
// Element i of a draw depends on (seed, counter, first + i) alone, and the same in float32 and float64 up to rounding.
#include "device/cpu/cpu.hpp"
#include "device/cpu/dispatch.hpp"

#include <hvd/random.hpp>

#include <algorithm>
#include <cmath>
#include <type_traits>

namespace hvd::backends {

namespace {

/// Standard normals come in pairs (Box, Muller 1958): block i gives elements 2i and 2i + 1.
double normal_at(const Draw& draw, uint64_t index) {
  const PhiloxBlock block = philox(draw.seed, draw.counter, index / 2);
  const auto unit = [&](int i) {
    const uint64_t bits = (static_cast<uint64_t>(block.word[i]) << 32 | block.word[i + 1]) >> 11;
    return (static_cast<double>(bits) + 0.5) * 0x1p-53;  // inside (0, 1)
  };
  const double radius = std::sqrt(-2 * std::log(unit(0))), angle = 6.283185307179586476925 * unit(2);
  return radius * (index % 2 == 0 ? std::cos(angle) : std::sin(angle));
}

}  // namespace

void Cpu::uniform(Dtype dtype, int64_t n, void* out, Draw draw, double low, double high) const {
  dispatch_real("uniform_", dtype, [&](auto zero) {
    using T = decltype(zero);
    T* x = static_cast<T*>(out);
    for (int64_t i = 0; i < n; ++i) {
      double u = philox_uniform(draw.seed, draw.counter, draw.first + i);
      // Cut to 24 bits, so that rounding to float32 never gives 1.
      if constexpr (std::is_same_v<T, float>) u = std::floor(u * 0x1p24) * 0x1p-24;
      x[i] = static_cast<T>(low + u * (high - low));
    }
  });
}

void Cpu::normal(Dtype dtype, int64_t n, void* out, Draw draw, double mean, double std) const {
  dispatch_real("normal_", dtype, [&](auto zero) {
    using T = decltype(zero);
    T* x = static_cast<T*>(out);
    for (int64_t i = 0; i < n; ++i) x[i] = static_cast<T>(mean + std * normal_at(draw, draw.first + i));
  });
}

void Cpu::integers(int64_t n, int64_t* out, Draw draw, int64_t low, int64_t high) const {
  const uint64_t bound = static_cast<uint64_t>(high) - static_cast<uint64_t>(low);
  for (int64_t i = 0; i < n; ++i)
    out[i] = static_cast<int64_t>(static_cast<uint64_t>(low) + philox_below(draw.seed, draw.counter, draw.first + i, bound));
}

void Cpu::dropout(Dtype dtype, int64_t n, const void* x, bool* mask, void* out, Draw draw, double p, double scale) const {
  // One word per element: it survives when its word is at or above p 2^32.
  const uint64_t threshold = static_cast<uint64_t>(p * 0x1p32);
  for (int64_t i = 0; i < n;) {
    const uint64_t at = draw.first + static_cast<uint64_t>(i);
    const PhiloxBlock block = philox(draw.seed, draw.counter, at / 4);
    for (uint64_t lane = at % 4; lane < 4 && i < n; ++lane, ++i) mask[i] = block.word[lane] >= threshold;
  }
  masked_scale(dtype, n, x, mask, scale, out);
}

void Cpu::masked_scale(Dtype dtype, int64_t n, const void* x, const bool* mask, double scale, void* out) const {
  dispatch_real("dropout", dtype, [&](auto zero) {
    using T = decltype(zero);
    const T* in = static_cast<const T*>(x);
    T* y = static_cast<T*>(out);
    const T factor = static_cast<T>(scale);
    for (int64_t i = 0; i < n; ++i) y[i] = mask[i] ? in[i] * factor : T(0);
  });
}

}  // namespace hvd::backends
