// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hvd/data/dataset.hpp>

#include <memory>
#include <utility>

namespace hvd::data {

namespace transforms {

/// data -> (data - mean) / deviation, element by element.
class Normalize {
 public:
  /// A deviation of 0 throws hvd::Error.
  Normalize(double mean, double deviation);
  Example operator()(Example example) const;
  /// Does to a batch what it does to each of its samples.
  static constexpr bool whole_batches = true;

 private:
  double mean_;
  double deviation_;
};

}  // namespace transforms
using transforms::Normalize;

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
