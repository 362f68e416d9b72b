// SPDX-License-Identifier: Apache-2.0
//
// Convolutions as products over unfolded images: the columns of an image are [c kh kw, oh ow]. All three products of a layer see as many
// images at a time as fit into unfold_bytes(); a window of one pixel that moves by one sees the images themselves.
#include "device/gpu/support.hpp"

namespace hvd::backends::gpu {

namespace {

/// Extents of the products, one for each image and group of channels.
struct Products {
  int64_t groups, k, depth, outputs, image;
  explicit Products(const Window2d& p)
      : groups(p.groups), k(p.k / p.groups), depth(p.c / p.groups * p.kh * p.kw), outputs(p.oh * p.ow), image(p.c * p.h * p.w) {}
  int64_t columns() const { return groups * depth * outputs; }
  int64_t out() const { return groups * k * outputs; }
  int64_t weights() const { return groups * k * depth; }
};

bool sees_images(const Window2d& p) {
  return p.kh == 1 && p.kw == 1 && p.stride_h == 1 && p.stride_w == 1 && p.pad_h == 0 && p.pad_w == 0;
}

template <class T>
void unfold(const Window2d& p, int64_t images, const T* x, T* columns) {
  for_each("unfold", images * p.c * p.kh * p.kw * p.oh * p.ow, [=] HVD_KERNEL(int64_t at) {
    const int64_t line = quotient(at, p.ow), ox = at - line * p.ow, entry = quotient(line, p.oh), oy = line - entry * p.oh;
    const int64_t row = quotient(entry, p.kw), j = entry - row * p.kw, channel = quotient(row, p.kh), i = row - channel * p.kh;
    const int64_t y = oy * p.stride_h - p.pad_h + i * p.dilation_h, xx = ox * p.stride_w - p.pad_w + j * p.dilation_w;
    const bool inside = y >= 0 && y < p.h && xx >= 0 && xx < p.w;
    columns[at] = inside ? x[(channel * p.h + y) * p.w + xx] : T(0);  // `channel` counts through the images
  });
}

/// The output whose window has its entry `offset` at position `at`, or -1.
HVD_HD inline int64_t output_at(int64_t at, int64_t offset, int64_t stride, int64_t pad, int64_t outputs) {
  const int64_t start = at + pad - offset;
  if (start < 0) return -1;
  const int64_t output = quotient(start, stride);
  return output * stride == start && output < outputs ? output : -1;
}

/// Each pixel takes in the entries of the columns that it went to.
template <class T>
void fold(const Window2d& p, int64_t images, const T* columns, T* x) {
  for_each("fold", images * p.c * p.h * p.w, [=] HVD_KERNEL(int64_t at) {
    const int64_t line = quotient(at, p.w), xx = at - line * p.w, channel = quotient(line, p.h), y = line - channel * p.h;
    double total = 0;
    for (int64_t i = 0; i < p.kh; ++i) {
      const int64_t oy = output_at(y, i * p.dilation_h, p.stride_h, p.pad_h, p.oh);
      if (oy < 0) continue;
      for (int64_t j = 0; j < p.kw; ++j) {
        const int64_t ox = output_at(xx, j * p.dilation_w, p.stride_w, p.pad_w, p.ow);
        if (ox >= 0) total += static_cast<double>(static_cast<float_of<T>>(columns[(((channel * p.kh + i) * p.kw + j) * p.oh + oy) * p.ow + ox]));
      }
    }
    x[at] = static_cast<T>(static_cast<float_of<T>>(total));
  });
}

template <class T>
void add_bias(int64_t n, int64_t k, int64_t outputs, const T* bias, T* y) {
  for_each("bias", n, [=] HVD_KERNEL(int64_t i) {
    const int64_t plane = quotient(i, outputs);
    y[i] = static_cast<T>(static_cast<float_of<T>>(y[i]) + static_cast<float_of<T>>(bias[plane - quotient(plane, k) * k]));
  });
}

/// grad_weight = (first ? 0 : grad_weight) + the sum of the images' parts.
template <class T>
void add_parts(int64_t weights, int64_t images, bool first, const T* parts, T* grad_weight) {
  for_each("conv2d", weights, [=] HVD_KERNEL(int64_t i) {
    double total = first ? 0 : static_cast<double>(static_cast<float_of<T>>(grad_weight[i]));
    for (int64_t n = 0; n < images; ++n) total += static_cast<double>(static_cast<float_of<T>>(parts[n * weights + i]));
    grad_weight[i] = static_cast<T>(static_cast<float_of<T>>(total));
  });
}

int64_t images_at_once(size_t bytes, int64_t images, int64_t elements, size_t size) {
  const int64_t fit = static_cast<int64_t>(bytes / std::max<size_t>(static_cast<size_t>(elements) * size, 1));
  return std::clamp<int64_t>(fit, 1, std::max<int64_t>(images, 1));
}

}  // namespace

void Gpu::products(Dtype dtype, bool transpose_a, bool transpose_b, int64_t count, int64_t m, int64_t n, int64_t k, const void* a, int64_t lda,
                   const void* b, int64_t ldb, void* c, int64_t ldc, BatchStride stride) const {
  if (is_low_precision(dtype)) {
    if (!low_gemm(dtype, transpose_a, transpose_b, count, m, n, k, a, lda, b, ldb, c, ldc, stride)) unsupported("conv2d", dtype);
    return;
  }
  gemm_batch(dtype, transpose_a, transpose_b, count, m, n, k, a, lda, b, ldb, c, ldc, stride);
}

void Gpu::add_bias(Dtype dtype, int64_t n, int64_t channels, int64_t inner, const void* bias, void* y) const {
  dispatch_floating("conv2d", dtype, [&](auto zero) {
    using T = decltype(zero);
    gpu::add_bias(n * channels * inner, channels, inner, static_cast<const T*>(bias), static_cast<T*>(y));
  });
}

void Gpu::unfolded_conv(Dtype dtype, const Window2d& p, const void* x, const void* weight, const void* bias, void* y) const {
  dispatch_floating("conv2d", dtype, [&](auto zero) {
    using T = decltype(zero);
    const Products s(p);
    const bool direct = sees_images(p);
    const int64_t at_once = direct ? p.n : images_at_once(unfold_bytes(), p.n, s.columns(), sizeof(T));
    const Scratch<T> unfolded(*this, direct ? 0 : at_once * s.columns());
    for (int64_t n = 0; n < p.n; n += at_once) {
      const int64_t images = std::min(at_once, p.n - n);
      const T* in = static_cast<const T*>(x) + n * s.image;
      if (!direct) unfold(p, images, in, unfolded.data());
      const T* columns = direct ? in : unfolded.data();
      T* out = static_cast<T*>(y) + n * s.out();
      for (int64_t g = 0; g < s.groups; ++g)
        products(dtype, false, false, images, s.k, s.outputs, s.depth, static_cast<const T*>(weight) + g * s.k * s.depth, s.depth,
                 columns + g * s.depth * s.outputs, s.outputs, out + g * s.k * s.outputs, s.outputs, {0, s.columns(), s.out()});
    }
    if (bias) add_bias(dtype, p.n, p.k, s.outputs, bias, y);
  });
}

void Gpu::unfolded_conv_grad_input(Dtype dtype, const Window2d& p, const void* grad, const void* weight, void* grad_x) const {
  dispatch_floating("conv2d", dtype, [&](auto zero) {
    using T = decltype(zero);
    const Products s(p);
    const bool direct = sees_images(p);
    const int64_t at_once = direct ? p.n : images_at_once(unfold_bytes(), p.n, s.columns(), sizeof(T));
    const Scratch<T> unfolded(*this, direct ? 0 : at_once * s.columns());
    for (int64_t n = 0; n < p.n; n += at_once) {
      const int64_t images = std::min(at_once, p.n - n);
      T* out = static_cast<T*>(grad_x) + n * s.image;
      T* columns = direct ? out : unfolded.data();
      const T* g_of = static_cast<const T*>(grad) + n * s.out();
      for (int64_t g = 0; g < s.groups; ++g)
        products(dtype, true, false, images, s.depth, s.outputs, s.k, static_cast<const T*>(weight) + g * s.k * s.depth, s.depth,
                 g_of + g * s.k * s.outputs, s.outputs, columns + g * s.depth * s.outputs, s.outputs, {0, s.out(), s.columns()});
      if (!direct) fold(p, images, columns, out);
    }
  });
}

void Gpu::unfolded_conv_grad_weight(Dtype dtype, const Window2d& p, const void* grad, const void* x, void* grad_weight) const {
  dispatch_floating("conv2d", dtype, [&](auto zero) {
    using T = decltype(zero);
    const Products s(p);
    const bool direct = sees_images(p);
    const int64_t at_once = images_at_once(unfold_bytes(), p.n, (direct ? 0 : s.columns()) + s.weights(), sizeof(T));
    const Scratch<T> unfolded(*this, direct ? 0 : at_once * s.columns()), parts(*this, at_once * s.weights());
    for (int64_t n = 0; n < p.n; n += at_once) {
      const int64_t images = std::min(at_once, p.n - n);
      const T* in = static_cast<const T*>(x) + n * s.image;
      if (!direct) unfold(p, images, in, unfolded.data());
      const T* columns = direct ? in : unfolded.data();
      const T* g_of = static_cast<const T*>(grad) + n * s.out();
      for (int64_t g = 0; g < s.groups; ++g)
        products(dtype, false, true, images, s.k, s.depth, s.outputs, g_of + g * s.k * s.outputs, s.outputs, columns + g * s.depth * s.outputs,
                 s.outputs, parts.data() + g * s.k * s.depth, s.depth, {s.out(), s.columns(), s.weights()});
      add_parts(s.weights(), images, n == 0, parts.data(), static_cast<T*>(grad_weight));
    }
  });
}

void Gpu::conv2d(Dtype dtype, const Window2d& p, const void* x, const void* weight, const void* bias, void* y) const {
  unfolded_conv(dtype, p, x, weight, bias, y);
}
void Gpu::conv2d_grad_input(Dtype dtype, const Window2d& p, const void* grad, const void* weight, void* grad_x) const {
  unfolded_conv_grad_input(dtype, p, grad, weight, grad_x);
}
void Gpu::conv2d_grad_weight(Dtype dtype, const Window2d& p, const void* grad, const void* x, void* grad_weight) const {
  unfolded_conv_grad_weight(dtype, p, grad, x, grad_weight);
}

// Parts of the sums, of a window's entries and of the images, would be rounded to 16 bits: float32 sums them up.
bool Gpu::low_conv2d(Dtype dtype, const Window2d& p, const void* x, const void* weight, const void* bias, void* y) const {
  if (bias) return false;
  unfolded_conv(dtype, p, x, weight, nullptr, y);
  return true;
}
bool Gpu::low_conv2d_grad_input(Dtype dtype, const Window2d& p, const void* grad, const void* weight, void* grad_x) const {
  if (!sees_images(p)) return false;
  unfolded_conv_grad_input(dtype, p, grad, weight, grad_x);
  return true;
}
bool Gpu::low_conv2d_grad_weight(Dtype, const Window2d&, const void*, const void*, void*) const { return false; }

}  // namespace hvd::backends::gpu
