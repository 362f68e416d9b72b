// SPDX-License-Identifier: Apache-2.0
#include "over_ranks.hpp"

#include <algorithm>
#include <vector>

#include <hvd/context.hpp>
#include <hvd/core/error.hpp>
#include <hvd/dist/failure.hpp>

#include "core/node.hpp"
#include "core/tensor_impl.hpp"
#include "training.hpp"

namespace hvd::dist {

namespace {

// What the weighted losses of all ranks have as their gradient by a number that every one of them has been made with, divided by this rank's weight.
Tensor gradient_over_ranks(const Tensor& mine, bool filler, const OpName& name) {
  Rank& rank = require_rank("the gradient of a number of the whole batch");
  const Training& state = training(rank);
  const auto refuse = [&](const char* why) { throw Failure<Error>(lost_gradient(name, why)); };
  if (state.local || state.server) refuse("ranks that step on their own (HVD_SYNC) have no loss in common");
  if (!state.running) refuse("it is not known what this backward pass counts for beside those of other ranks");
  // Of a sum it would be wrong where it is a sum itself that every rank has whole; which of the two is meant cannot be told from the outside.
  if (state.running->form() == LossKind::Form::sum) refuse("the loss is a sum over samples (take the mean)");
  const double weight = filler ? 0 : state.running_weight;
  if (weight == 0 && !filler) refuse("of this rank's samples none counts in the loss");
  const Tensor sum = scaled_sum(mine, weight, name);
  return filler ? sum : sum * (1 / weight);
}

}  // namespace

Tensor scaled_sum(const Tensor& t, double scale, const OpName& name) {
  const NoGradGuard no_grad;
  const Tensor wide = core::host_copy(t).to(kFloat64).contiguous();
  std::vector<double> values(wide.data_ptr<double>(), wide.data_ptr<double>() + wide.numel());
  for (double& value : values) value = scale == 0 ? 0 : scale * value;
  require_rank("a number of a step").comm->allreduce(values.data(), values.size(), DataType::float64, ReduceOp::sum, name);
  const Tensor sum = core::make_for_host(t.sizes(), kFloat64, t.device());
  std::copy(values.begin(), values.end(), sum.data_ptr<double>());
  return sum.to(t.device(), t.dtype());
}

Tensor with_gradient_of_mean(const Tensor& whole, const Tensor& mine, double scale, const OpName& name) {
  if (!autograd::recording({&mine})) return whole;
  return autograd::record(name.name, whole, {mine}, {}, [scale, name, filler = context().current_slice->filler](const autograd::Node&, const Tensor& gradient) -> std::vector<Tensor> {
    const Tensor sum = gradient_over_ranks(gradient, filler, name);
    return {scale == 0 ? zeros_like(sum) : sum * scale};
  });
}

Tensor with_gradient_of_rows(const Tensor& whole, const Tensor& mine, const Slice& slice, std::int64_t each, const OpName& name) {
  if (!autograd::recording({&mine})) return whole;
  return autograd::record(name.name, whole, {mine}, {}, [slice, each, name, sizes = std::vector<std::int64_t>(mine.sizes())](const autograd::Node&, const Tensor& gradient) -> std::vector<Tensor> {
    const Tensor sum = gradient_over_ranks(gradient, slice.filler, name);
    return {slice.filler ? zeros(sizes, TensorOptions().dtype(sum.dtype()).device(sum.device())) : sum.narrow(0, slice.first_row * each, slice.rows * each)};
  });
}

}  // namespace hvd::dist
