// SPDX-License-Identifier: Apache-2.0
//
// From a dtype to a C++ type: f is called with a value of the element type, whose value means nothing.
#pragma once

#include <hvd/core/error.hpp>
#include <hvd/core/float16.hpp>
#include <hvd/core/types.hpp>

#include <string>

namespace hvd::backends {

[[noreturn]] inline void unsupported(const char* operation, Dtype dtype) {
  throw Error(std::string(operation) + ": not defined for " + dtype_name(dtype) + " tensors");
}

template <class F>
void dispatch_real(const char* operation, Dtype dtype, F&& f) {
  switch (dtype) {
    case Dtype::kFloat32: return f(float{});
    case Dtype::kFloat64: return f(double{});
    default: unsupported(operation, dtype);
  }
}

template <class F>
void dispatch_floating(const char* operation, Dtype dtype, F&& f) {
  if (dtype == Dtype::kBFloat16) return f(BFloat16{});
  if (dtype == Dtype::kFloat16) return f(Half{});
  dispatch_real(operation, dtype, f);
}

template <class F>
void dispatch_number(const char* operation, Dtype dtype, F&& f) {
  if (dtype == Dtype::kInt64) return f(int64_t{});
  dispatch_real(operation, dtype, f);
}

/// Every dtype that can be stored.
template <class F>
void dispatch_all(Dtype dtype, F&& f) {
  if (dtype == Dtype::kBool) return f(bool{});
  if (dtype == Dtype::kBFloat16) return f(BFloat16{});
  if (dtype == Dtype::kFloat16) return f(Half{});
  dispatch_number("", dtype, f);
}

}  // namespace hvd::backends
