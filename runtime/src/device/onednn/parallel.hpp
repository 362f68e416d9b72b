// SPDX-License-Identifier: Apache-2.0
//
// Loops on the threads that oneDNN runs on. What a loop computes for an index may not depend on how indices are shared out: then results
// do not depend on the number of threads.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

namespace hvd::backends {

/// Least work, in elements that are read or written once, that is worth another thread.
constexpr int64_t kWorthAThread = 1 << 15;

/// Threads that a loop of oneDNN takes here.
int64_t openmp_threads();
/// Calls body(data, begin, end) for parts of [0, n), at most `parts` of them at once; the last one may be short.
void run_parts(int64_t n, int64_t parts, void (*body)(void* data, int64_t begin, int64_t end), void* data);

/// Calls f(begin, end) for parts of [0, n), each index of which costs `cost` elements. f may not throw.
template <class F>
void parallel_for(int64_t n, int64_t cost, F&& f) {
  const int64_t parts = std::min(n, n * std::max<int64_t>(cost, 1) / kWorthAThread);
  if (parts < 2) {
    if (n > 0) f(int64_t{0}, n);
    return;
  }
  using Function = std::remove_reference_t<F>;
  run_parts(n, parts, [](void* data, int64_t begin, int64_t end) { (*static_cast<Function*>(data))(begin, end); }, &f);
}

}  // namespace hvd::backends
