// SPDX-License-Identifier: Apache-2.0
#include <hvd/random.hpp>

namespace hvd {

PhiloxBlock philox(uint64_t seed, uint64_t counter, uint64_t index) {
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

namespace {

/// The 64 bits of element `index`: two words of the block of elements 2i and 2i + 1.
uint64_t bits64(uint64_t seed, uint64_t counter, uint64_t index) {
  const PhiloxBlock block = philox(seed, counter, index / 2);
  const int lane = static_cast<int>(index % 2) * 2;
  return static_cast<uint64_t>(block.word[lane]) << 32 | block.word[lane + 1];
}

}  // namespace

double philox_uniform(uint64_t seed, uint64_t counter, uint64_t index) {
  return static_cast<double>(bits64(seed, counter, index) >> 11) * 0x1p-53;
}

uint64_t philox_below(uint64_t seed, uint64_t counter, uint64_t index, uint64_t bound) {
  if (bound == 0) return bits64(seed, counter, index);  // the full range of 2^64
  const uint64_t reject_below = (0 - bound) % bound;
  // A rejected element is drawn again from the far end of the index space, which no tensor reaches.
  for (uint64_t attempt = 0;; ++attempt) {
    const uint64_t at = attempt == 0 ? index : index ^ (attempt << 56);
    const auto wide = static_cast<unsigned __int128>(bits64(seed, counter, at)) * bound;
    if (static_cast<uint64_t>(wide) >= reject_below) return static_cast<uint64_t>(wide >> 64);
  }
}

}  // namespace hvd
