// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hvd/core/slice.hpp>
#include <hvd/data/dataloader.hpp>

#include <memory>

namespace hvd {

/// The batches of one pass over a loader, each this rank's slice of a global batch. While the body of the loop runs, the slice is
/// the context's current one; before the next batch is fetched, at the end, at `break` and when an exception leaves the loop,
/// the one from outside the loop is back.
class Steps {
 public:
  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = data::Batch;
    using difference_type = std::ptrdiff_t;
    using pointer = data::Batch*;
    using reference = data::Batch&;

    Iterator() = default;
    explicit Iterator(const data::DataLoader& loader);
    data::Batch& operator*() const;
    data::Batch* operator->() const { return &**this; }
    Iterator& operator++();
    friend bool operator==(const Iterator& a, const Iterator& b) { return a.running_ == b.running_; }
    friend bool operator!=(const Iterator& a, const Iterator& b) { return a.running_ != b.running_; }

   private:
    struct Running;
    std::shared_ptr<Running> running_;  // null at the end
  };

  explicit Steps(const data::DataLoader& loader) : loader_(&loader) {}
  Iterator begin() const { return Iterator(*loader_); }
  Iterator end() const { return Iterator(); }
  /// Steps of one pass: the number of global batches, the same on all ranks.
  size_t size() const { return loader_->size(); }

 private:
  const data::DataLoader* loader_;
};

/// `for (auto& batch : hvd::steps(loader))`. The loader, given itself or by whatever pointer, must outlive the loop; its sampler
/// must be a hvd::Sharded one (hvd::Error otherwise, when the loop starts). Local.
inline Steps steps(const data::DataLoader& loader) { return Steps(loader); }
template <class Pointer>
  requires requires(const Pointer& p) { static_cast<const data::DataLoader&>(*p); }
Steps steps(const Pointer& loader) {
  return Steps(*loader);
}

}  // namespace hvd
