// SPDX-License-Identifier: Apache-2.0
#include <hvd/dist/failure.hpp>
#include <hvd/torch/numbers.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include <hvd/context.hpp>
#include <hvd/dist/loss_kind.hpp>
#include <hvd/torch/loaders.hpp>
#include <torch/csrc/autograd/custom_function.h>

#include "over_ranks.hpp"
#include "state.hpp"

namespace hvd::detail {

namespace {

using dist::Rank;
using torch_binding::scaled_sum;
using torch_binding::with_gradient_of_mean;
using torch_binding::with_gradient_of_rows;

Rank& in_step() { return dist::require_rank("a number of a step"); }
const Slice& slice() { return *context().current_slice; }

// An extreme of the whole batch, made from `mine`, is shown or decided on. As part of a loss it would cut off the gradient that the program
// has there, without a word: a backward pass through it is an error.
at::Tensor without_gradient(const at::Tensor& whole, const at::Tensor& mine, const dist::OpName& name) {
  if (!mine.requires_grad() || !at::GradMode::is_enabled()) return whole;
  at::Tensor leaf = whole.detach().requires_grad_(true);
  leaf.register_hook([text = dist::lost_gradient(name)](const at::Tensor&) { throw dist::Failure<std::invalid_argument>(text); });
  return leaf.clone();  // of which in-place operations are allowed
}

at::Tensor integer_sum(const at::Tensor& t, bool takes_part, const dist::OpName& name) {
  const at::NoGradGuard no_grad;
  at::Tensor sum = t.detach().to(at::kCPU, at::kLong).contiguous().clone();
  if (!takes_part) sum.zero_();
  in_step().comm->allreduce(sum.data_ptr(), static_cast<std::size_t>(sum.numel()), dist::DataType::int64, dist::ReduceOp::sum, name);
  return sum.to(t.options());
}

double row_weight() {
  return slice().filler ? 0 : static_cast<double>(slice().rows) / static_cast<double>(slice().global_rows);
}

// The number of the whole batch, for which this rank's stands in the backward pass.
struct Whole : torch::autograd::Function<Whole> {
  static at::Tensor forward(torch::autograd::AutogradContext* saved, const at::Tensor& /*mine*/, const at::Tensor& whole, double scale) {
    saved->saved_data["scale"] = scale;
    return whole.clone();
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* saved, torch::autograd::variable_list gradients) {
    return {gradients[0] * saved->saved_data["scale"].toDouble(), at::Tensor(), at::Tensor()};
  }
};

// Extrema, and whatever else is no plain sum.
at::Tensor combine_numbers(const at::Tensor& mine, Combine how, const dist::OpName& op) {
  const at::NoGradGuard no_grad;
  const bool real = mine.is_floating_point();
  const at::Tensor flat = mine.detach().to(at::kCPU, real ? at::kDouble : at::kLong).contiguous().clone();
  std::vector<Number> numbers(static_cast<std::size_t>(flat.numel()));
  for (std::size_t i = 0; i < numbers.size(); ++i)
    numbers[i] = real ? to_number(flat.data_ptr<double>()[i]) : to_number(flat.data_ptr<int64_t>()[i]);
  dist::combine_numbers(in_step(), numbers.data(), numbers.size(), how, !slice().filler, op);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (real) flat.data_ptr<double>()[i] = numbers[i].real;
    else flat.data_ptr<int64_t>()[i] = numbers[i].integer;
  }
  return flat.to(mine.options());
}

}  // namespace

at::Tensor combine_in_step(const at::Tensor& mine, Combine how, const char* name, CallSite site) {
  const dist::OpName op = dist::op_name(name, site);
  if (how == Combine::sum) refuse_beside_whole(name);
  if (how == Combine::sum && !mine.is_floating_point()) return integer_sum(mine, !slice().filler, op);
  if (how == Combine::sum) return with_gradient_of_mean(scaled_sum(mine, slice().filler ? 0 : 1, op), mine, slice().filler ? 0 : 1, op);
  return without_gradient(combine_numbers(mine, how, op), mine, op);
}

at::Tensor mean_in_step(const at::Tensor& mine, CallSite site) {
  const dist::OpName op = dist::op_name("batch_mean", site);
  return with_gradient_of_mean(scaled_sum(mine, row_weight(), op), mine, row_weight(), op);
}

at::Tensor with_grad_in_step(const at::Tensor& mine, bool sum, CallSite site) {
  const double weight = row_weight();
  if (sum) refuse_beside_whole("batch_sum_with_grad");
  const at::Tensor whole = scaled_sum(mine, sum ? (slice().filler ? 0 : 1) : weight, dist::op_name(sum ? "batch_sum_with_grad" : "batch_mean_with_grad", site));
  return Whole::apply(mine, whole, !sum ? 1.0 : weight == 0 ? 0.0 : 1 / weight);
}

at::Tensor count_mean_in_step(const at::Tensor& mine, double count, CallSite site) {
  const dist::OpName op = dist::op_name("batch_count_mean", site);
  const double here = slice().filler ? 0 : count;
  const double all = dist::sum_over_ranks(in_step(), here, op);
  // Nothing counted at all: the program divides zero by zero, and so does this.
  const double share = slice().filler ? 0 : all == 0 ? 1.0 / in_step().size() : here / all;
  return with_gradient_of_mean(scaled_sum(mine, share, op), mine, share, op);
}

at::Tensor counted_mean(const at::Tensor& mine, double count, CallSite site) {
  const double factor = counted_factor(count, site);
  if (factor != 0) return mine * factor;
  // Zero divided by zero here, but not on other ranks: this rank has nothing to say, and no gradient.
  return at::zeros_like(mine).detach().requires_grad_(mine.requires_grad());
}

at::Tensor counted_number(const at::Tensor& mine, double count, CallSite site) {
  at::Tensor number = counted_mean(mine, count, site);
  if (number.requires_grad())
    number.register_hook([](const at::Tensor&) { throw dist::Failure<std::invalid_argument>(kGradedDivisor); });
  return number;
}

void sum_tensor(at::Tensor& tensor) {
  const Rank* rank = dist::this_rank();
  if (!rank || rank->size() == 1) return;
  const at::NoGradGuard no_grad;
  const dist::OpName op{"all_reduce_sum"};
  tensor.detach().copy_(tensor.is_floating_point() ? scaled_sum(tensor, 1, op) : integer_sum(tensor, true, op));
}

namespace {

// `each`: rows of the tensor for each sample.
at::Tensor rows_of_all(const at::Tensor& rows, const Slice& slice, int64_t each, const dist::OpName& name) {
  const at::NoGradGuard no_grad;
  const at::Tensor mine = rows.detach().to(at::kCPU).contiguous();
  std::vector<int64_t> sizes = rows.sizes().vec();
  sizes[0] = each * slice.global_rows;
  const at::Tensor all = at::empty(sizes, mine.options());
  const std::size_t row_bytes = mine.nbytes() / static_cast<std::size_t>(slice.local_rows());
  Rank& rank = in_step();
  std::vector<std::size_t> counts;
  for (int r = 0; r < rank.size(); ++r)
    counts.push_back(static_cast<std::size_t>(dist::slice_of(slice, r).rows) * row_bytes);
  rank.comm->allgatherv(mine.data_ptr(), all.data_ptr(), counts, dist::DataType::uint8, name);
  return all.to(rows.device());
}

}  // namespace

at::Tensor whole_of(const at::Tensor& mine, const Slice& slice) {
  if (mine.dim() == 0 || mine.size(0) != slice.local_rows())
    throw dist::Failure<std::runtime_error>("batches: a batch of this rank's has " + std::to_string(slice.local_rows()) + " rows, and a tensor of it another number");
  return rows_of_all(mine, slice, 1, {"batches: rows beside the batch"});
}

at::Tensor gather_rows(const at::Tensor& rows, CallSite site) {
  if (rows.dim() == 0) throw dist::Failure<std::runtime_error>("gather: a tensor with one entry per sample is needed, this one has no dimension");
  const int64_t local = slice().local_rows();
  refuse_beside_whole("gather", rows.size(0));
  if (rows.size(0) == 0 || rows.size(0) % local != 0)
    throw dist::Failure<std::runtime_error>("gather: " + std::to_string(rows.size(0)) + " entries for a slice of " + std::to_string(local) + " rows");
  const int64_t each = rows.size(0) / local;
  const dist::OpName op = dist::op_name("gather", site);
  return with_gradient_of_rows(rows_of_all(rows, slice(), each, op), rows, slice(), each, op);
}

at::Tensor shard_tensor(const at::Tensor& whole, int64_t dim, bool own) {
  const Rank* rank = dist::this_rank();
  if (!rank || rank->size() == 1) return whole;
  if (!whole.defined() || dim < 0 || whole.dim() <= dim) throw dist::Failure<std::runtime_error>("shard: a tensor with a batch dimension is needed");
  const Rows rows = own ? shard_own_rows(whole.size(dim), "shard") : shard_rows(whole.size(dim), "shard");
  torch_binding::NumberPairs& pairs = torch_binding::state(*dist::this_rank()).pairs;
  pairs.refuse();
  if (rank->scope) pairs.hand_step(rank->batches, rows.count);
  // Data are a tensor of their own for autograd, as they are for the program: a view cannot be detached in place.
  const auto part = [&] { return whole.narrow(dim, rows.first, rows.count); };
  const auto own_part = [&] {
    const at::AutoDispatchBelowADInplaceOrView untracked;
    return part();
  };
  const at::Tensor mine = whole.requires_grad() || whole.is_inference() ? part() : own_part();
  if (dim == 0) pairs.note(mine);
  return mine;
}

at::Tensor& carry_state(at::Tensor& state, int64_t dim) {
  if (!state.defined() || dim >= state.dim()) return state;
  if (const auto rows = carried_rows(state.sizes().vec(), dim)) state = state.narrow(dim, rows->first, rows->count).clone();
  return state;
}

at::Tensor global_like(const at::Tensor& rows) {
  if (!in_sharded_step() || rows.dim() == 0) return rows;
  std::vector<std::int64_t> sizes = rows.sizes().vec(), strides(sizes.size()), order(sizes.size());
  sizes[0] = global(sizes[0]);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) { return rows.stride(a) > rows.stride(b); });
  std::int64_t step = 1;
  for (auto d = order.rbegin(); d != order.rend(); ++d) {
    strides[static_cast<std::size_t>(*d)] = step;
    step *= std::max<std::int64_t>(sizes[static_cast<std::size_t>(*d)], 1);
  }
  return at::empty_strided(sizes, strides, rows.options());
}

at::Tensor squeeze_rows(const at::Tensor& rows) {
  const Slice* slice = current_slice();
  const bool oneOfSeveral = slice && slice->global_rows > 1 && rows.dim() > 0 && rows.size(0) == 1;
  return oneOfSeveral ? rows.squeeze().unsqueeze(0) : rows.squeeze();
}

at::Tensor& squeeze_rows_in_place(at::Tensor& rows) {
  const Slice* slice = current_slice();
  const bool oneOfSeveral = slice && slice->global_rows > 1 && rows.dim() > 0 && rows.size(0) == 1;
  rows.squeeze_();
  if (oneOfSeveral) rows.unsqueeze_(0);
  return rows;
}

}  // namespace hvd::detail
