// SPDX-License-Identifier: Apache-2.0
#include <hvd/context.hpp>
#include <hvd/core/error.hpp>
#include <hvd/core/types.hpp>
#include <hvd/device.hpp>

#include <iterator>
#include <ostream>

namespace hvd {

const char* dtype_name(Dtype dtype) {
  switch (dtype) {
    case Dtype::kFloat32: return "float32";
    case Dtype::kFloat64: return "float64";
    case Dtype::kInt64: return "int64";
    case Dtype::kBool: return "bool";
    case Dtype::kBFloat16: return "bfloat16";
    case Dtype::kFloat16: return "float16";
  }
  return "unknown dtype";
}

size_t dtype_size(Dtype dtype) {
  switch (dtype) {
    case Dtype::kFloat32: return 4;
    case Dtype::kFloat64: return 8;
    case Dtype::kInt64: return 8;
    case Dtype::kBool: return 1;
    case Dtype::kBFloat16: return 2;
    case Dtype::kFloat16: return 2;
  }
  return 0;
}

std::ostream& operator<<(std::ostream& out, Dtype dtype) { return out << dtype_name(dtype); }

namespace {

constexpr const char* kDeviceNames[] = {"cpu", "onednn", "cublas", "cudnn"};  // in the order of DeviceType

DeviceType device_type(const std::string& name) {
  for (size_t i = 0; i < std::size(kDeviceNames); ++i)
    if (name == kDeviceNames[i]) return static_cast<DeviceType>(i);
  throw Error("unknown device '" + name + "': 'cpu', 'onednn', 'cublas' or 'cudnn' expected");
}

}  // namespace

Device::Device(const std::string& name) : type_(device_type(name)) {
  if (const std::string problem = device_problem(*this); !problem.empty()) throw Error("device '" + name + "': " + problem);
}
Device::Device(const char* name) : Device(std::string(name)) {}

std::string Device::name() const { return kDeviceNames[static_cast<size_t>(type_)]; }
std::ostream& operator<<(std::ostream& out, Device device) { return out << device.name(); }

std::string to_string(IntList sizes) {
  std::string text = "[";
  for (size_t i = 0; i < sizes.size(); ++i) text += (i ? ", " : "") + std::to_string(sizes[i]);
  return text + "]";
}

TensorOptions TensorOptions::dtype(Dtype value) const {
  TensorOptions result = *this;
  result.dtype_ = value;
  result.has_dtype_ = true;
  return result;
}
TensorOptions TensorOptions::device(Device value) const {
  TensorOptions result = *this;
  result.device_ = value;
  result.has_device_ = true;
  return result;
}
TensorOptions TensorOptions::requires_grad(bool value) const {
  TensorOptions result = *this;
  result.requires_grad_ = value;
  return result;
}
Dtype TensorOptions::dtype() const { return has_dtype_ ? dtype_ : default_dtype(); }
Device TensorOptions::device() const { return has_device_ ? device_ : default_device(); }

TensorOptions dtype(Dtype value) { return TensorOptions(value); }
TensorOptions device(Device value) { return TensorOptions(value); }
TensorOptions requires_grad(bool value) { return TensorOptions().requires_grad(value); }

}  // namespace hvd
