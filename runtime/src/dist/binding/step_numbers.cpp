// SPDX-License-Identifier: Apache-2.0

// Numbers of a step: what this rank's slice contributes to the value for the global batch.

#include <hvd/dist/batches.hpp>
#include <hvd/dist/failure.hpp>
#include <hvd/dist/numbers.hpp>

#include <cstring>
#include <stdexcept>
#include <string>

#include <hvd/context.hpp>
#include <hvd/core/error.hpp>

#include "../exchange.hpp"
#include "core/node.hpp"
#include "core/tensor_impl.hpp"
#include "over_ranks.hpp"

namespace hvd::detail {

namespace {

using dist::Rank;
using dist::scaled_sum;
using dist::with_gradient_of_mean;

Rank& in_step() { return dist::require_rank("a number of a step"); }
const Slice& slice() { return *context().current_slice; }

Tensor integer_sum(const Tensor& t, bool takes_part, const dist::OpName& name) {
  if (t.dtype() != kInt64) throw dist::Failure<Error>(std::string(name.name) + ": a sum of dtype " + dtype_name(t.dtype()));
  const Tensor here = core::host_copy(t), sum = takes_part ? here.clone().contiguous() : zeros_like(here).contiguous();
  in_step().comm->allreduce(sum.data_ptr<int64_t>(), static_cast<std::size_t>(sum.numel()), dist::DataType::int64,
                            dist::ReduceOp::sum, name);
  return sum.to(t.device());
}

// An extreme of the whole batch, made from `mine`, is shown or decided on. As part of a loss it would cut off the gradient that the program
// has there, without a word: a backward pass through it is an error.
Tensor without_gradient(const Tensor& whole, const Tensor& mine, const dist::OpName& name) {
  if (!autograd::recording({&mine})) return whole;
  return autograd::record(name.name, whole, {mine}, {},
                          [text = dist::lost_gradient(name)](const autograd::Node&, const Tensor&) -> std::vector<Tensor> { throw dist::Failure<Error>(text); });
}

// Extrema, and whatever else is no plain sum.
Tensor combine_numbers(const Tensor& mine, Combine how, const dist::OpName& op) {
  const NoGradGuard no_grad;
  const bool real = mine.is_floating_point();
  const Tensor flat = core::host_copy(mine).to(real ? kFloat64 : kInt64).contiguous();
  std::vector<Number> numbers(static_cast<std::size_t>(flat.numel()));
  for (std::size_t i = 0; i < numbers.size(); ++i)
    numbers[i] = real ? to_number(flat.data_ptr<double>()[i]) : to_number(flat.data_ptr<int64_t>()[i]);
  dist::combine_numbers(in_step(), numbers.data(), numbers.size(), how, !slice().filler, op);
  const Tensor result = empty_like(flat);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (real) result.data_ptr<double>()[i] = numbers[i].real;
    else result.data_ptr<int64_t>()[i] = numbers[i].integer;
  }
  return result.to(mine.device(), mine.dtype());
}

double row_weight() {
  return slice().filler ? 0 : static_cast<double>(slice().rows) / static_cast<double>(slice().global_rows);
}

// n_r / sum n; nothing counted at all: the program divides zero by zero, and so does this.
double count_weight(double count, const dist::OpName& name) {
  const double mine = slice().filler ? 0 : count;
  const double all = dist::sum_over_ranks(in_step(), mine, name);
  if (slice().filler) return 0;
  return all == 0 ? 1.0 / in_step().size() : mine / all;
}

}  // namespace

bool in_sharded_step() noexcept {
  const Rank* rank = dist::this_rank();
  return rank && rank->size() > 1 && context().current_slice;
}

Number combine_in_step(Number mine, Combine how, const char* name, CallSite site) {
  if (how == Combine::sum) refuse_beside_whole(name);
  dist::combine_numbers(in_step(), &mine, 1, how, !slice().filler, dist::op_name(name, site));
  return mine;
}

std::int64_t common_in_step(std::int64_t mine, CallSite site) {
  const dist::OpName op = dist::op_name("batch_common", site);
  Number ends[] = {to_number(mine), to_number(-mine)};
  dist::combine_numbers(in_step(), ends, 2, Combine::max, !slice().filler, op);
  const std::int64_t largest = ends[0].integer, smallest = -ends[1].integer;
  if (largest == smallest) return largest;
  throw dist::Failure<std::runtime_error>(
      std::string(site.file) + ":" + std::to_string(site.line) + ": batch_common: the samples of this batch are not alike on all ranks: this extent is " +
      std::to_string(smallest) + " on one rank and " + std::to_string(largest) + " on another, and ranks that take different numbers of steps would wait "
      "for each other for ever (give all batches one length, or fill up to the longest sample of the data set)");
}

Tensor combine_in_step(const Tensor& mine, Combine how, const char* name, CallSite site) {
  const dist::OpName op = dist::op_name(name, site);
  if (how == Combine::sum) refuse_beside_whole(name);
  if (how == Combine::sum && !mine.is_floating_point()) return integer_sum(mine, !slice().filler, op);
  if (how == Combine::sum) return with_gradient_of_mean(scaled_sum(mine, slice().filler ? 0 : 1, op), mine, slice().filler ? 0 : 1, op);
  return without_gradient(combine_numbers(mine, how, op), mine, op);
}

Tensor mean_in_step(const Tensor& mine, CallSite site) {
  const dist::OpName op = dist::op_name("batch_mean", site);
  return with_gradient_of_mean(scaled_sum(mine, row_weight(), op), mine, row_weight(), op);
}

Tensor with_grad_in_step(const Tensor& mine, bool sum, CallSite site) {
  const char* name = sum ? "batch_sum_with_grad" : "batch_mean_with_grad";
  const double weight = row_weight(), scale = !sum ? 1.0 : weight == 0 ? 0.0 : 1 / weight;
  if (sum) refuse_beside_whole(name);
  const Tensor whole = scaled_sum(mine, sum ? (slice().filler ? 0 : 1) : weight, dist::op_name(name, site));
  if (!autograd::recording({&mine})) return whole;
  return autograd::record(name, whole, {mine}, {}, [scale](const autograd::Node&, const Tensor& gradient) -> std::vector<Tensor> { return {gradient * scale}; });
}

double mean_in_step(double mine, CallSite site) {
  const double weight = row_weight();
  return dist::sum_over_ranks(in_step(), weight == 0 ? 0 : weight * mine, dist::op_name("batch_mean", site));
}

double count_mean_in_step(double mine, double count, CallSite site) {
  const dist::OpName op = dist::op_name("batch_count_mean", site);
  const double weight = count_weight(count, op);
  return dist::sum_over_ranks(in_step(), weight == 0 ? 0 : weight * mine, op);
}

Tensor count_mean_in_step(const Tensor& mine, double count, CallSite site) {
  const dist::OpName op = dist::op_name("batch_count_mean", site);
  const double weight = count_weight(count, op);
  return with_gradient_of_mean(scaled_sum(mine, weight, op), mine, weight, op);
}

double row_share() {
  refuse_beside_whole("share_of");
  return row_weight();
}

double counted_factor(double count, CallSite site) {
  const double weight = count_weight(count, dist::op_name("counted_mean", site));
  return slice().filler ? 1 : weight / row_weight();
}

Tensor counted_mean(const Tensor& mine, double count, CallSite site) {
  const double factor = counted_factor(count, site);
  if (factor != 0) return mine * factor;
  // Zero divided by zero here, but not on other ranks: this rank has nothing to say, and no gradient.
  return zeros_like(mine).requires_grad_(mine.requires_grad());
}

std::int64_t global_multiple(std::int64_t n) {
  const std::int64_t local = slice().local_rows();
  refuse_beside_whole("global", n);
  if (n % local != 0)
    throw dist::Failure<Error>("global: " + std::to_string(n) + " is not a multiple of the " + std::to_string(local) + " rows of this rank's slice");
  return n / local * slice().global_rows;
}

double global_multiple(double n) {
  refuse_beside_whole("global");
  return n / static_cast<double>(slice().local_rows()) * static_cast<double>(slice().global_rows);
}

void sum_tensor(Tensor& tensor) {
  const Rank* rank = dist::this_rank();
  if (!rank || rank->size() == 1) return;
  const NoGradGuard no_grad;
  const dist::OpName op{"all_reduce_sum"};
  tensor.detach().copy_(tensor.is_floating_point() ? scaled_sum(tensor, 1, op) : integer_sum(tensor, true, op));
}

namespace {

// How many entries each sample has.
std::int64_t entries_per_row(std::int64_t entries) {
  refuse_beside_whole("gather", entries);
  if (entries <= 0 || entries % slice().local_rows() != 0)
    throw dist::Failure<Error>("gather: " + std::to_string(entries) + " entries for a slice of " + std::to_string(slice().local_rows()) + " rows");
  return entries / slice().local_rows();
}

// The slices are a function of the ranks: everybody knows how much everybody sends.
void gather_bytes(const void* mine, void* all, std::size_t row_bytes, const Slice& slice, const dist::OpName& name) {
  Rank& rank = in_step();
  std::vector<std::size_t> counts;
  for (int r = 0; r < rank.size(); ++r)
    counts.push_back(static_cast<std::size_t>(dist::slice_of(slice, r).rows) * row_bytes);
  rank.comm->allgatherv(mine, all, counts, dist::DataType::uint8, name);
}

// `each`: rows of the tensor for each sample.
Tensor rows_of_all(const Tensor& rows, const Slice& slice, std::int64_t each, const dist::OpName& name) {
  const NoGradGuard no_grad;
  const Tensor mine = core::host_copy(rows).contiguous();
  std::vector<int64_t> sizes = rows.sizes();
  sizes[0] = slice.global_rows * each;
  const Tensor all = core::make_for_host(sizes, rows.dtype(), rows.device());
  const auto row_bytes = static_cast<std::size_t>(mine.numel() / slice.local_rows()) * dtype_size(mine.dtype());
  gather_bytes(mine.raw_data(), all.raw_data(), row_bytes, slice, name);
  return all.to(rows.device());
}

}  // namespace

Tensor gather_rows(const Tensor& rows, CallSite site) {
  if (rows.dim() == 0) throw dist::Failure<Error>("gather: a tensor with one entry per sample is needed, this one has no dimension");
  const std::int64_t each = entries_per_row(rows.size(0));
  const dist::OpName op = dist::op_name("gather", site);
  return dist::with_gradient_of_rows(rows_of_all(rows, slice(), each, op), rows, slice(), each, op);
}

Tensor whole_of(const Tensor& mine, const Slice& slice) {
  if (mine.dim() == 0 || mine.size(0) != slice.local_rows())
    throw dist::Failure<Error>("batches: a batch of this rank's has " + std::to_string(slice.local_rows()) + " rows, and a tensor of it another number");
  return rows_of_all(mine, slice, 1, {"batches: rows beside the batch"});
}

std::string gather_raw(const void* rows, std::size_t count, std::size_t row_bytes, CallSite site) {
  row_bytes *= static_cast<std::size_t>(entries_per_row(static_cast<std::int64_t>(count)));
  std::string all(static_cast<std::size_t>(slice().global_rows) * row_bytes, '\0');
  gather_bytes(rows, all.data(), row_bytes, slice(), dist::op_name("gather", site));
  return all;
}

}  // namespace hvd::detail
