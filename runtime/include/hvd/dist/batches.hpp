// SPDX-License-Identifier: Apache-2.0
#pragma once

// Batches of hand-written loops, for tensors of the training core.

#include <utility>

#include <hvd/data/dataset.hpp>
#include <hvd/dist/slices.hpp>
#include <hvd/tensor.hpp>

namespace hvd {

namespace detail {
Tensor shard_tensor(const Tensor& whole);
}

/// This rank's rows (dimension 0) of a tensor that holds a whole global batch. No rows for this rank: row 0 as a filler. All calls of
/// a step must agree on the number of rows. Outside of any step: the whole tensor. Errors: an empty batch, another number of rows. Local.
inline Tensor shard(const Tensor& whole) { return detail::shard_tensor(whole); }

/// The rows of both parts of an example.
inline data::Example shard(const data::Example& whole) { return {hvd::shard(whole.data), whole.target.defined() ? hvd::shard(whole.target) : whole.target}; }

template <class A, class B>
std::pair<A, B> shard(const std::pair<A, B>& whole) {
  return {hvd::shard(whole.first), hvd::shard(whole.second)};
}

/// `whole_draw().shard(randn({b, n}))`: the draw is made for the whole batch, alike on all ranks, and this rank's rows are taken.
/// `whole_draw().keep(randint(...))`: made alike on all ranks, inside a step too. Local.
class WholeDraw {
 public:
  template <class T>
  auto shard(const T& whole) {
    draws_.done();
    return hvd::shard(whole);
  }
  template <class T>
  T keep(T value) {
    draws_.done();
    return value;
  }

 private:
  detail::SharedDraws draws_;
};
inline WholeDraw whole_draw() { return {}; }

}  // namespace hvd
