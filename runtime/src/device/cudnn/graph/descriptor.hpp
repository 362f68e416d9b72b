// SPDX-License-Identifier: Apache-2.0
//
// A descriptor of cuDNN's graph interface that is destroyed with its owner. Every status is checked: what fails throws Failure with the
// call, the attribute, the kind of descriptor and cuDNN's own reason; whoever knows the operation adds it (Failure::in).
#pragma once

#include <hvd/core/error.hpp>

#include <cudnn.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace hvd::backends::cuda::graph {

class Failure : public Error {
 public:
  Failure(cudnnStatus_t status, const std::string& text) : Error(text), status_(status) {}
  cudnnStatus_t status() const { return status_; }
  /// The same, said of an operation and its shapes.
  Failure in(const std::string& operation) const { return {status_, operation + ": " + what()}; }

 private:
  cudnnStatus_t status_;
};

struct Attribute {
  cudnnBackendAttributeName_t number;
  const char* name;
};

/// An address of data; cuDNN's descriptors are addresses of another type.
struct Address {
  void* value;
};
static_assert(sizeof(Address) == sizeof(void*));

/// cuDNN's number for the type of an attribute's value.
template <class T>
struct TypeNumber;
#define HVD_CUDNN_TYPE(type, number) \
  template <>                        \
  struct TypeNumber<type> {          \
    static constexpr cudnnBackendAttributeType_t value = number; \
  }
HVD_CUDNN_TYPE(cudnnHandle_t, CUDNN_TYPE_HANDLE);
HVD_CUDNN_TYPE(cudnnDataType_t, CUDNN_TYPE_DATA_TYPE);
HVD_CUDNN_TYPE(bool, CUDNN_TYPE_BOOLEAN);
HVD_CUDNN_TYPE(int64_t, CUDNN_TYPE_INT64);
HVD_CUDNN_TYPE(float, CUDNN_TYPE_FLOAT);
HVD_CUDNN_TYPE(double, CUDNN_TYPE_DOUBLE);
HVD_CUDNN_TYPE(Address, CUDNN_TYPE_VOID_PTR);
HVD_CUDNN_TYPE(char, CUDNN_TYPE_CHAR);
HVD_CUDNN_TYPE(cudnnConvolutionMode_t, CUDNN_TYPE_CONVOLUTION_MODE);
HVD_CUDNN_TYPE(cudnnBackendHeurMode_t, CUDNN_TYPE_HEUR_MODE);
HVD_CUDNN_TYPE(cudnnBackendNumericalNote_t, CUDNN_TYPE_NUMERICAL_NOTE);
HVD_CUDNN_TYPE(cudnnPointwiseMode_t, CUDNN_TYPE_POINTWISE_MODE);
HVD_CUDNN_TYPE(cudnnReduceTensorOp_t, CUDNN_TYPE_REDUCTION_OPERATOR_TYPE);
HVD_CUDNN_TYPE(cudnnResampleMode_t, CUDNN_TYPE_RESAMPLE_MODE);
HVD_CUDNN_TYPE(cudnnPaddingMode_t, CUDNN_TYPE_PADDING_MODE);
HVD_CUDNN_TYPE(cudnnBackendNormMode_t, CUDNN_TYPE_NORM_MODE);
HVD_CUDNN_TYPE(cudnnBackendNormFwdPhase_t, CUDNN_TYPE_NORM_FWD_PHASE);
HVD_CUDNN_TYPE(cudnnBackendDescriptor_t, CUDNN_TYPE_BACKEND_DESCRIPTOR);
#undef HVD_CUDNN_TYPE

class Descriptor {
 public:
  /// `kind` is the type's name, for messages; see HVD_CUDNN_DESCRIPTOR.
  Descriptor(cudnnBackendDescriptorType_t type, const char* kind);
  ~Descriptor();
  Descriptor(Descriptor&& other) noexcept : kind_(other.kind_), descriptor_(std::exchange(other.descriptor_, nullptr)) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  template <class T>
  void set(Attribute attribute, const T& value) {
    set_raw(attribute, TypeNumber<T>::value, 1, &value);
  }
  template <class T>
  void set(Attribute attribute, const std::vector<T>& values) {
    set_raw(attribute, TypeNumber<T>::value, static_cast<int64_t>(values.size()), values.data());
  }
  void set(Attribute attribute, const Descriptor& other) { set(attribute, other.descriptor_); }
  void finish();

  template <class T>
  T get(Attribute attribute) const {
    T value{};
    int64_t count = 0;
    get_raw(attribute, TypeNumber<T>::value, 1, &count, &value);
    return value;
  }
  /// At most `most` values; for descriptors the vector brings those that are filled.
  template <class T>
  std::vector<T> get(Attribute attribute, std::vector<T> places) const {
    int64_t count = 0;
    get_raw(attribute, TypeNumber<T>::value, static_cast<int64_t>(places.size()), &count, places.data());
    if (count >= 0 && count < static_cast<int64_t>(places.size())) places.resize(static_cast<size_t>(count));
    return places;
  }
  void fill(Attribute attribute, const Descriptor& place) const;
  int64_t count(Attribute attribute, cudnnBackendAttributeType_t type) const;

  cudnnBackendDescriptor_t raw() const { return descriptor_; }

 private:
  void set_raw(Attribute attribute, cudnnBackendAttributeType_t type, int64_t count, const void* values);
  void get_raw(Attribute attribute, cudnnBackendAttributeType_t type, int64_t most, int64_t* count, void* values) const;

  const char* kind_;
  cudnnBackendDescriptor_t descriptor_ = nullptr;
};

/// Throws Failure: what cuDNN says of the last error goes with it.
void require(cudnnStatus_t status, const std::string& call);

}  // namespace hvd::backends::cuda::graph

#define HVD_CUDNN_ATTR(name) (::hvd::backends::cuda::graph::Attribute{CUDNN_ATTR_##name, #name})
#define HVD_CUDNN_DESCRIPTOR(name) (::hvd::backends::cuda::graph::Descriptor{CUDNN_BACKEND_##name##_DESCRIPTOR, #name})
