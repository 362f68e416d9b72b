// SPDX-License-Identifier: Apache-2.0
//
// Convolution and pooling as their definitions say; sums in float64.
#include "device/cpu/cpu.hpp"
#include "device/cpu/dispatch.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace hvd::backends {

namespace {

/// Calls f(i, j, y, x) for the window positions (i, j) of output (oy, ox) that lie inside the image, at (y, x).
template <class F>
void window_at(const Window2d& p, int64_t oy, int64_t ox, F&& f) {
  for (int64_t i = 0; i < p.kh; ++i) {
    const int64_t y = oy * p.stride_h - p.pad_h + i * p.dilation_h;
    if (y < 0 || y >= p.h) continue;
    for (int64_t j = 0; j < p.kw; ++j) {
      const int64_t x = ox * p.stride_w - p.pad_w + j * p.dilation_w;
      if (x >= 0 && x < p.w) f(i, j, y, x);
    }
  }
}

/// Input channels of output channel k: [first, first + count); weights of k start at k * count planes.
struct Channels {
  int64_t first, count;
  Channels(const Window2d& p, int64_t k) : first(k / (p.k / p.groups) * (p.c / p.groups)), count(p.c / p.groups) {}
};

template <class T>
double convolve_at(const Window2d& p, const T* x, const T* weight, int64_t n, int64_t k, int64_t oy, int64_t ox) {
  double total = 0;
  const Channels in(p, k);
  for (int64_t c = 0; c < in.count; ++c) {
    const T* plane = x + (n * p.c + in.first + c) * p.h * p.w;
    const T* kernel = weight + (k * in.count + c) * p.kh * p.kw;
    window_at(p, oy, ox, [&](int64_t i, int64_t j, int64_t yy, int64_t xx) {
      total += static_cast<double>(plane[yy * p.w + xx]) * static_cast<double>(kernel[i * p.kw + j]);
    });
  }
  return total;
}

template <class F>
void for_each_output(const Window2d& p, F&& f) {
  for (int64_t n = 0; n < p.n; ++n)
    for (int64_t k = 0; k < p.k; ++k)
      for (int64_t oy = 0; oy < p.oh; ++oy)
        for (int64_t ox = 0; ox < p.ow; ++ox) f(n, k, oy, ox, ((n * p.k + k) * p.oh + oy) * p.ow + ox);
}

}  // namespace

void Cpu::conv2d(Dtype dtype, const Window2d& p, const void* x, const void* weight, const void* bias, void* y) const {
  dispatch_real("conv2d", dtype, [&](auto zero) {
    using T = decltype(zero);
    for_each_output(p, [&](int64_t n, int64_t k, int64_t oy, int64_t ox, int64_t at) {
      const double start = bias ? static_cast<double>(static_cast<const T*>(bias)[k]) : 0;
      static_cast<T*>(y)[at] =
          static_cast<T>(start + convolve_at(p, static_cast<const T*>(x), static_cast<const T*>(weight), n, k, oy, ox));
    });
  });
}

void Cpu::conv2d_grad_input(Dtype dtype, const Window2d& p, const void* grad, const void* weight, void* grad_x) const {
  dispatch_real("conv2d", dtype, [&](auto zero) {
    using T = decltype(zero);
    std::vector<double> total(p.n * p.c * p.h * p.w, 0.0);
    for_each_output(p, [&](int64_t n, int64_t k, int64_t oy, int64_t ox, int64_t at) {
      const double g = static_cast<const T*>(grad)[at];
      const Channels in(p, k);
      for (int64_t c = 0; c < in.count; ++c) {
        double* plane = total.data() + (n * p.c + in.first + c) * p.h * p.w;
        const T* kernel = static_cast<const T*>(weight) + (k * in.count + c) * p.kh * p.kw;
        window_at(p, oy, ox, [&](int64_t i, int64_t j, int64_t yy, int64_t xx) { plane[yy * p.w + xx] += g * kernel[i * p.kw + j]; });
      }
    });
    std::copy(total.begin(), total.end(), static_cast<T*>(grad_x));
  });
}

void Cpu::conv2d_grad_weight(Dtype dtype, const Window2d& p, const void* grad, const void* x, void* grad_weight) const {
  dispatch_real("conv2d", dtype, [&](auto zero) {
    using T = decltype(zero);
    std::vector<double> total(p.k * (p.c / p.groups) * p.kh * p.kw, 0.0);
    for_each_output(p, [&](int64_t n, int64_t k, int64_t oy, int64_t ox, int64_t at) {
      const double g = static_cast<const T*>(grad)[at];
      const Channels in(p, k);
      for (int64_t c = 0; c < in.count; ++c) {
        const T* plane = static_cast<const T*>(x) + (n * p.c + in.first + c) * p.h * p.w;
        double* kernel = total.data() + (k * in.count + c) * p.kh * p.kw;
        window_at(p, oy, ox, [&](int64_t i, int64_t j, int64_t yy, int64_t xx) { kernel[i * p.kw + j] += g * plane[yy * p.w + xx]; });
      }
    });
    std::copy(total.begin(), total.end(), static_cast<T*>(grad_weight));
  });
}

void Cpu::max_pool2d(Dtype dtype, const Window2d& p, const void* x, void* y, int32_t* indices) const {
  dispatch_real("max_pool2d", dtype, [&](auto zero) {
    using T = decltype(zero);
    for_each_output(p, [&](int64_t n, int64_t k, int64_t oy, int64_t ox, int64_t at) {
      const T* plane = static_cast<const T*>(x) + (n * p.k + k) * p.h * p.w;
      int64_t best = -1;
      window_at(p, oy, ox, [&](int64_t, int64_t, int64_t yy, int64_t xx) {
        const T v = plane[yy * p.w + xx];
        if (best < 0 || v > plane[best] || (std::isnan(v) && !std::isnan(plane[best]))) best = yy * p.w + xx;
      });
      static_cast<T*>(y)[at] = plane[best];
      indices[at] = static_cast<int32_t>(best);
    });
  });
}

void Cpu::max_pool2d_grad(Dtype dtype, const Window2d& p, const void* grad, const int32_t* indices, void* grad_x) const {
  dispatch_real("max_pool2d", dtype, [&](auto zero) {
    using T = decltype(zero);
    const int64_t planes = p.n * p.c, outputs = p.oh * p.ow;
    std::fill_n(static_cast<T*>(grad_x), planes * p.h * p.w, T(0));
    for (int64_t plane = 0; plane < planes; ++plane) {
      T* gx = static_cast<T*>(grad_x) + plane * p.h * p.w;
      const T* g = static_cast<const T*>(grad) + plane * outputs;
      for (int64_t i = 0; i < outputs; ++i) gx[indices[plane * outputs + i]] += g[i];
    }
  });
}

}  // namespace hvd::backends
