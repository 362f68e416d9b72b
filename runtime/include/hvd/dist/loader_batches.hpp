// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hvd/data/dataloader.hpp>
#include <hvd/dist/slices.hpp>

#include <memory>

namespace hvd {

namespace detail {
// All rows of the batch of which `mine` is this rank's slice. Collective.
Tensor whole_of(const Tensor& mine, const Slice& slice);
}  // namespace detail

/// The batches of a loader for a loop that takes them by hand, each this rank's slice of a global batch:
///
///     auto it = batches(loader).begin();
///     for (...) {
///       StepScope step;
///       if (it == batches(loader).end()) it = batches(loader).begin();
///       auto batch = *it;  // the step's slice is this batch's, from here to the end of the block
///       ++it;
///
/// Reading a batch where no StepScope is alive, or a second one of another size in the same step, is an hvd::Error; with `batches(loader, own_rows)`
/// every rank gets such a second one whole, by a collective. The iterator may live
/// longer than a pass; it must not outlive the loader, whose sampler must be a hvd::Sharded one (hvd::Error otherwise). Local.
class LoaderBatches {
 public:
  /// An input iterator; copies are the same pass.
  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = data::Batch;
    using difference_type = std::ptrdiff_t;
    using pointer = data::Batch*;
    using reference = data::Batch&;

    Iterator() = default;
    Iterator(const data::DataLoader& loader, bool own);
    data::Batch& operator*() const;
    data::Batch* operator->() const { return &**this; }
    Iterator& operator++();
    friend bool operator==(const Iterator& a, const Iterator& b) { return a.running_ == b.running_; }
    friend bool operator!=(const Iterator& a, const Iterator& b) { return a.running_ != b.running_; }

   private:
    struct Running;
    std::shared_ptr<Running> running_;  // null at the end
  };

  explicit LoaderBatches(const data::DataLoader& loader, bool own = false) : loader_(&loader), own_(own) {}
  Iterator begin() const { return Iterator(*loader_, own_); }
  Iterator end() const { return Iterator(); }

 private:
  const data::DataLoader* loader_;
  bool own_;
};

inline LoaderBatches batches(const data::DataLoader& loader) { return LoaderBatches(loader); }
template <class Pointer>
  requires requires(const Pointer& p) { static_cast<const data::DataLoader&>(*p); }
LoaderBatches batches(const Pointer& loader) {
  return LoaderBatches(*loader);
}
inline LoaderBatches batches(const data::DataLoader& loader, OwnRows) { return LoaderBatches(loader, true); }
template <class Pointer>
  requires requires(const Pointer& p) { static_cast<const data::DataLoader&>(*p); }
LoaderBatches batches(const Pointer& loader, OwnRows) {
  return LoaderBatches(*loader, true);
}

}  // namespace hvd
