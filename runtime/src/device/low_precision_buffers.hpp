// SPDX-License-Identifier: Apache-2.0
//
// Buffers of bfloat16 or float16 as an operation in float32 sees them. A null pointer stays one.
#pragma once

#include "device/device.hpp"

#include <hvd/core/error.hpp>
#include <hvd/core/float16.hpp>

#include <memory>

namespace hvd::backends {

template <class Low>
void widen(int64_t n, const Low* in, float* out) {
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) out[i] = in[i];
}
inline void widen(Dtype dtype, int64_t n, const void* in, float* out) {
  if (dtype == Dtype::kBFloat16) return widen(n, static_cast<const BFloat16*>(in), out);
  widen(n, static_cast<const Half*>(in), out);
}

template <class Low>
void narrow(int64_t n, const float* in, Low* out) {
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) out[i] = Low(in[i]);
}
inline void narrow(Dtype dtype, int64_t n, const float* in, void* out) {
  if (dtype == Dtype::kBFloat16) return narrow(n, in, static_cast<BFloat16*>(out));
  narrow(n, in, static_cast<Half*>(out));
}

/// What is read.
class Wide {
 public:
  Wide(Dtype dtype, int64_t n, const void* data) {
    if (!data) return;
    values_.reset(new float[n > 0 ? n : 1]);
    widen(dtype, n, data, values_.get());
  }
  operator const void*() const { return values_.get(); }

 private:
  std::unique_ptr<float[]> values_;
};

/// What is written, or read and written (`updated`): rounded into the buffer at the end of the scope.
class Rounded {
 public:
  Rounded(Dtype dtype, int64_t n, void* data, bool updated = false) : dtype_(dtype), n_(n), data_(data) {
    if (!data) return;
    values_.reset(new float[n > 0 ? n : 1]);
    if (updated) widen(dtype, n, data, values_.get());
  }
  ~Rounded() {
    if (data_) narrow(dtype_, n_, values_.get(), data_);
  }
  Rounded(const Rounded&) = delete;
  Rounded& operator=(const Rounded&) = delete;
  operator void*() const { return values_.get(); }

 private:
  Dtype dtype_;
  int64_t n_;
  void* data_;
  std::unique_ptr<float[]> values_;
};

}  // namespace hvd::backends
