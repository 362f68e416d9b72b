// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hvd/core/slice.hpp>
#include <hvd/tensor.hpp>

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace hvd::data {

/// The samples of a batch, or the part of them that one rank takes.
struct BatchIndices {
  std::vector<size_t> indices;  // for a filler, the first sample of the batch
  Slice slice;
};

namespace samplers {

/// The order in which a loader visits a data set. To write one, derive from it and define reset, next and size.
class Sampler {
 public:
  virtual ~Sampler() = default;

  /// Starts a new pass. Whatever random numbers the order needs are drawn here.
  virtual void reset() = 0;
  /// The next `batch_size` samples, fewer at the end; nothing when the pass is over.
  virtual std::optional<std::vector<size_t>> next(size_t batch_size) = 0;
  /// Samples of one pass.
  virtual size_t size() const = 0;

  /// Where the pass stands, by name; load_state continues it. Samplers without state have an empty one. A state that does not
  /// fit throws hvd::Error.
  virtual std::map<std::string, Tensor> state() const { return {}; }
  virtual void load_state(const std::map<std::string, Tensor>& state);

  /// The distributed form of a sampler hands out slices of batches, see hvd::Sharded.
  virtual bool is_sharded() const { return false; }
  /// This rank's part of the next batch of `batch_size` samples; without sharding the whole of it.
  virtual std::optional<BatchIndices> next_slice(size_t batch_size);
};

/// A new random order at every reset: hvd::randperm(size), one draw of the default generator.
class RandomSampler : public Sampler {
 public:
  explicit RandomSampler(size_t size) : size_(size) {}
  void reset() override;
  std::optional<std::vector<size_t>> next(size_t batch_size) override;
  size_t size() const override { return size_; }
  std::map<std::string, Tensor> state() const override;
  void load_state(const std::map<std::string, Tensor>& state) override;

 private:
  size_t size_;
  std::vector<size_t> order_;  // empty before the first reset
  size_t position_ = 0;
};

/// 0, 1, ..., size - 1.
class SequentialSampler : public Sampler {
 public:
  explicit SequentialSampler(size_t size) : size_(size) {}
  void reset() override { position_ = 0; }
  std::optional<std::vector<size_t>> next(size_t batch_size) override;
  size_t size() const override { return size_; }
  std::map<std::string, Tensor> state() const override;
  void load_state(const std::map<std::string, Tensor>& state) override;

 private:
  size_t size_;
  size_t position_ = 0;
};

}  // namespace samplers

using samplers::RandomSampler;
using samplers::Sampler;
using samplers::SequentialSampler;

}  // namespace hvd::data
