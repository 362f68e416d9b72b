// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hvd/data/dataset.hpp>

#include <memory>
#include <utility>
#include <vector>

namespace hvd::data {

namespace transforms {

/// data -> (data - mean) / deviation, element by element or with a mean and a deviation for each channel of [channels, rows, cols].
class Normalize {
 public:
  /// A deviation of 0 and lists of different lengths throw hvd::Error.
  Normalize(double mean, double deviation);
  Normalize(std::vector<double> mean, std::vector<double> deviation);
  Example operator()(Example example) const;
  /// Does to a batch what it does to each of its samples.
  static constexpr bool whole_batches = true;

 private:
  std::vector<double> mean_;
  std::vector<double> deviation_;
};

// Augmentations of data [channels, rows, cols]. Their draws come from the stream of the sample (see Dataset::get_batch): they
// depend on the seed, the pass and the sample's place in it, not on workers or ranks.

/// A part of `rows` x `cols` of the image with `padding` zeros around it, at a place that is drawn.
class RandomCrop {
 public:
  RandomCrop(int64_t rows, int64_t cols, int64_t padding = 0) : rows_(rows), cols_(cols), padding_(padding) {}
  Example operator()(Example example) const;

 private:
  int64_t rows_, cols_, padding_;
};

/// Left and right exchanged, with probability p.
class RandomHorizontalFlip {
 public:
  explicit RandomHorizontalFlip(double p = 0.5) : p_(p) {}
  Example operator()(Example example) const;

 private:
  double p_;
};

}  // namespace transforms
using transforms::Normalize;
using transforms::RandomCrop;
using transforms::RandomHorizontalFlip;

namespace detail {

// A user's function behind a virtual call: std::function would double what a compiler reads for this header.
class Transform {
 public:
  explicit Transform(bool whole_batches) : whole_batches_(whole_batches) {}
  virtual ~Transform() = default;
  virtual Example apply(Example example) = 0;
  bool whole_batches() const { return whole_batches_; }

 private:
  bool whole_batches_;
};

template <class F>
class FunctionTransform : public Transform {
 public:
  explicit FunctionTransform(F function) : Transform(requires { F::whole_batches; }), function_(std::move(function)) {}
  Example apply(Example example) override { return function_(std::move(example)); }

 private:
  F function_;
};

}  // namespace detail

namespace datasets {

class Mapped;

/// What the data sets of this library have besides: transforms. Copies of a data set share its samples.
template <class Self>
class Mappable : public Dataset {
 public:
  /// The data set whose samples are `function(sample)`; `function` takes and returns an Example. With a loader that has
  /// workers it is called from several threads at a time.
  template <class F>
  Mapped map(F function) const;
  /// The first `count` samples; all of them if there are fewer.
  Mapped take(size_t count) const;
};

/// A data set seen through a transform; samples are computed when they are asked for.
class Mapped : public Mappable<Mapped> {
 public:
  Mapped(std::shared_ptr<Dataset> base, std::shared_ptr<detail::Transform> transform, size_t count);
  Example get(size_t index) override;
  Batch get_batch(const std::vector<size_t>& indices) override;
  size_t size() const override { return count_; }

 private:
  std::shared_ptr<Dataset> base_;
  std::shared_ptr<detail::Transform> transform_;  // null: the samples as they are
  size_t count_;
};

}  // namespace datasets

/// As the member functions, for data sets behind a pointer (open_digits_or) or written by the user.
template <class F>
datasets::Mapped map(std::shared_ptr<Dataset> dataset, F function) {
  const size_t count = dataset->size();
  return datasets::Mapped(std::move(dataset), std::make_shared<detail::FunctionTransform<F>>(std::move(function)), count);
}
datasets::Mapped take(std::shared_ptr<Dataset> dataset, size_t count);

template <class Self>
template <class F>
datasets::Mapped datasets::Mappable<Self>::map(F function) const {
  return data::map(std::make_shared<Self>(static_cast<const Self&>(*this)), std::move(function));
}

template <class Self>
datasets::Mapped datasets::Mappable<Self>::take(size_t count) const {
  return data::take(std::make_shared<Self>(static_cast<const Self&>(*this)), count);
}

}  // namespace hvd::data
