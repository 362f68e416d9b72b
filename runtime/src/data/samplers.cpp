// SPDX-License-Identifier: Apache-2.0
#include <hvd/data/samplers.hpp>

#include "core/tensor_impl.hpp"

#include <hvd/context.hpp>

#include <algorithm>
#include <numeric>

namespace hvd::data::samplers {

namespace {

using State = std::map<std::string, Tensor>;

const Tensor& entry(const State& state, const std::string& name, const char* sampler) {
  const auto it = state.find(name);
  if (it == state.end() || it->second.dtype() != kInt64) throw Error(std::string(sampler) + ": its state lacks '" + name + "' (int64)");
  return it->second;
}

size_t position_from(const State& state, size_t size, const char* sampler) {
  const int64_t position = entry(state, "position", sampler).item<int64_t>();
  if (position < 0 || static_cast<size_t>(position) > size)
    throw Error(std::string(sampler) + ": position " + std::to_string(position) + " in a pass over " + std::to_string(size) + " samples");
  return static_cast<size_t>(position);
}

Tensor position_of(size_t position) { return tensor(Scalar(static_cast<int64_t>(position))); }

}  // namespace

void Sampler::load_state(const State& state) {
  if (!state.empty()) throw Error("a sampler without state was given '" + state.begin()->first + "'");
}

std::optional<BatchIndices> Sampler::next_slice(size_t batch_size) {
  auto indices = next(batch_size);
  if (!indices) return std::nullopt;
  const auto rows = static_cast<int64_t>(indices->size());
  return BatchIndices{std::move(*indices), Slice{rows, 0, rows, false}};
}

void RandomSampler::reset() {
  position_ = 0;
  order_.clear();
  if (size_ == 0) return;
  const Tensor order = randperm(static_cast<int64_t>(size_), default_generator());
  order_.assign(order.data_ptr<int64_t>(), order.data_ptr<int64_t>() + size_);
}

std::optional<std::vector<size_t>> RandomSampler::next(size_t batch_size) {
  if (order_.empty()) reset();
  if (position_ == size_) return std::nullopt;
  const size_t count = std::min(batch_size, size_ - position_);
  const auto first = order_.begin() + static_cast<std::ptrdiff_t>(position_);
  position_ += count;
  return std::vector<size_t>(first, first + static_cast<std::ptrdiff_t>(count));
}

State RandomSampler::state() const {
  return {{"order", tensor(std::vector<int64_t>(order_.begin(), order_.end()), kInt64)}, {"position", position_of(position_)}};
}

void RandomSampler::load_state(const State& state) {
  const Tensor order = core::host_copy(entry(state, "order", "RandomSampler")).contiguous();
  const size_t position = position_from(state, size_, "RandomSampler");
  std::vector<size_t> loaded(order.data_ptr<int64_t>(), order.data_ptr<int64_t>() + order.numel());
  std::vector<size_t> sorted = loaded, expected(loaded.empty() ? 0 : size_);
  std::sort(sorted.begin(), sorted.end());
  std::iota(expected.begin(), expected.end(), size_t{0});
  if (sorted != expected)
    throw Error("RandomSampler: the order in the state, " + std::to_string(loaded.size()) + " numbers, is not one of " + std::to_string(size_) + " samples");
  order_ = std::move(loaded);
  position_ = position;
}

std::optional<std::vector<size_t>> SequentialSampler::next(size_t batch_size) {
  if (position_ == size_) return std::nullopt;
  std::vector<size_t> batch(std::min(batch_size, size_ - position_));
  std::iota(batch.begin(), batch.end(), position_);
  position_ += batch.size();
  return batch;
}

State SequentialSampler::state() const { return {{"position", position_of(position_)}}; }

void SequentialSampler::load_state(const State& state) { position_ = position_from(state, size_, "SequentialSampler"); }

}  // namespace hvd::data::samplers
