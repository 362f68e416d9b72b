// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hvd/data/samplers.hpp>
#include <hvd/dist/batches.hpp>
#include <hvd/dist/session.hpp>

#include <cstddef>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

namespace hvd {

namespace detail {

/// This rank's part of a global batch: rows [r*G/N, (r+1)*G/N), or the first row as a filler when that is empty.
data::BatchIndices shard_indices(const std::vector<size_t>& batch);

}  // namespace detail

/// A sampler that draws what `SamplerT` draws, on all ranks alike; a loop over `hvd::steps(loader)` then takes this rank's slice
/// of every batch. Requests are in samples of the global batch, so that drop_last and the number of batches mean what they
/// meant. A loop that does not go through steps() sees whole batches. Constructed like SamplerT.
template <class SamplerT>
class Sharded : public SamplerT {
  static_assert(std::is_base_of_v<data::Sampler, SamplerT>, "hvd::Sharded wraps a hvd::data::Sampler");

 public:
  using SamplerT::SamplerT;
  Sharded(SamplerT sampler) : SamplerT(std::move(sampler)) {}

  bool is_sharded() const override { return true; }
  std::optional<data::BatchIndices> next_slice(size_t batch_size) override {
    const auto batch = this->next(batch_size);
    if (!batch) return std::nullopt;
    return detail::shard_indices(*batch);
  }
};

}  // namespace hvd
