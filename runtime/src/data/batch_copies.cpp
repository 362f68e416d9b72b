// SPDX-License-Identifier: Apache-2.0
#include "data/batch_copies.hpp"

#include "core/tensor_impl.hpp"

#include <hvd/autograd.hpp>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>
#include <thread>
#include <utility>

namespace hvd::data {

namespace {

constexpr size_t kPage = 4096;

size_t bytes_of(const Tensor& t) { return static_cast<size_t>(t.numel()) * dtype_size(t.dtype()); }

}  // namespace

BatchCopies::Block::Block(size_t wanted) : bytes((wanted + kPage - 1) / kPage * kPage), start(std::aligned_alloc(kPage, bytes)) {
  if (!start) throw std::bad_alloc();
  locked = backends::require_gpu().pin(start, bytes);
}

BatchCopies::Block::~Block() {
  locked.reset();
  std::free(start);
}

BatchCopies::BatchCopies(Device device) : device_(device), stream_(backends::require_gpu().make_stream()) {}

BatchCopies::~BatchCopies() {
  try {
    for (const UnderWay& copy : under_way_)
      while (!stream_->reached(copy.mark)) std::this_thread::yield();
  } catch (...) {  // the GPU has failed: who uses it next is told
  }
}

// The smallest that is large enough: labels leave the large ones to the data, and nothing is locked anew from batch to batch. Where none is, a new one
// takes the place of the largest.
std::unique_ptr<BatchCopies::Block> BatchCopies::block_of(size_t bytes) {
  std::unique_ptr<Block> found;
  {
    const std::lock_guard lock(mutex_);
    const auto fits = [&](const auto& block) { return block->bytes >= bytes; };
    const auto better = [&](const auto& a, const auto& b) { return fits(a) != fits(b) ? fits(a) : fits(a) ? a->bytes < b->bytes : a->bytes > b->bytes; };
    const auto best = std::min_element(free_.begin(), free_.end(), better);
    if (best != free_.end()) {
      found = std::move(*best);
      free_.erase(best);
    }
  }
  if (!found || found->bytes < bytes) found = std::make_unique<Block>(bytes);
  return found;
}

BatchCopies::Laid BatchCopies::lay(const Tensor& tensor) {
  if (!tensor.defined() || tensor.numel() == 0 || !core::on_host(tensor)) return {nullptr, tensor};
  const Tensor dense = tensor.detach().contiguous();
  Laid laid{block_of(bytes_of(dense)), dense};
  std::memcpy(laid.block->start, dense.raw_data(), bytes_of(dense));
  return laid;
}

BatchCopies::LaidBatch BatchCopies::lay(Batch batch) {
  const NoGradGuard no_grad;
  return {lay(batch.data), lay(batch.target)};
}

Tensor BatchCopies::begin(Laid& laid) {
  if (!laid.tensor.defined()) return laid.tensor;
  if (!laid.block) return laid.tensor.to(device_);
  const Tensor there = core::make(laid.tensor.sizes(), laid.tensor.dtype(), device_);
  stream_->wait_for(nullptr);  // its memory may have been a tensor's that computations still read
  stream_->copy(there.raw_data(), laid.block->start, bytes_of(there));
  under_way_.push_back({stream_->mark(), std::move(laid.block), there});
  return there;
}

Batch BatchCopies::begin(LaidBatch laid) {
  const NoGradGuard no_grad;
  collect();
  Batch batch;
  batch.data = begin(laid.data);
  batch.target = begin(laid.target);
  return batch;
}

void BatchCopies::take() {
  if (!under_way_.empty()) stream_->hold_computations();
}

void BatchCopies::collect() {
  while (!under_way_.empty() && stream_->reached(under_way_.front().mark)) {
    const std::lock_guard lock(mutex_);
    free_.push_back(std::move(under_way_.front().block));
    under_way_.pop_front();
  }
}

}  // namespace hvd::data
