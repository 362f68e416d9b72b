// SPDX-License-Identifier: Apache-2.0
#include "device/onednn/unfold.hpp"

#include <algorithm>

namespace hvd::backends {

namespace {

/// Output positions [first, last) at which the window entry `offset` lies inside an extent.
struct Inside {
  int64_t first, last;
};

Inside inside(int64_t extent, int64_t outputs, int64_t stride, int64_t pad, int64_t offset) {
  const int64_t shift = pad - offset;  // input position = output * stride - shift
  const int64_t first = shift <= 0 ? 0 : (shift + stride - 1) / stride;
  const int64_t last = extent + shift <= 0 ? 0 : (extent - 1 + shift) / stride + 1;
  return {std::min(first, outputs), std::clamp(last, std::min(first, outputs), outputs)};
}

/// Calls f(row of the columns, image offset of the window entry, outputs down, outputs across).
template <class F>
void for_each_entry(const Window2d& p, F&& f) {
  int64_t row = 0;
  for (int64_t c = 0; c < p.c; ++c)
    for (int64_t i = 0; i < p.kh; ++i)
      for (int64_t j = 0; j < p.kw; ++j, ++row)
        f(row, (c * p.h + i * p.dilation_h - p.pad_h) * p.w + j * p.dilation_w - p.pad_w,
          inside(p.h, p.oh, p.stride_h, p.pad_h, i * p.dilation_h), inside(p.w, p.ow, p.stride_w, p.pad_w, j * p.dilation_w));
}

}  // namespace

template <class T>
void unfold(const Window2d& p, const T* image, T* columns) {
  for_each_entry(p, [&](int64_t row, int64_t at, Inside down, Inside across) {
    T* out = columns + row * p.oh * p.ow;
    std::fill_n(out, down.first * p.ow, T(0));
    for (int64_t y = down.first; y < down.last; ++y) {
      const int64_t from = at + y * p.stride_h * p.w;
      T* line = out + y * p.ow;
      std::fill_n(line, across.first, T(0));
      if (p.stride_w == 1)
        std::copy_n(image + from + across.first, across.last - across.first, line + across.first);
      else
        for (int64_t x = across.first; x < across.last; ++x) line[x] = image[from + x * p.stride_w];
      std::fill(line + across.last, line + p.ow, T(0));
    }
    std::fill(out + down.last * p.ow, out + p.oh * p.ow, T(0));
  });
}

template <class T>
void fold_add(const Window2d& p, const T* columns, T* image) {
  for_each_entry(p, [&](int64_t row, int64_t at, Inside down, Inside across) {
    const T* in = columns + row * p.oh * p.ow;
    for (int64_t y = down.first; y < down.last; ++y) {
      const int64_t to = at + y * p.stride_h * p.w;
      const T* line = in + y * p.ow;
      for (int64_t x = across.first; x < across.last; ++x) image[to + x * p.stride_w] += line[x];
    }
  });
}

template void unfold(const Window2d&, const float*, float*);
template void unfold(const Window2d&, const double*, double*);
template void fold_add(const Window2d&, const float*, float*);
template void fold_add(const Window2d&, const double*, double*);

}  // namespace hvd::backends
