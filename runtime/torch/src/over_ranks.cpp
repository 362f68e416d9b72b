// SPDX-License-Identifier: Apache-2.0
#include "over_ranks.hpp"

#include <memory>
#include <stdexcept>
#include <utility>

#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/functions/utils.h>

#include <hvd/context.hpp>
#include <hvd/dist/failure.hpp>

#include "state.hpp"

namespace hvd::torch_binding {

namespace {

using torch::autograd::variable_list;

// What the losses of all ranks have as their gradient by a number that every one of them has been made with: their sum, as the seeds of the backward
// passes carry the weights of the losses.
at::Tensor gradient_over_ranks(const at::Tensor& mine, bool filler, const dist::OpName& name) {
  Rank& rank = dist::require_rank("the gradient of a number of the whole batch");
  const State& binding = state(rank);
  const auto refuse = [&](const char* why) { throw dist::Failure<std::invalid_argument>(dist::lost_gradient(name, why)); };
  if (at::GradMode::is_enabled()) refuse("it has no second derivative (create_graph)");
  if (binding.local || binding.server) refuse("ranks that step on their own (HVD_SYNC) have no loss in common");
  if (!binding.running) refuse("it is not known what this backward pass counts for beside those of other ranks");
  // Of a sum it would be wrong where it is a sum itself that every rank has whole; which of the two is meant cannot be told from the outside.
  if (binding.running->form() == LossKind::Form::sum) refuse("the loss is a sum over samples (take the mean)");
  if (binding.discards && !filler) refuse("of this rank's samples none counts in the loss");
  return scaled_sum(mine, filler ? 0 : 1, name);
}

struct MeanGradient : torch::autograd::Node {
  double scale = 0;
  bool filler = false;
  dist::OpName op;
  variable_list apply(variable_list&& grads) override {
    const at::Tensor sum = gradient_over_ranks(grads[0], filler, op);
    return {scale == 0 ? at::zeros_like(sum) : sum * scale};
  }
};

struct RowsGradient : torch::autograd::Node {
  std::int64_t first = 0, count = 0;
  std::vector<std::int64_t> sizes;
  bool filler = false;
  dist::OpName op;
  variable_list apply(variable_list&& grads) override {
    const at::Tensor sum = gradient_over_ranks(grads[0], filler, op);
    return {filler ? at::zeros(sizes, sum.options()) : sum.narrow(0, first, count)};
  }
};

template <class Gradient>
at::Tensor result_of(std::shared_ptr<Gradient> node, at::Tensor whole, const at::Tensor& mine, const dist::OpName& name) {
  node->op = name;
  node->set_next_edges(torch::autograd::collect_next_edges(mine));
  torch::autograd::set_history(whole, node);
  return whole;
}

template <class Gradient>
std::shared_ptr<Gradient> make_node() {
  return std::shared_ptr<Gradient>(new Gradient, torch::autograd::deleteNode);
}

bool without_gradient(const at::Tensor& mine) { return !mine.requires_grad() || !at::GradMode::is_enabled(); }

}  // namespace

at::Tensor scaled_sum(const at::Tensor& t, double scale, const dist::OpName& name) {
  const at::NoGradGuard no_grad;
  at::Tensor wide = t.detach().to(at::kCPU, at::kDouble).contiguous();
  wide = scale == 0 ? at::zeros_like(wide) : wide * scale;
  dist::require_rank("a number of a step").comm->allreduce(wide.data_ptr(), static_cast<std::size_t>(wide.numel()), dist::DataType::float64, dist::ReduceOp::sum, name);
  return wide.to(t.options());
}

at::Tensor with_gradient_of_mean(const at::Tensor& whole, const at::Tensor& mine, double scale, const dist::OpName& name) {
  if (without_gradient(mine)) return whole;
  auto node = make_node<MeanGradient>();
  node->scale = scale;
  node->filler = context().current_slice->filler;
  return result_of(std::move(node), whole, mine, name);
}

at::Tensor with_gradient_of_rows(const at::Tensor& whole, const at::Tensor& mine, const Slice& slice, std::int64_t each, const dist::OpName& name) {
  if (without_gradient(mine)) return whole;
  auto node = make_node<RowsGradient>();
  node->first = slice.first_row * each;
  node->count = slice.rows * each;
  node->sizes = mine.sizes().vec();
  node->filler = slice.filler;
  return result_of(std::move(node), whole, mine, name);
}

}  // namespace hvd::torch_binding
