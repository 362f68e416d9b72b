// SPDX-License-Identifier: Apache-2.0
#pragma once

// Loaders of LibTorch whose batches a training loop takes by hand.

#include <iterator>
#include <memory>
#include <optional>
#include <type_traits>

#include <hvd/dist/slices.hpp>
#include <hvd/torch/loaders.hpp>

namespace hvd {

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
/// every rank gets such a second one whole (tensors and examples of them), by a collective. The iterator may live
/// longer than a pass; it must not outlive the loader, whose sampler must be a hvd::Sharded one (std::runtime_error otherwise, at the first
/// batch). With one rank it is the loader's own iterator. Local.
template <class Loader>
class LoaderBatches {
 public:
  using Batch = typename Loader::BatchType;

  /// Copies are the same pass.
  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = Batch;
    using difference_type = std::ptrdiff_t;
    using pointer = Batch*;
    using reference = Batch&;

    Iterator() = default;
    Iterator(Loader& loader, bool own) : pass_(std::make_shared<Pass>(loader, own)) {}
    Batch& operator*() const { return pass_->read(); }
    Batch* operator->() const { return &pass_->read(); }
    Iterator& operator++() {
      pass_->advance();
      return *this;
    }
    friend bool operator==(const Iterator& a, const Iterator& b) { return a.pass_ == b.pass_ || (a.done() && b.done()); }
    friend bool operator!=(const Iterator& a, const Iterator& b) { return !(a == b); }

   private:
    bool done() const { return !pass_ || pass_->done(); }

    class Pass {
     public:
      Pass(Loader& loader, bool own) : own_(own), end_(loader.end()), at_(loader.end()) {
        if (size() == 1) {
          at_ = loader.begin();
          return;
        }
        dist::refuse_measured_shares("hvd::batches: batches are taken from a loader by hand");
        slices_.emplace(loader.options().workers > 0);
        detail::note_order(loader.options().enforce_ordering, loader.options().workers);
        const detail::Slices::Asking asking(*slices_);
        at_ = loader.begin();
      }
      Batch& read() {
        if (!slices_) return *at_;
        if (!fetched_) fetch();
        if constexpr (detail::HasWhole<Batch>::value) {
          if (own_) return detail::enter_own_slice(slice_) ? part() : all();
        }
        detail::enter_slice(slice_);
        return part();
      }
      void advance() {
        if (!slices_) return (void)++at_;
        if (!fetched_) fetch();
        fetched_ = false;
        const detail::Slices::Asking asking(*slices_);
        ++at_;
      }
      // The loader fetches its first batch when it is compared with the end.
      bool done() {
        if (!slices_) return at_ == end_;
        const detail::Slices::Asking asking(*slices_);
        return at_ == end_;
      }

     private:
      Batch& part() { return whole_ ? *cut_ : *at_; }
      Batch& all() {
        if (whole_) return *at_;
        if (!all_) all_ = detail::whole_of(*at_, slice_);
        return *all_;
      }
      void fetch() {
        fetched_ = true;
        all_.reset();
        {
          const detail::Slices::Asking asking(*slices_);
          (void)*at_;  // the first batch of a pass is only now asked for
        }
        const detail::Slices::Item item = slices_->next();
        slice_ = item.slice;
        whole_ = item.whole;
        if (!whole_) return slices_->check(detail::rows_in(*at_), slice_);
        slice_ = slices_->cut(detail::rows_of(*at_));
        cut_ = detail::cut(*at_, slice_);
      }

      std::optional<detail::Slices> slices_;  // none on one rank
      std::optional<Batch> cut_, all_;
      Slice slice_{};
      bool own_, fetched_ = false, whole_ = false;
      decltype(std::declval<Loader&>().begin()) end_, at_;
    };

    std::shared_ptr<Pass> pass_;  // null: the end
  };

  explicit LoaderBatches(Loader& loader, bool own = false) : loader_(&loader), own_(own) {}
  Iterator begin() const { return Iterator(*loader_, own_); }
  Iterator end() const { return Iterator(); }

 private:
  Loader* loader_;
  bool own_;
};

template <class Loader, class = typename Loader::BatchRequestType>
LoaderBatches<Loader> batches(Loader& loader) {
  return LoaderBatches<Loader>(loader);
}
template <class Pointer, class Loader = std::decay_t<decltype(*std::declval<Pointer&>())>>
LoaderBatches<Loader> batches(Pointer&& loader) {
  return LoaderBatches<Loader>(*loader);
}
template <class Loader, class = typename Loader::BatchRequestType>
LoaderBatches<Loader> batches(Loader& loader, OwnRows) {
  return LoaderBatches<Loader>(loader, true);
}
template <class Pointer, class Loader = std::decay_t<decltype(*std::declval<Pointer&>())>>
LoaderBatches<Loader> batches(Pointer&& loader, OwnRows) {
  return LoaderBatches<Loader>(*loader, true);
}

}  // namespace hvd
