// SPDX-License-Identifier: Apache-2.0
#pragma once

// Batches of hand-written loops, for LibTorch's tensors and examples.

#include <tuple>
#include <utility>

#include <torch/data/example.h>
#include <torch/types.h>

#include <hvd/dist/slices.hpp>

namespace hvd {

namespace detail {
at::Tensor shard_tensor(const at::Tensor& whole, int64_t dim, bool own = false);
at::Tensor& carry_state(at::Tensor& state, int64_t dim);
at::Tensor global_like(const at::Tensor& rows);
at::Tensor squeeze_rows(const at::Tensor& rows);
at::Tensor& squeeze_rows_in_place(at::Tensor& rows);
}

/// This rank's samples, along dimension `dim`, of a tensor that holds a whole global batch. None for this rank: sample 0 as a filler. All
/// calls of a step must agree on the number of samples. Outside of any step: the whole tensor. Errors: an empty batch, another number of
/// samples. Local.
inline at::Tensor shard(const at::Tensor& whole, int64_t dim = 0) { return detail::shard_tensor(whole, dim); }
/// The same for what may have another number of rows than the step's batch: it is whole on every rank then.
inline at::Tensor shard(const at::Tensor& whole, OwnRows) { return detail::shard_tensor(whole, 0, true); }

/// The rows of both parts of an example.
template <class Data, class Target>
torch::data::Example<Data, Target> shard(const torch::data::Example<Data, Target>& whole) {
  return {hvd::shard(whole.data), hvd::shard(whole.target)};
}
template <class Data>
torch::data::Example<Data, torch::data::example::NoTarget> shard(const torch::data::Example<Data, torch::data::example::NoTarget>& whole) {
  return {hvd::shard(whole.data)};
}
template <class A, class B>
std::pair<A, B> shard(const std::pair<A, B>& whole) {
  return {hvd::shard(whole.first), hvd::shard(whole.second)};
}
template <class... Parts>
std::tuple<Parts...> shard(const std::tuple<Parts...>& whole) {
  return std::apply([](const auto&... each) { return std::tuple<Parts...>(hvd::shard(each)...); }, whole);
}

/// A tensor with the extents of the global batch where `rows` has this rank's, of its type, device and order in memory; what it holds
/// is not set. For what is made in the shape of another tensor: `whole_draw().shard(rand_like(global_like(rows)))`. Outside of any
/// step: `rows`. Local.
inline at::Tensor global_like(const at::Tensor& rows) { return detail::global_like(rows); }

/// `rows.squeeze()` as it is for the global batch: drops every dimension of extent one, the first only when the global batch has one
/// row. Outside of any step: `rows.squeeze()`. Local.
inline at::Tensor squeeze(const at::Tensor& rows) { return detail::squeeze_rows(rows); }
/// The same for `rows.squeeze_()`: changes the tensor, and returns it.
inline at::Tensor squeeze_(at::Tensor rows) { return detail::squeeze_rows_in_place(rows); }

/// A state that steps hand on, with its samples along dimension `dim`: where it still has the rows of the whole batch, as in front of the first
/// step, it is cut to this rank's (in place: the variable has them from then on); where it has this rank's, it stays. No rows for this rank: row 0
/// as a filler. Outside of any step, and in one whose batch is not there yet: the state as it is. Errors: another number of rows. Local.
inline at::Tensor& carried(at::Tensor& state, int64_t dim = 0) { return detail::carry_state(state, dim); }
template <class A, class B>
std::pair<A, B>& carried(std::pair<A, B>& states, int64_t dim = 0) {
  hvd::carried(states.first, dim), hvd::carried(states.second, dim);
  return states;
}
template <class... States>
std::tuple<States...>& carried(std::tuple<States...>& states, int64_t dim = 0) {
  std::apply([&](auto&... each) { (hvd::carried(each, dim), ...); }, states);
  return states;
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
  auto shard(const T& whole, OwnRows own) {
    draws_.done();
    return hvd::shard(whole, own);
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
