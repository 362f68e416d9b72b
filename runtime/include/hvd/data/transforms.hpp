// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hvd/data/dataset.hpp>

#include <functional>
#include <memory>
#include <type_traits>
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

/// Example -> Example, for each sample or, where `whole_batches`, for a batch at once.
struct Transform {
  std::function<Example(Example)> apply;
  bool whole_batches = false;
};

namespace datasets {

/// A data set seen through a transform; the samples are computed when they are asked for.
class Mapped;

/// What the data sets of this library have besides: transforms. Copies of a data set share its samples.
template <class Self>
class Mappable : public Dataset {
 public:
  /// The data set whose samples are `function(sample)`; `function` takes and returns an Example.
  template <class F>
  Mapped map(F function) const;
  /// The first `count` samples; all of them if there are fewer.
  Mapped take(size_t count) const;
};

class Mapped : public Mappable<Mapped> {
 public:
  Mapped(std::shared_ptr<Dataset> base, Transform transform, size_t count);
  Example get(size_t index) override;
  Batch get_batch(const std::vector<size_t>& indices) override;
  size_t size() const override { return count_; }

 private:
  std::shared_ptr<Dataset> base_;
  Transform transform_;
  size_t count_;
};

}  // namespace datasets

/// As the member functions, for data sets behind a pointer (open_digits_or) or written by the user.
template <class F>
datasets::Mapped map(std::shared_ptr<Dataset> dataset, F function) {
  const size_t count = dataset->size();
  constexpr bool whole = requires { F::whole_batches; };
  return datasets::Mapped(std::move(dataset), Transform{std::move(function), whole}, count);
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
