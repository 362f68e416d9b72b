// SPDX-License-Identifier: Apache-2.0
#include <hvd/dist/failure.hpp>
#include <hvd/dist/sharded.hpp>

namespace hvd::detail {

data::BatchIndices shard_indices(const std::vector<size_t>& batch) {
  if (batch.empty()) throw dist::Failure<Error>("hvd::Sharded: the sampler handed out an empty batch");
  return shard_indices(batch, dist::slice_of(static_cast<int64_t>(batch.size()), rank()));
}

data::BatchIndices shard_indices(const std::vector<size_t>& batch, const Slice& slice) {
  const auto first = batch.begin() + (slice.filler ? 0 : slice.first_row);
  return {std::vector<size_t>(first, first + slice.local_rows()), slice};
}

}  // namespace hvd::detail
