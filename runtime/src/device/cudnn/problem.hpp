// SPDX-License-Identifier: Apache-2.0
//
// A convolution as cuDNN's older interface takes it: descriptors, and what tells one choice of algorithm from another.
#pragma once

#include "device/device.hpp"

#include <cudnn.h>

#include <compare>

namespace hvd::backends::cuda {

/// What the choice of an algorithm depends on.
struct Problem {
  Dtype dtype;
  Window2d window;
  bool deterministic, tf32;
  friend bool operator<(const Problem& a, const Problem& b);
};

class Descriptors {
 public:
  explicit Descriptors(const Problem& problem);
  ~Descriptors();
  Descriptors(const Descriptors&) = delete;
  Descriptors& operator=(const Descriptors&) = delete;

  cudnnTensorDescriptor_t x = nullptr, y = nullptr, bias = nullptr;
  cudnnFilterDescriptor_t weight = nullptr;
  cudnnConvolutionDescriptor_t convolution = nullptr;
};

}  // namespace hvd::backends::cuda
