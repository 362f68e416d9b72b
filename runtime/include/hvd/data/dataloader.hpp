// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hvd/data/dataset.hpp>
#include <hvd/data/samplers.hpp>

#include <functional>
#include <iterator>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

namespace hvd::data {

class DataLoaderOptions {
 public:
  DataLoaderOptions(size_t batch_size = 1) : batch_size_(batch_size) {}
  DataLoaderOptions& batch_size(size_t value) { batch_size_ = value; return *this; }
  /// Threads that make batches ahead of the loop; 0: they are made in the loop.
  DataLoaderOptions& workers(size_t value) { workers_ = value; return *this; }
  /// Leaves out the last batch of a pass when it is not full.
  DataLoaderOptions& drop_last(bool value) { drop_last_ = value; return *this; }
  /// Batches that workers may be ahead of the loop; 0: two for each worker.
  DataLoaderOptions& prefetch(size_t value) { prefetch_ = value; return *this; }

  size_t batch_size() const { return batch_size_; }
  size_t workers() const { return workers_; }
  bool drop_last() const { return drop_last_; }
  size_t prefetch() const { return prefetch_; }

 private:
  size_t batch_size_;
  size_t workers_ = 0;
  size_t prefetch_ = 0;
  bool drop_last_ = false;
};

/// One pass over a loader that is under way: its order, its workers, the batch at hand. The order is drawn whole when the pass
/// starts, by the thread that runs the loop, so it does not depend on workers; batches come in that order. Ends its workers
/// when it goes.
class Pass {
 public:
  virtual ~Pass() = default;
  /// Makes the next batch current; false when there is none. What a data set throws for a batch is thrown here.
  virtual bool advance() = 0;
  virtual Batch& batch() = 0;
  /// The slice of the current batch; of the whole batch unless the pass is sharded.
  virtual const Slice& slice() const = 0;
};

/// Batches of a data set in the order of a sampler: `for (auto& batch : loader)`. Every begin() starts a new pass. Inputs are
/// Example tensors, stacked: data [batch, ...], target [batch, ...].
class DataLoader {
 public:
  /// An input iterator; copies are the same pass.
  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = Batch;
    using difference_type = std::ptrdiff_t;
    using pointer = Batch*;
    using reference = Batch&;

    Iterator() = default;
    explicit Iterator(std::shared_ptr<Pass> pass) : pass_(std::move(pass)) { ++*this; }
    Batch& operator*() const { return pass_->batch(); }
    Batch* operator->() const { return &pass_->batch(); }
    Iterator& operator++() {
      if (!pass_->advance()) pass_.reset();
      return *this;
    }
    friend bool operator==(const Iterator& a, const Iterator& b) { return a.pass_ == b.pass_; }
    friend bool operator!=(const Iterator& a, const Iterator& b) { return a.pass_ != b.pass_; }

   private:
    std::shared_ptr<Pass> pass_;  // null at the end
  };

  /// A batch size of 0 throws hvd::Error.
  DataLoader(std::shared_ptr<Dataset> dataset, std::shared_ptr<Sampler> sampler, DataLoaderOptions options);

  Iterator begin() const { return Iterator(start(false)); }
  Iterator end() const { return Iterator(); }
  /// Batches of one pass.
  size_t size() const;
  size_t dataset_size() const { return dataset_->size(); }
  const DataLoaderOptions& options() const { return options_; }
  Sampler& sampler() const { return *sampler_; }
  Dataset& dataset() const { return *dataset_; }

  /// Makes this rank's part of batch number `number` (from 0) of a pass out of the whole of it. Called once for each batch by the
  /// thread that is about to make it; workers are some batches ahead of the loop.
  using Cutter = std::function<BatchIndices(const std::vector<size_t>& whole, size_t number)>;
  /// Starts a pass; `sharded`: over this rank's slices of the batches, which needs a sharded sampler. `cut`: they are not cut by the
  /// sampler at the start, but by this when their turn comes.
  std::unique_ptr<Pass> start(bool sharded, Cutter cut = nullptr) const;

  /// Where the pass that is under way stands, as text for a checkpoint: the random state it was drawn from and the number of samples in
  /// the (whole) batches that the loop has taken. Empty before the first pass and after one that came to its end.
  std::string state() const;
  /// The next pass continues that one: the same order, without the samples taken, in batches of this loader. It leaves the default generator where it stands. An
  /// empty text: the next pass is a new one. A text that is no such state throws hvd::Error.
  void load_state(const std::string& state);

 private:
  struct Progress;

  std::shared_ptr<Dataset> dataset_;
  std::shared_ptr<Sampler> sampler_;
  DataLoaderOptions options_;
  mutable std::shared_ptr<Progress> progress_;   // of the pass under way; null when there is none
  mutable std::shared_ptr<Progress> continued_;  // what the next pass continues, or null
};

namespace detail {

template <class T>
struct is_pointer_to : std::false_type {};
template <class T>
struct is_pointer_to<std::shared_ptr<T>> : std::true_type {};
template <class T, class D>
struct is_pointer_to<std::unique_ptr<T, D>> : std::true_type {};

// A value moves into a shared object of its own; smart pointers hand theirs over.
template <class Base, class T>
std::shared_ptr<Base> shared(T&& thing) {
  using Plain = std::decay_t<T>;
  if constexpr (is_pointer_to<Plain>::value) {
    return std::shared_ptr<Base>(std::forward<T>(thing));
  } else {
    return std::make_shared<Plain>(std::forward<T>(thing));
  }
}

template <class T>
concept sampler_like = std::is_base_of_v<Sampler, T> || (is_pointer_to<T>::value && requires(T t) { static_cast<Sampler&>(*t); });

}  // namespace detail

/// A loader that visits `dataset` in the order of a SamplerT made from its size. Data sets are taken by value (theirs share their
/// samples when copied) or as shared_ptr or unique_ptr.
template <class SamplerT = RandomSampler, class DatasetT>
std::unique_ptr<DataLoader> make_data_loader(DatasetT dataset, DataLoaderOptions options = {}) {
  std::shared_ptr<Dataset> shared = detail::shared<Dataset>(std::move(dataset));
  auto sampler = std::make_shared<SamplerT>(shared->size());
  return std::make_unique<DataLoader>(std::move(shared), std::move(sampler), options);
}

/// The same with a given sampler, by value (the loader has its own copy) or as a smart pointer.
template <class DatasetT, detail::sampler_like SamplerT>
std::unique_ptr<DataLoader> make_data_loader(DatasetT dataset, SamplerT sampler, DataLoaderOptions options = {}) {
  return std::make_unique<DataLoader>(detail::shared<Dataset>(std::move(dataset)), detail::shared<Sampler>(std::move(sampler)), options);
}

}  // namespace hvd::data
