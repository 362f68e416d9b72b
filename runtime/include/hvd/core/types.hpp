// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <string>
#include <vector>

namespace hvd {

/// Element types. Computations run in float32 or float64; int64 holds indices and counts, bool the results of comparisons. What is
/// stored in bfloat16 or float16 is computed in float32 and rounded once for each operation (see amp.hpp for training with it).
enum class Dtype : uint8_t { kFloat32, kFloat64, kInt64, kBool, kBFloat16, kFloat16 };

inline constexpr Dtype kFloat32 = Dtype::kFloat32;
inline constexpr Dtype kFloat64 = Dtype::kFloat64;
inline constexpr Dtype kFloat = Dtype::kFloat32;
inline constexpr Dtype kDouble = Dtype::kFloat64;
inline constexpr Dtype kInt64 = Dtype::kInt64;
inline constexpr Dtype kLong = Dtype::kInt64;
inline constexpr Dtype kBool = Dtype::kBool;
inline constexpr Dtype kBFloat16 = Dtype::kBFloat16;
inline constexpr Dtype kFloat16 = Dtype::kFloat16;
inline constexpr Dtype kHalf = Dtype::kFloat16;

const char* dtype_name(Dtype dtype);
size_t dtype_size(Dtype dtype);
/// bfloat16 or float16.
inline bool is_low_precision(Dtype dtype) { return dtype == Dtype::kBFloat16 || dtype == Dtype::kFloat16; }
inline bool is_floating_point(Dtype dtype) { return dtype == Dtype::kFloat32 || dtype == Dtype::kFloat64 || is_low_precision(dtype); }
std::ostream& operator<<(std::ostream& out, Dtype dtype);

/// Where operations run. `kCpu` is the reference (plain loops), `kOneDnn` the default (BLAS and oneDNN); both use host memory. `kCublas` and
/// `kCudnn` are the GPU of this rank (docs/cuda.md).
enum class DeviceType : uint8_t { kCpu, kOneDnn, kCublas, kCudnn };

class Device {
 public:
  Device(DeviceType type) : type_(type) {}
  /// "cpu", "onednn", "cublas" or "cudnn"; throws hvd::Error for other names and for a device that is not there.
  explicit Device(const std::string& name);
  explicit Device(const char* name);
  DeviceType type() const { return type_; }
  std::string name() const;
  friend bool operator==(Device a, Device b) { return a.type_ == b.type_; }
  friend bool operator!=(Device a, Device b) { return a.type_ != b.type_; }

 private:
  DeviceType type_;
};

inline constexpr DeviceType kCPU = DeviceType::kCpu;
inline constexpr DeviceType kOneDNN = DeviceType::kOneDnn;
inline constexpr DeviceType kCUBLAS = DeviceType::kCublas;
inline constexpr DeviceType kCUDNN = DeviceType::kCudnn;
std::ostream& operator<<(std::ostream& out, Device device);

/// How a loss combines its per-sample terms.
enum class Reduction : uint8_t { kNone, kMean, kSum };
inline constexpr Reduction kNone = Reduction::kNone;
inline constexpr Reduction kMean = Reduction::kMean;
inline constexpr Reduction kSum = Reduction::kSum;

/// One number of any arithmetic type, as an operand or as the value of a one-element tensor.
class Scalar {
 public:
  Scalar(double v) : floating_(v), is_floating_(true) {}
  Scalar(float v) : floating_(v), is_floating_(true) {}
  Scalar(int v) : integer_(v) {}
  Scalar(unsigned v) : integer_(v) {}
  Scalar(long v) : integer_(v) {}
  Scalar(unsigned long v) : integer_(static_cast<int64_t>(v)) {}
  Scalar(long long v) : integer_(v) {}
  Scalar(unsigned long long v) : integer_(static_cast<int64_t>(v)) {}
  Scalar(bool v) : integer_(v), is_bool_(true) {}

  bool is_floating_point() const { return is_floating_; }
  bool is_bool() const { return is_bool_; }
  template <class T>
  T to() const {
    return is_floating_ ? static_cast<T>(floating_) : static_cast<T>(integer_);
  }
  double to_double() const { return to<double>(); }
  int64_t to_int64() const { return to<int64_t>(); }

 private:
  double floating_ = 0;
  int64_t integer_ = 0;
  bool is_floating_ = false;
  bool is_bool_ = false;
};

/// A borrowed list of extents or dimensions: made from `{2, 3}`, a vector or one number; lives as long as its source.
class IntList {
 public:
  IntList(std::initializer_list<int64_t> list) : size_(list.size()) { data_ = list.begin(); }
  IntList(const std::vector<int64_t>& list) : data_(list.data()), size_(list.size()) {}
  IntList(const int64_t& one) : data_(&one), size_(1) {}
  IntList(const int64_t* data, size_t size) : data_(data), size_(size) {}
  const int64_t* begin() const { return data_; }
  const int64_t* end() const { return data_ + size_; }
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  int64_t operator[](size_t i) const { return data_[i]; }
  std::vector<int64_t> vec() const { return {begin(), end()}; }

 private:
  const int64_t* data_ = nullptr;
  size_t size_;
};

/// Extents as text, "[64, 1, 28, 28]".
std::string to_string(IntList sizes);

/// What a new tensor is made of. What is not set comes from the context: default dtype and default device.
class TensorOptions {
 public:
  TensorOptions() = default;
  TensorOptions(Dtype dtype) : dtype_(dtype), has_dtype_(true) {}
  TensorOptions(Device device) : device_(device), has_device_(true) {}
  TensorOptions(DeviceType device) : device_(device), has_device_(true) {}

  TensorOptions dtype(Dtype value) const;
  TensorOptions device(Device value) const;
  TensorOptions requires_grad(bool value) const;

  Dtype dtype() const;    // the context's default unless set
  Device device() const;  // the context's default unless set
  bool requires_grad() const { return requires_grad_; }
  bool has_dtype() const { return has_dtype_; }
  bool has_device() const { return has_device_; }

 private:
  Dtype dtype_ = Dtype::kFloat32;
  Device device_ = DeviceType::kCpu;
  bool has_dtype_ = false;
  bool has_device_ = false;
  bool requires_grad_ = false;
};

TensorOptions dtype(Dtype value);
TensorOptions device(Device value);
TensorOptions requires_grad(bool value = true);

}  // namespace hvd
