// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hvd/tensor.hpp>

#include <cstddef>
#include <vector>

namespace hvd::data {

/// One sample, or a batch of samples stacked along a new first dimension.
struct Example {
  Tensor data;
  Tensor target;
};

using Batch = Example;

/// A finite set of samples. To write one, derive from it and define get and size. With a loader that has workers, get is
/// called from several threads at a time and must bear that.
class Dataset {
 public:
  virtual ~Dataset() = default;

  /// Sample `index`, 0 <= index < size().
  virtual Example get(size_t index) = 0;
  virtual size_t size() const = 0;

  /// The samples of a batch, stacked in the order of `indices` (at least one). Every sample draws its random numbers from a
  /// stream of its own, keyed by its row in the global batch: an augmentation in get depends neither on the number of
  /// workers nor on that of ranks. Override it where a whole batch can be made at once.
  virtual Batch get_batch(const std::vector<size_t>& indices);

 protected:
  Dataset() = default;
  Dataset(const Dataset&) = default;
  Dataset& operator=(const Dataset&) = default;
};

}  // namespace hvd::data
