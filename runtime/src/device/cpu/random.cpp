// SPDX-License-Identifier: Apache-2.0
//
// Element i of a draw depends on (seed, counter, first + i) alone, and is the same in all dtypes up to rounding.
#include "device/cpu/cpu.hpp"
#include "device/cpu/dispatch.hpp"
#include "device/draws.hpp"

namespace hvd::backends {

void Cpu::uniform(Dtype dtype, int64_t n, void* out, Draw draw, double low, double high) const {
  dispatch_floating("uniform_", dtype, [&](auto zero) {
    using T = decltype(zero);
    T* x = static_cast<T*>(out);
    for (int64_t i = 0; i < n; ++i) x[i] = uniform_at<T>(draw, i, low, high);
  });
}

void Cpu::normal(Dtype dtype, int64_t n, void* out, Draw draw, double mean, double std) const {
  dispatch_real("normal_", dtype, [&](auto zero) {
    using T = decltype(zero);
    T* x = static_cast<T*>(out);
    for (int64_t i = 0; i < n; ++i) x[i] = static_cast<T>(mean + std * normal_at(draw, i));
  });
}

void Cpu::integers(int64_t n, int64_t* out, Draw draw, int64_t low, int64_t high) const {
  const uint64_t bound = static_cast<uint64_t>(high) - static_cast<uint64_t>(low);
  for (int64_t i = 0; i < n; ++i)
    out[i] = static_cast<int64_t>(static_cast<uint64_t>(low) + draw_below(draw.seed, draw.counter, draw.first + i, bound));
}

void Cpu::dropout(Dtype dtype, int64_t n, const void* x, bool* mask, void* out, Draw draw, double p, double scale) const {
  // One word per element, four to a block; see survives().
  const uint64_t threshold = static_cast<uint64_t>(p * 0x1p32);
  for (int64_t i = 0; i < n;) {
    const uint64_t at = draw.first + static_cast<uint64_t>(i);
    const PhiloxBlock block = philox_block(draw.seed, draw.counter, at / 4);
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
