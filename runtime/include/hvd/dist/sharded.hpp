// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hvd/data/samplers.hpp>
#include <hvd/dist/batches.hpp>
#include <hvd/dist/session.hpp>

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace hvd {

namespace detail {

/// This rank's part of a global batch: rows [r*G/N, (r+1)*G/N), or the first row as a filler when that is empty.
data::BatchIndices shard_indices(const std::vector<size_t>& batch);
/// The part of a global batch that `slice` is.
data::BatchIndices shard_indices(const std::vector<size_t>& batch, const Slice& slice);

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

namespace detail {

/// The same for a sampler that the program holds by a smart pointer, and may change between passes.
class SharedSampler : public data::Sampler {
 public:
  explicit SharedSampler(std::shared_ptr<data::Sampler> sampler) : sampler_(std::move(sampler)) {}

  void reset() override { sampler_->reset(); }
  std::optional<std::vector<size_t>> next(size_t batch_size) override { return sampler_->next(batch_size); }
  size_t size() const override { return sampler_->size(); }
  std::map<std::string, Tensor> state() const override { return sampler_->state(); }
  void load_state(const std::map<std::string, Tensor>& state) override { sampler_->load_state(state); }
  bool is_sharded() const override { return true; }
  std::optional<data::BatchIndices> next_slice(size_t batch_size) override {
    const auto batch = next(batch_size);
    if (!batch) return std::nullopt;
    return shard_indices(*batch);
  }

 private:
  std::shared_ptr<data::Sampler> sampler_;
};

}  // namespace detail

template <class SamplerT>
class Sharded<std::shared_ptr<SamplerT>> : public detail::SharedSampler {
 public:
  using detail::SharedSampler::SharedSampler;
};
template <class SamplerT>
class Sharded<std::unique_ptr<SamplerT>> : public detail::SharedSampler {
 public:
  using detail::SharedSampler::SharedSampler;
};

}  // namespace hvd
