// SPDX-License-Identifier: Apache-2.0
//
// Buffers of bfloat16 or float16 as an operation in float32 sees them: in memory of the device, converted by it. A null pointer stays one.
#pragma once

#include "device/device.hpp"

namespace hvd::backends {

/// `n` float32 numbers on the device.
class FloatBuffer {
 public:
  FloatBuffer(const Backend& device, int64_t n)
      : source_(device.allocator()), bytes_(static_cast<size_t>(n > 0 ? n : 1) * sizeof(float)), data_(source_.allocate(bytes_)) {}
  ~FloatBuffer() { source_.release(data_, bytes_); }
  FloatBuffer(const FloatBuffer&) = delete;
  FloatBuffer& operator=(const FloatBuffer&) = delete;
  void* data() const { return data_; }

 private:
  Allocator& source_;
  size_t bytes_;
  void* data_;
};

inline void convert(const Backend& device, int64_t n, const void* from, Dtype from_dtype, void* to, Dtype to_dtype) {
  Extents extents;
  extents.dims = 1;
  extents.size[0] = n;
  Operand out, in;
  out.data = to;
  out.dtype = to_dtype;
  in.data = const_cast<void*>(from);
  in.dtype = from_dtype;
  out.stride[0] = in.stride[0] = 1;
  device.copy(extents, out, in);
}

/// What is read.
class Wide {
 public:
  Wide(const Backend& device, Dtype dtype, int64_t n, const void* data) : values_(device, data ? n : 0), given_(data) {
    if (data) convert(device, n, data, dtype, values_.data(), Dtype::kFloat32);
  }
  operator const void*() const { return given_ ? values_.data() : nullptr; }

 private:
  FloatBuffer values_;
  const void* given_;
};

/// What is written, or read and written (`updated`): rounded into the buffer at the end of the scope.
class Rounded {
 public:
  Rounded(const Backend& device, Dtype dtype, int64_t n, void* data, bool updated = false)
      : device_(device), dtype_(dtype), n_(n), data_(data), values_(device, data ? n : 0) {
    if (data && updated) convert(device, n, data, dtype, values_.data(), Dtype::kFloat32);
  }
  ~Rounded() noexcept(false) {
    if (data_) convert(device_, n_, values_.data(), Dtype::kFloat32, data_, dtype_);
  }
  Rounded(const Rounded&) = delete;
  Rounded& operator=(const Rounded&) = delete;
  operator void*() const { return data_ ? values_.data() : nullptr; }

 private:
  const Backend& device_;
  Dtype dtype_;
  int64_t n_;
  void* data_;
  FloatBuffer values_;
};

}  // namespace hvd::backends
