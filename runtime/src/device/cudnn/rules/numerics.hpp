// SPDX-License-Identifier: Apache-2.0
//
// Which of cuDNN's engines keep what the runtime promises of numbers. Plain C++: tested without cuDNN.
#pragma once

#include <hvd/core/types.hpp>

#include <compare>

namespace hvd::backends::cuda::rules {

/// What cuDNN says of an engine's arithmetic.
struct Notes {
  bool tensor_core = false;        // of float32: TF32
  bool down_convert = false;       // operands are rounded to a smaller type
  bool reduced_reduction = false;  // partial sums are rounded to the type of the result
  bool fft = false, winograd = false;
  bool nondeterministic = false;
};

/// What the choice of an engine depends on beside the operation.
struct Arithmetic {
  Dtype dtype = Dtype::kFloat32;
  bool deterministic = false, tf32 = false;
  friend auto operator<=>(const Arithmetic&, const Arithmetic&) = default;
};

/// float32 is multiplied as float32 unless TF32 was asked for; 16-bit numbers are summed in float32 and transformed by nobody; the same bits
/// each time in deterministic mode.
bool keeps_promises(const Notes& notes, const Arithmetic& wanted);

/// Bytes (at most 16) that an address is a multiple of: cuDNN loads as many at once.
int64_t alignment_of(const void* address);

}  // namespace hvd::backends::cuda::rules
