// SPDX-License-Identifier: Apache-2.0
//
// Averages over rectangles of images; sums in float64.
#include "device/cpu/cpu.hpp"
#include "device/cpu/dispatch.hpp"

#include <algorithm>

namespace hvd::backends {

namespace {

/// Calls f(output, rows, columns, divisor) for every output of a plane.
template <class F>
void for_each_rectangle(const Spans& down, const Spans& across, double divisor, F&& f) {
  for (int64_t oy = 0; oy < down.count(); ++oy)
    for (int64_t ox = 0; ox < across.count(); ++ox) {
      const int64_t top = down.first[oy], bottom = down.last[oy], left = across.first[ox], right = across.last[ox];
      const double entries = static_cast<double>((bottom - top) * (right - left));
      f(oy * across.count() + ox, top, bottom, left, right, divisor > 0 ? divisor : entries);
    }
}

}  // namespace

void Cpu::mean_pool2d(Dtype dtype, int64_t planes, int64_t h, int64_t w, const Spans& down, const Spans& across, double divisor,
                      const void* x, void* y) const {
  dispatch_real("avg_pool2d", dtype, [&](auto zero) {
    using T = decltype(zero);
    for (int64_t plane = 0; plane < planes; ++plane) {
      const T* in = static_cast<const T*>(x) + plane * h * w;
      T* out = static_cast<T*>(y) + plane * down.count() * across.count();
      for_each_rectangle(down, across, divisor, [&](int64_t at, int64_t top, int64_t bottom, int64_t left, int64_t right, double by) {
        double total = 0;
        for (int64_t i = top; i < bottom; ++i)
          for (int64_t j = left; j < right; ++j) total += static_cast<double>(in[i * w + j]);
        out[at] = static_cast<T>(total / by);
      });
    }
  });
}

void Cpu::mean_pool2d_grad(Dtype dtype, int64_t planes, int64_t h, int64_t w, const Spans& down, const Spans& across, double divisor,
                           const void* grad, void* grad_x) const {
  dispatch_real("avg_pool2d", dtype, [&](auto zero) {
    using T = decltype(zero);
    std::vector<double> total(h * w);
    for (int64_t plane = 0; plane < planes; ++plane) {
      const T* g = static_cast<const T*>(grad) + plane * down.count() * across.count();
      std::fill(total.begin(), total.end(), 0.0);
      for_each_rectangle(down, across, divisor, [&](int64_t at, int64_t top, int64_t bottom, int64_t left, int64_t right, double by) {
        const double share = static_cast<double>(g[at]) / by;
        for (int64_t i = top; i < bottom; ++i)
          for (int64_t j = left; j < right; ++j) total[i * w + j] += share;
      });
      std::copy(total.begin(), total.end(), static_cast<T*>(grad_x) + plane * h * w);
    }
  });
}

}  // namespace hvd::backends
