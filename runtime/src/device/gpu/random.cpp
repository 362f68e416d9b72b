// SPDX-License-Identifier: Apache-2.0
//
// Element i of a draw by itself; the functions are those of the host (device/draws.hpp).
#include "device/draws.hpp"
#include "device/gpu/support.hpp"

namespace hvd::backends::gpu {

namespace {

template <class T>
void draw_uniforms(int64_t n, T* out, const Draw& draw, double low, double high) {
  for_each("uniform_", n, [=] HVD_KERNEL(int64_t i) { out[i] = uniform_at<T>(draw, static_cast<uint64_t>(i), low, high); });
}

template <class T>
void draw_normals(int64_t n, T* out, const Draw& draw, double mean, double std) {
  for_each("normal_", n,
           [=] HVD_KERNEL(int64_t i) { out[i] = static_cast<T>(plus(mean, times(std, normal_at(draw, static_cast<uint64_t>(i))))); });
}

void draw_integers(int64_t n, int64_t* out, const Draw& draw, int64_t low, int64_t high) {
  const uint64_t start = static_cast<uint64_t>(low), bound = static_cast<uint64_t>(high) - start;
  for_each("randint", n, [=] HVD_KERNEL(int64_t i) {
    out[i] = static_cast<int64_t>(start + draw_below(seed_of(draw), counter_of(draw), draw.first + static_cast<uint64_t>(i), bound));
  });
}

template <class T>
void drop(int64_t n, const T* x, bool* mask, T* out, const Draw& draw, uint64_t threshold, float_of<T> scale) {
  for_each("dropout", n, [=] HVD_KERNEL(int64_t i) {
    const bool stays = survives(draw, static_cast<uint64_t>(i), threshold);
    mask[i] = stays;
    out[i] = static_cast<T>(stays ? static_cast<float_of<T>>(x[i]) * scale : 0);
  });
}

template <class T>
void scale_masked(int64_t n, const T* x, const bool* mask, float_of<T> scale, T* out) {
  for_each("dropout", n, [=] HVD_KERNEL(int64_t i) { out[i] = static_cast<T>(mask[i] ? static_cast<float_of<T>>(x[i]) * scale : 0); });
}

}  // namespace

void Gpu::uniform(Dtype dtype, int64_t n, void* out, Draw draw, double low, double high) const {
  dispatch_floating("uniform_", dtype, [&](auto zero) { draw_uniforms(n, static_cast<decltype(zero)*>(out), draw, low, high); });
}

void Gpu::normal(Dtype dtype, int64_t n, void* out, Draw draw, double mean, double std) const {
  dispatch_floating("normal_", dtype, [&](auto zero) { draw_normals(n, static_cast<decltype(zero)*>(out), draw, mean, std); });
}

void Gpu::integers(int64_t n, int64_t* out, Draw draw, int64_t low, int64_t high) const { draw_integers(n, out, draw, low, high); }

void Gpu::dropout(Dtype dtype, int64_t n, const void* x, bool* mask, void* out, Draw draw, double p, double scale) const {
  dispatch_floating("dropout", dtype, [&](auto zero) {
    using T = decltype(zero);
    drop(n, static_cast<const T*>(x), mask, static_cast<T*>(out), draw, static_cast<uint64_t>(p * 0x1p32), static_cast<float_of<T>>(scale));
  });
}

void Gpu::masked_scale(Dtype dtype, int64_t n, const void* x, const bool* mask, double scale, void* out) const {
  dispatch_floating("dropout", dtype, [&](auto zero) {
    using T = decltype(zero);
    scale_masked(n, static_cast<const T*>(x), mask, static_cast<float_of<T>>(scale), static_cast<T*>(out));
  });
}

}  // namespace hvd::backends::gpu
