// SPDX-License-Identifier: Apache-2.0
#include "device/draws.hpp"

namespace hvd {

PhiloxBlock philox(uint64_t seed, uint64_t counter, uint64_t index) { return backends::philox_block(seed, counter, index); }
double philox_uniform(uint64_t seed, uint64_t counter, uint64_t index) { return backends::draw_uniform(seed, counter, index); }
uint64_t philox_below(uint64_t seed, uint64_t counter, uint64_t index, uint64_t bound) { return backends::draw_below(seed, counter, index, bound); }

}  // namespace hvd
