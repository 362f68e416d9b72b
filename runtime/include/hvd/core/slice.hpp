// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace hvd {

/// The part of a global batch that this rank works on during one step. `rows` samples of the `global_rows` samples,
/// the first of which is sample `first_row` of the global batch. A filler slice has `rows == 0` but holds one sample
/// all the same, so that forward and backward run; it contributes exactly zero wherever sums over samples are formed.
struct Slice {
  int64_t global_rows = 0;
  int64_t first_row = 0;
  int64_t rows = 0;
  bool filler = false;
  int64_t split = 0;  // number of the shares that it was cut by: they may change from one step to another (HVD_SHARES=measured)
  /// Rows of the tensors beside the batch that every rank has whole in this step, because they are of another number (hvd::own_rows); 0: none.
  mutable int64_t whole_rows = 0;

  /// Number of rows that tensors of this slice really have.
  int64_t local_rows() const { return filler ? 1 : rows; }
};

}  // namespace hvd
