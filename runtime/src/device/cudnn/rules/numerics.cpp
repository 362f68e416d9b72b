// SPDX-License-Identifier: Apache-2.0
#include "device/cudnn/rules/numerics.hpp"

#include <cstdint>

namespace hvd::backends::cuda::rules {

bool keeps_promises(const Notes& notes, const Arithmetic& wanted) {
  if (wanted.deterministic && notes.nondeterministic) return false;
  if (notes.down_convert || notes.reduced_reduction) return false;
  if (wanted.dtype == Dtype::kFloat32 && !wanted.tf32 && notes.tensor_core) return false;
  // Their transformed operands would be rounded to 16 bits once more.
  if (is_low_precision(wanted.dtype) && (notes.fft || notes.winograd)) return false;
  return true;
}

int64_t alignment_of(const void* address) {
  const auto value = reinterpret_cast<uintptr_t>(address);
  return value % 16 == 0 ? 16 : static_cast<int64_t>(value & (~value + 1));
}

}  // namespace hvd::backends::cuda::rules
