// SPDX-License-Identifier: Apache-2.0
//
// Max pooling, plane by plane on several threads.
#include "device/cpu/dispatch.hpp"
#include "device/onednn/kernels.hpp"
#include "device/onednn/onednn.hpp"
#include "device/onednn/parallel.hpp"

#include <algorithm>

namespace hvd::backends {

namespace {

/// Takes in one entry of the windows of a row of outputs. The first of equal values stays, as does the first NaN.
template <int stride, class T>
void pool_entry(int64_t outputs, int64_t step, const T* x, int32_t position, T* largest, int32_t* winner) {
  const int64_t advance = stride ? stride : step;
#pragma omp simd
  for (int64_t i = 0; i < outputs; ++i) {
    const T value = x[i * advance];
    const bool wins = (value > largest[i]) | ((value != value) & (largest[i] == largest[i]));
    largest[i] = wins ? value : largest[i];
    winner[i] = wins ? position + static_cast<int32_t>(i * advance) : winner[i];
  }
}

/// Without padding every window lies inside: a row of outputs takes in one entry of all its windows after another.
template <class T>
void pool_inside(const Window2d& p, int64_t planes, const T* x, T* y, int32_t* winner) {
  for (int64_t plane = 0; plane < planes; ++plane, x += p.h * p.w)
    for (int64_t oy = 0; oy < p.oh; ++oy, y += p.ow, winner += p.ow) {
      const int64_t start = oy * p.stride_h * p.w;
      for (int64_t i = 0; i < p.ow; ++i) {
        winner[i] = static_cast<int32_t>(start + i * p.stride_w);
        y[i] = x[winner[i]];
      }
      for (int64_t entry = 1; entry < p.kh * p.kw; ++entry) {
        const int64_t at = start + entry / p.kw * p.w + entry % p.kw;
        if (p.stride_w == 2)
          pool_entry<2>(p.ow, 2, x + at, static_cast<int32_t>(at), y, winner);
        else
          pool_entry<0>(p.ow, p.stride_w, x + at, static_cast<int32_t>(at), y, winner);
      }
    }
}

/// Windows of 2 x 2 side by side.
void pool_by_two(const Window2d& p, int64_t planes, const float* x, float* y, int32_t* winner) {
  for (int64_t plane = 0; plane < planes; ++plane, x += p.h * p.w)
    for (int64_t oy = 0; oy < p.oh; ++oy, y += p.ow, winner += p.ow)
      kernels().pool_pairs(p.ow, x + 2 * oy * p.w, x + (2 * oy + 1) * p.w, static_cast<int32_t>(2 * oy * p.w), static_cast<int32_t>(p.w), y, winner);
}

}  // namespace

void OneDnn::max_pool2d(Dtype dtype, const Window2d& p, const void* x, void* y, int32_t* indices) const {
  if (p.pad_h || p.pad_w) return Cpu::max_pool2d(dtype, p, x, y, indices);
  const bool by_two = dtype == Dtype::kFloat32 && p.kh == 2 && p.kw == 2 && p.stride_h == 2 && p.stride_w == 2;
  dispatch_real("max_pool2d", dtype, [&](auto zero) {
    using T = decltype(zero);
    parallel_for(p.n * p.c, 2 * p.h * p.w, [&](int64_t begin, int64_t end) {
      const int64_t outputs = begin * p.oh * p.ow;
      const T* in = static_cast<const T*>(x) + begin * p.h * p.w;
      if (by_two)
        pool_by_two(p, end - begin, reinterpret_cast<const float*>(in), static_cast<float*>(y) + outputs, indices + outputs);
      else
        pool_inside(p, end - begin, in, static_cast<T*>(y) + outputs, indices + outputs);
    });
  });
}

void OneDnn::max_pool2d_grad(Dtype dtype, const Window2d& p, const void* grad, const int32_t* indices, void* grad_x) const {
  const int64_t size = static_cast<int64_t>(dtype_size(dtype)), outputs = p.oh * p.ow;
  parallel_for(p.n * p.c, 2 * p.h * p.w, [&](int64_t begin, int64_t end) {
    Window2d part = p;
    part.n = 1;
    part.c = part.k = end - begin;
    Cpu::max_pool2d_grad(dtype, part, static_cast<const char*>(grad) + begin * outputs * size, indices + begin * outputs,
                         static_cast<char*>(grad_x) + begin * p.h * p.w * size);
  });
}

}  // namespace hvd::backends
