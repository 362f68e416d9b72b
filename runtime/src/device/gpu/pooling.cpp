// SPDX-License-Identifier: Apache-2.0
//
// Pooling. Gradients gather: each input takes from the outputs that saw it, in their order, so no two threads meet.
#include "device/gpu/support.hpp"

namespace hvd::backends::gpu {

namespace {

/// A position in [planes, rows, columns].
struct Place {
  int64_t plane, y, x;
};
HVD_HD inline Place place_of(int64_t i, int64_t rows, int64_t columns) {
  const int64_t line = quotient(i, columns), plane = quotient(line, rows);
  return {plane, line - plane * rows, i - line * columns};
}

template <class T>
void max_pool(const Window2d& p, const T* in, T* out, int32_t* indices) {
  for_each("max_pool2d", p.n * p.c * p.oh * p.ow, [=] HVD_KERNEL(int64_t at) {
    const Place o = place_of(at, p.oh, p.ow);
    const T* plane = in + o.plane * p.h * p.w;
    const int64_t top = o.y * p.stride_h - p.pad_h, left = o.x * p.stride_w - p.pad_w;
    const int64_t bottom = top + p.kh < p.h ? top + p.kh : p.h, right = left + p.kw < p.w ? left + p.kw : p.w;
    int64_t best = -1;
    float_of<T> largest = 0;
    for (int64_t y = top < 0 ? 0 : top; y < bottom; ++y)
      for (int64_t x = left < 0 ? 0 : left; x < right; ++x) {
        const float_of<T> v = static_cast<float_of<T>>(plane[y * p.w + x]);
        if (best < 0 || v > largest || (v != v && largest == largest)) {
          best = y * p.w + x;
          largest = v;
        }
      }
    out[at] = static_cast<T>(largest);
    indices[at] = static_cast<int32_t>(best);
  });
}

/// The first window that reaches position `at` of an extent, and the one after the last.
HVD_HD inline int64_t first_window(int64_t at, int64_t kernel, int64_t stride, int64_t pad) {
  const int64_t reach = at + pad - kernel + 1;
  return reach <= 0 ? 0 : quotient(reach + stride - 1, stride);
}
HVD_HD inline int64_t last_window(int64_t at, int64_t stride, int64_t pad, int64_t outputs) {
  const int64_t next = quotient(at + pad, stride) + 1;
  return next < outputs ? next : outputs;
}

template <class T>
void max_pool_grad(const Window2d& p, const T* grad, const int32_t* indices, T* grad_x) {
  for_each("max_pool2d", p.n * p.c * p.h * p.w, [=] HVD_KERNEL(int64_t at) {
    const Place i = place_of(at, p.h, p.w);
    const int64_t position = i.y * p.w + i.x, outputs = i.plane * p.oh * p.ow;
    const int64_t bottom = last_window(i.y, p.stride_h, p.pad_h, p.oh), right = last_window(i.x, p.stride_w, p.pad_w, p.ow);
    float_of<T> total = 0;
    for (int64_t oy = first_window(i.y, p.kh, p.stride_h, p.pad_h); oy < bottom; ++oy)
      for (int64_t ox = first_window(i.x, p.kw, p.stride_w, p.pad_w); ox < right; ++ox) {
        const int64_t o = outputs + oy * p.ow + ox;
        if (indices[o] == position) total += static_cast<float_of<T>>(grad[o]);
      }
    grad_x[at] = static_cast<T>(total);
  });
}

/// Spans of both dimensions on the device: first and last of down, then of across.
std::vector<int64_t> joined(const Spans& down, const Spans& across) {
  std::vector<int64_t> all;
  for (const std::vector<int64_t>* part : {&down.first, &down.last, &across.first, &across.last}) all.insert(all.end(), part->begin(), part->end());
  return all;
}

/// For each position of an extent the outputs that take it in: [first, last). Spans begin and end in the order of the outputs.
Spans seen_by(const Spans& spans, int64_t extent) {
  Spans outputs;
  for (int64_t i = 0; i < extent; ++i) {
    const auto first = std::upper_bound(spans.last.begin(), spans.last.end(), i), last = std::upper_bound(spans.first.begin(), spans.first.end(), i);
    outputs.first.push_back(first - spans.last.begin());
    outputs.last.push_back(last - spans.first.begin());
  }
  return outputs;
}

template <class T>
void mean_pool(int64_t planes, int64_t h, int64_t w, int64_t oh, int64_t ow, const int64_t* spans, double divisor, const T* in, T* out) {
  const int64_t *tops = spans, *bottoms = tops + oh, *lefts = bottoms + oh, *rights = lefts + ow;
  for_each("avg_pool2d", planes * oh * ow, [=] HVD_KERNEL(int64_t at) {
    const Place o = place_of(at, oh, ow);
    const T* plane = in + o.plane * h * w;
    const int64_t top = tops[o.y], bottom = bottoms[o.y], left = lefts[o.x], right = rights[o.x];
    double total = 0;
    for (int64_t y = top; y < bottom; ++y)
      for (int64_t x = left; x < right; ++x) total += static_cast<double>(plane[y * w + x]);
    out[at] = static_cast<T>(total / (divisor > 0 ? divisor : static_cast<double>((bottom - top) * (right - left))));
  });
}

/// `seen`: outputs of each row, then of each column, as joined() lays them.
template <class T>
void mean_pool_grad(int64_t planes, int64_t h, int64_t w, int64_t oh, int64_t ow, const int64_t* spans, const int64_t* seen, double divisor,
                    const T* grad, T* grad_x) {
  const int64_t *tops = spans, *bottoms = tops + oh, *lefts = bottoms + oh, *rights = lefts + ow;
  const int64_t *first_y = seen, *last_y = first_y + h, *first_x = last_y + h, *last_x = first_x + w;
  for_each("avg_pool2d", planes * h * w, [=] HVD_KERNEL(int64_t at) {
    const Place i = place_of(at, h, w);
    double total = 0;
    for (int64_t oy = first_y[i.y]; oy < last_y[i.y]; ++oy)
      for (int64_t ox = first_x[i.x]; ox < last_x[i.x]; ++ox) {
        const double entries = static_cast<double>((bottoms[oy] - tops[oy]) * (rights[ox] - lefts[ox]));
        total += static_cast<double>(grad[(i.plane * oh + oy) * ow + ox]) / (divisor > 0 ? divisor : entries);
      }
    grad_x[at] = static_cast<T>(total);
  });
}

}  // namespace

void Gpu::max_pool2d(Dtype dtype, const Window2d& p, const void* x, void* y, int32_t* indices) const {
  dispatch_floating("max_pool2d", dtype, [&](auto zero) {
    using T = decltype(zero);
    max_pool(p, static_cast<const T*>(x), static_cast<T*>(y), indices);
  });
}

void Gpu::max_pool2d_grad(Dtype dtype, const Window2d& p, const void* grad, const int32_t* indices, void* grad_x) const {
  dispatch_floating("max_pool2d", dtype, [&](auto zero) {
    using T = decltype(zero);
    max_pool_grad(p, static_cast<const T*>(grad), indices, static_cast<T*>(grad_x));
  });
}

void Gpu::mean_pool2d(Dtype dtype, int64_t planes, int64_t h, int64_t w, const Spans& down, const Spans& across, double divisor, const void* x,
                      void* y) const {
  const std::vector<int64_t> all = joined(down, across);
  const Scratch<int64_t> spans(*this, all.data(), static_cast<int64_t>(all.size()));
  dispatch_floating("avg_pool2d", dtype, [&](auto zero) {
    using T = decltype(zero);
    mean_pool(planes, h, w, down.count(), across.count(), spans.data(), divisor, static_cast<const T*>(x), static_cast<T*>(y));
  });
}

void Gpu::mean_pool2d_grad(Dtype dtype, int64_t planes, int64_t h, int64_t w, const Spans& down, const Spans& across, double divisor,
                           const void* grad, void* grad_x) const {
  std::vector<int64_t> all = joined(down, across);
  const std::vector<int64_t> seen = joined(seen_by(down, h), seen_by(across, w));
  const int64_t own = static_cast<int64_t>(all.size());
  all.insert(all.end(), seen.begin(), seen.end());
  const Scratch<int64_t> spans(*this, all.data(), static_cast<int64_t>(all.size()));
  dispatch_floating("avg_pool2d", dtype, [&](auto zero) {
    using T = decltype(zero);
    mean_pool_grad(planes, h, w, down.count(), across.count(), spans.data(), spans.data() + own, divisor, static_cast<const T*>(grad),
                   static_cast<T*>(grad_x));
  });
}

}  // namespace hvd::backends::gpu
