// SPDX-License-Identifier: Apache-2.0
#include "device/onednn/kernels.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

// Multiplication and addition stay two operations in all of them (no FMA), so that an element's value does not depend on the processor.
namespace hvd::backends::baseline {
#include "device/onednn/kernel_loops.hpp"
}

#if defined(__x86_64__)
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2")
#endif
namespace hvd::backends::avx2 {
#include "device/onednn/kernel_loops.hpp"
}
#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
#endif

namespace hvd::backends {

const Kernels& kernels() {
#if defined(__x86_64__)
  static const bool has_avx2 = __builtin_cpu_supports("avx2");
  if (has_avx2) return avx2::kTable;
#endif
  return baseline::kTable;
}

}  // namespace hvd::backends
