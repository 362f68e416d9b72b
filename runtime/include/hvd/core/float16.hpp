// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>

/// Two storage formats of 16 bits. Both widen to float without loss; a float is rounded to the nearest value, ties to even.
/// The conversions are constexpr, so that code for GPUs can use them too.
namespace hvd {

/// bfloat16: sign, 8 bits of exponent, 7 of fraction: the range of float at 3 significant decimals.
struct BFloat16 {
  uint16_t bits = 0;

  BFloat16() = default;
  constexpr BFloat16(float value) {
    const uint32_t wide = std::bit_cast<uint32_t>(value);
    const uint32_t rounded = (wide + 0x7fffu + (wide >> 16 & 1)) >> 16;
    const bool nan = (wide & 0x7fffffffu) > 0x7f800000u;
    bits = static_cast<uint16_t>(nan ? (wide >> 16 | 0x40u) : rounded);  // a NaN stays one
  }
  constexpr operator float() const { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }
};

/// IEEE 754 binary16: sign, 5 bits of exponent, 10 of fraction: up to 65504; below 6.1e-5 with fewer digits, below 3e-8 zero.
struct Half {
  uint16_t bits = 0;

  Half() = default;
  constexpr Half(float value) {
    const uint32_t wide = std::bit_cast<uint32_t>(value), sign = wide >> 16 & 0x8000u, magnitude = wide & 0x7fffffffu;
    if (magnitude > 0x7f800000u) {
      bits = static_cast<uint16_t>(sign | 0x7e00u | (magnitude >> 13 & 0x1ffu));  // a NaN stays one
    } else if (magnitude >= 0x477ff000u) {
      bits = static_cast<uint16_t>(sign | 0x7c00u);  // from 65520 on: infinity
    } else if (magnitude < 0x38800000u) {
      // Below 2^-14: adding 0.5 leaves the multiples of 2^-24, rounded, in the last bits.
      const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
      bits = static_cast<uint16_t>(sign | (std::bit_cast<uint32_t>(shifted) - 0x3f000000u));
    } else {
      bits = static_cast<uint16_t>(sign | ((magnitude + 0xfffu + (magnitude >> 13 & 1) - 0x38000000u) >> 13));
    }
  }
  constexpr operator float() const {
    const uint32_t sign = static_cast<uint32_t>(bits & 0x8000u) << 16, rest = bits & 0x7fffu;
    if (rest >= 0x7c00u) return std::bit_cast<float>(sign | 0x7f800000u | (rest & 0x3ffu) << 13);
    if (rest >= 0x0400u) return std::bit_cast<float>(sign | ((rest << 13) + 0x38000000u));
    const float small = static_cast<float>(rest) * 0x1p-24f;
    return sign ? -small : small;
  }
};

}  // namespace hvd
