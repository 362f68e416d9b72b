// SPDX-License-Identifier: Apache-2.0
#pragma once

// Loaders of LibTorch: samplers that draw alike on all ranks, and loops over this rank's slices.

#include <deque>
#include <memory>
#include <stdexcept>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <torch/data/dataloader.h>
#include <torch/data/samplers.h>
#include <torch/serialize/archive.h>

#include <hvd/dist/failure.hpp>
#include <hvd/dist/session.hpp>
#include <hvd/torch/batches.hpp>

namespace hvd {

namespace detail {

/// The stream of random numbers that all ranks share becomes the root's. Collective.
void align_draws();

/// The slices of the batches that a loop over `steps` has asked for and not yet got: prefetching workers run ahead of the loop.
class Slices {
 public:
  /// The loop that asks its loader for batches just now, on this thread; null outside of `steps` and on one rank.
  static Slices* asking() noexcept;
  /// `drawing_workers`: threads of the loader's read the data, and may draw random numbers whenever they come to it.
  explicit Slices(bool drawing_workers);
  /// What a sampler hands out becomes this loop's. Samplers draw from the stream that all ranks share, data sets from the rank's own: each
  /// rank reads another number of samples.
  class Asking {
   public:
    explicit Asking(Slices& slices);
    ~Asking();
    Asking(const Asking&) = delete;
    Asking& operator=(const Asking&) = delete;

   private:
    Slices* outer_;
  };

  struct Item {
    Slice slice;
    bool whole;  // the request could not be cut: the batch will be
  };
  void push(Slice slice, bool whole) { items_.push_back({slice, whole}); }
  /// This rank's slice of the next batch to be cut, which has so many rows.
  Slice cut(std::int64_t global_rows);
  /// Of the next batch, which then is the current slice; error when the sampler has said nothing of it.
  Item next();
  void enter(const Slice& slice);
  void leave();
  /// The tensors of a batch that was made of this rank's samples have so many rows: for each sample one, or as many as in the first batch;
  /// error otherwise, for what a rank computes of words or boxes laid one behind another does not add up.
  void check(const std::vector<std::int64_t>& rows, const Slice& slice);
  /// The body of the loop has ended.
  void step_over();
  ~Slices();

 private:
  bool drawing_workers_;
  std::unique_ptr<dist::PassSplits> splits_;
  std::size_t batches_cut_ = 0;
  std::deque<Item> items_;
  std::vector<std::int64_t> per_sample_;  // rows, tensor by tensor
  Slice current_{};
  const Slice* outer_ = nullptr;
  bool inside_ = false, looked_ = false;  // looked_: the operations of the first step have been looked at, for slips of shapes
};

/// The tensor holds samples of the step that has begun.
void note_rows(const at::Tensor& rows);
void note_order(bool ordered, std::size_t workers);

/// Indices of this rank's slice; the loader, which compares their number with the batch size, sees that of the global batch.
class ShardedIndices {
 public:
  ShardedIndices() = default;
  ShardedIndices(std::vector<size_t> mine, size_t global_rows) : mine_(std::move(mine)), global_rows_(global_rows) {}
  size_t size() const noexcept { return global_rows_; }
  // What datasets ask for.
  operator c10::ArrayRef<size_t>() const { return mine_; }
  operator std::vector<size_t>() const { return mine_; }

 private:
  std::vector<size_t> mine_;
  size_t global_rows_ = 0;
};

template <class Request>
struct ShardedRequest {
  using type = Request;
};
template <>
struct ShardedRequest<std::vector<size_t>> {
  using type = ShardedIndices;
};

/// Rows of a batch that was made whole, and a part of them: tensors, examples with and without a target, lists of samples.
template <class D, class T>
std::int64_t rows_of(const torch::data::Example<D, T>& e) {
  return e.data.size(0);
}
inline std::int64_t rows_of(const at::Tensor& t) { return t.size(0); }
template <class T>
std::int64_t rows_of(const std::vector<T>& v) {
  return static_cast<std::int64_t>(v.size());
}
inline at::Tensor cut(const at::Tensor& t, const Slice& s) { return t.narrow(0, s.filler ? 0 : s.first_row, s.local_rows()); }
template <class D, class T>
torch::data::Example<D, T> cut(const torch::data::Example<D, T>& e, const Slice& s) {
  if constexpr (std::is_same_v<T, torch::data::example::NoTarget>) return {cut(e.data, s)};
  else return {cut(e.data, s), cut(e.target, s)};
}
template <class T>
std::vector<T> cut(const std::vector<T>& v, const Slice& s) {
  const auto first = v.begin() + (s.filler ? 0 : s.first_row);
  return std::vector<T>(first, first + s.local_rows());
}

/// All rows of the batch of which `mine` is this rank's slice. Collective.
at::Tensor whole_of(const at::Tensor& mine, const Slice& slice);
template <class D, class T>
torch::data::Example<D, T> whole_of(const torch::data::Example<D, T>& e, const Slice& s) {
  if constexpr (std::is_same_v<T, torch::data::example::NoTarget>) return {whole_of(e.data, s)};
  else return {whole_of(e.data, s), whole_of(e.target, s)};
}

/// The tensors of a batch, as far as its class is known.
template <class Batch>
void note_batch(const Batch&) {}
inline void note_batch(const at::Tensor& t) { note_rows(t); }
template <class D, class T>
void note_batch(const torch::data::Example<D, T>& e) {
  note_batch(e.data);
  if constexpr (!std::is_same_v<T, torch::data::example::NoTarget>) note_batch(e.target);
}
template <class A, class B>
void note_batch(const std::pair<A, B>& both) {
  note_batch(both.first), note_batch(both.second);
}
template <class T>
void note_batch(const std::vector<T>& list) {
  for (const T& each : list) note_batch(each);
}

/// The rows of a batch's tensors, one behind another; nothing of classes of the program's own.
template <class Batch>
void collect_rows(const Batch&, std::vector<std::int64_t>&) {}
inline void collect_rows(const at::Tensor& t, std::vector<std::int64_t>& out) {
  if (t.defined() && t.dim() > 0) out.push_back(t.size(0));
}
template <class D, class T>
void collect_rows(const torch::data::Example<D, T>& e, std::vector<std::int64_t>& out) {
  collect_rows(e.data, out);
  if constexpr (!std::is_same_v<T, torch::data::example::NoTarget>) collect_rows(e.target, out);
}
template <class A, class B>
void collect_rows(const std::pair<A, B>& both, std::vector<std::int64_t>& out) {
  collect_rows(both.first, out), collect_rows(both.second, out);
}
template <class... Parts>
void collect_rows(const std::tuple<Parts...>& parts, std::vector<std::int64_t>& out) {
  std::apply([&](const Parts&... part) { (collect_rows(part, out), ...); }, parts);
}

template <class Batch>
std::vector<std::int64_t> rows_in(const Batch& batch) {
  std::vector<std::int64_t> out;
  collect_rows(batch, out);
  return out;
}

template <class Batch, class = void>
struct HasRows : std::false_type {};
template <class Batch>
struct HasRows<Batch, std::void_t<decltype(rows_of(std::declval<const Batch&>()))>> : std::true_type {};
template <class Batch, class = void>
struct HasWhole : std::false_type {};
template <class Batch>
struct HasWhole<Batch, std::void_t<decltype(whole_of(std::declval<const Batch&>(), std::declval<const Slice&>()))>> : std::true_type {};

}  // namespace detail

/// A sampler that draws what `SamplerT` draws, on all ranks alike; a loop over `hvd::steps(loader)` then takes this rank's slice
/// of every batch. Requests tell the loader the size of the global batch, so that drop_last means what it meant. A loop that does
/// not go through steps() sees whole batches. Constructed like SamplerT.
template <class SamplerT>
class Sharded : public torch::data::samplers::Sampler<typename detail::ShardedRequest<typename SamplerT::BatchRequestType>::type> {
 public:
  using Inner = typename SamplerT::BatchRequestType;
  using BatchRequestType = typename detail::ShardedRequest<Inner>::type;

  Sharded(SamplerT sampler) : sampler_(std::move(sampler)) {}
  template <class First, class... Rest,
            std::enable_if_t<std::is_constructible_v<SamplerT, First, Rest...> && !std::is_base_of_v<Sharded, std::decay_t<First>> &&
                                 !std::is_same_v<std::decay_t<First>, SamplerT>,
                             int> = 0>
  explicit Sharded(First&& first, Rest&&... rest) : sampler_(std::forward<First>(first), std::forward<Rest>(rest)...) {}

  void reset(c10::optional<size_t> new_size = c10::nullopt) override {
    const detail::SharedDraws shared;  // inside a step too: an evaluation that all ranks do alike
    sampler_.reset(new_size);
  }
  c10::optional<BatchRequestType> next(size_t batch_size) override {
    auto request = draw(batch_size);
    if (!request) return c10::nullopt;
    detail::Slices* loop = detail::Slices::asking();
    if constexpr (std::is_same_v<Inner, std::vector<size_t>>) {
      const size_t all = request->size();
      if (!loop) return detail::ShardedIndices(std::move(*request), all);
      const Slice slice = loop->cut(static_cast<std::int64_t>(all));
      loop->push(slice, false);
      const auto first = request->begin() + (slice.filler ? 0 : slice.first_row);
      return detail::ShardedIndices(std::vector<size_t>(first, first + slice.local_rows()), all);
    } else {
      if (loop) loop->push(Slice{}, true);
      return request;
    }
  }
  void save(torch::serialize::OutputArchive& archive) const override { sampler_.save(archive); }
  void load(torch::serialize::InputArchive& archive) override { sampler_.load(archive); }

 private:
  c10::optional<Inner> draw(size_t batch_size) {
    const detail::SharedDraws shared;
    return sampler_.next(batch_size);
  }

  SamplerT sampler_;
};

/// Whether a loader's workers return batches in order: on several ranks, whose slices must meet in one step, always; alone as asked for.
inline bool ordered(bool asked) noexcept { return size() > 1 || asked; }

/// The batches of one pass over a loader, each this rank's slice of a global batch. While the body of the loop runs, the slice is
/// the context's current one; before the next batch is fetched, at the end, at `break` and when an exception leaves the loop,
/// the one from outside the loop is back. With one rank it is the loader's own range.
template <class Loader>
class Steps {
 public:
  using Batch = typename Loader::BatchType;
  using Inner = decltype(std::declval<Loader&>().begin());

  struct End {};
  class Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = Batch;
    using difference_type = std::ptrdiff_t;
    using pointer = Batch*;
    using reference = Batch&;

    explicit Iterator(Loader& loader) : end_(loader.end()), at_(loader.end()) {
      if (size() == 1) {
        at_ = loader.begin();
        return;
      }
      slices_ = std::make_shared<detail::Slices>(loader.options().workers > 0);
      detail::note_order(loader.options().enforce_ordering, loader.options().workers);
      const detail::Slices::Asking asking(*slices_);
      at_ = loader.begin();
    }
    Batch& operator*() {
      fetch();
      return slices_ && cut_ ? *cut_ : *at_;
    }
    Batch* operator->() { return &**this; }
    Iterator& operator++() {
      fetch();
      fetched_ = false;
      cut_.reset();
      if (!slices_) return ++at_, *this;
      slices_->step_over();
      const detail::Slices::Asking asking(*slices_);
      ++at_;
      return *this;
    }
    friend bool operator!=(const Iterator& a, const End&) { return !a.done(); }

   private:
    // The loader fetches its first batch when it is compared with the end.
    bool done() const {
      if (!slices_) return at_ == end_;
      const detail::Slices::Asking asking(*slices_);
      return at_ == end_;
    }
    void fetch() {
      if (!slices_ || fetched_) return;
      fetched_ = true;
      const detail::Slices::Item item = slices_->next();
      if (!item.whole) {
        slices_->check(detail::rows_in(*at_), item.slice);
        slices_->enter(item.slice);
        detail::note_batch(*at_);
        return;
      }
      // Classes of the program's own are put together from this rank's samples, where samples are asked for one by one.
      if constexpr (detail::HasRows<Batch>::value) {
        const Batch& whole = *at_;
        const Slice slice = slices_->cut(detail::rows_of(whole));
        cut_ = std::make_shared<Batch>(detail::cut(whole, slice));
        slices_->enter(slice);
        detail::note_batch(*cut_);
      } else {
        throw dist::Failure<std::runtime_error>("steps: the data set makes whole batches of a class whose rows are not known; give a data set whose samples are numbered");
      }
    }

    std::shared_ptr<detail::Slices> slices_;  // null on one rank
    std::shared_ptr<Batch> cut_;
    bool fetched_ = false;
    Inner end_, at_;
  };

  explicit Steps(Loader& loader) : loader_(&loader) {}
  Iterator begin() const { return Iterator(*loader_); }
  End end() const { return {}; }

 private:
  Loader* loader_;
};

/// `for (auto& batch : hvd::steps(loader))`. The loader, given itself or by whatever pointer, must outlive the loop; its sampler
/// must be a hvd::Sharded one (std::runtime_error otherwise, at the first batch). Local.
template <class Loader, class = typename Loader::BatchRequestType>
Steps<Loader> steps(Loader& loader) {
  return Steps<Loader>(loader);
}
template <class Pointer, class Loader = std::decay_t<decltype(*std::declval<Pointer&>())>>
Steps<Loader> steps(Pointer&& loader) {
  return Steps<Loader>(*loader);
}

}  // namespace hvd
