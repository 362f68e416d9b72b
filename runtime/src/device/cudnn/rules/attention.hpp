// SPDX-License-Identifier: Apache-2.0
//
// Which attention is put to cuDNN, and by what its plans are kept. Plain C++: tested without cuDNN.
#pragma once

#include "device/cudnn/rules/numerics.hpp"
#include "device/device.hpp"

#include <string>

namespace hvd::backends::cuda::rules {

struct AttentionProblem {
  Arithmetic arithmetic;
  Attention shape;
  bool backward = false;
  friend bool operator<(const AttentionProblem& a, const AttentionProblem& b);
};

std::string describe(const AttentionProblem& a);

/// Whether cuDNN's fused attention of this version takes it: 16 bits, heads of at most 128 features, rows that begin at whole 16 bytes, no single
/// key for a single query. Versions before 9.10.2 want masks without infinities, or err; before 9.16 they have trouble with numbers of keys that 128 does
/// not divide.
bool fits_cudnn(const AttentionProblem& a, size_t version);

}  // namespace hvd::backends::cuda::rules
