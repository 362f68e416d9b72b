// SPDX-License-Identifier: Apache-2.0
//
// Averages that are windows of one size, as cuDNN knows them. Plain C++: tested without cuDNN.
#pragma once

#include "device/cudnn/rules/numerics.hpp"
#include "device/device.hpp"

#include <optional>
#include <string>

namespace hvd::backends::cuda::rules {

struct PoolingProblem {
  Arithmetic arithmetic;
  int64_t planes, h, w, oh, ow;
  int64_t kernel_h, kernel_w, stride_h, stride_w, pad_h, pad_w;
  bool counts_padding;  // the divisor is the size of the window; else of what it takes in
  bool backward = false;
  int64_t alignment = 16;
  friend auto operator<=>(const PoolingProblem&, const PoolingProblem&) = default;
};

std::string describe(const PoolingProblem& p);

/// A mean_pool2d as such a problem; none where its windows differ in size, lie irregularly, or are too many.
std::optional<PoolingProblem> regular_windows(int64_t planes, int64_t h, int64_t w, const Spans& down, const Spans& across, double divisor);

}  // namespace hvd::backends::cuda::rules
