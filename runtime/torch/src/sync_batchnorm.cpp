// SPDX-License-Identifier: Apache-2.0
//
// Batch norm whose statistics are those of the global batch. The layers of LibTorch stay what they are: their forward is a template in
// the author's program and cannot be replaced, but all of it ends in the operator aten::batch_norm, and that one is taken over here.
#include <utility>
#include <vector>

#include <ATen/ops/batch_norm_native.h>
#include <ATen/ops/instance_norm_native.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/library.h>

#include <hvd/context.hpp>
#include <hvd/dist/failure.hpp>
#include <hvd/dist/slices.hpp>

#include "state.hpp"

namespace hvd {

namespace {

using namespace torch_binding;
using Values = std::vector<double>;
using MaybeTensor = c10::optional<at::Tensor>;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

at::Tensor or_undefined(const MaybeTensor& t) { return t.has_value() ? *t : at::Tensor(); }

Values to_values(const at::Tensor& t) {
  const at::Tensor wide = t.detach().to(at::kCPU, at::kDouble).contiguous();
  return Values(wide.data_ptr<double>(), wide.data_ptr<double>() + wide.numel());
}

at::Tensor to_tensor(const Values& values, const at::TensorOptions& options) {
  return at::tensor(values, at::TensorOptions().dtype(at::kDouble)).to(options);
}

/// One number per channel of the input [N, C, ...].
at::Tensor per_channel(const at::Tensor& t, const at::Tensor& input) {
  std::vector<std::int64_t> shape(static_cast<std::size_t>(input.dim()), 1);
  shape[1] = input.size(1);
  return t.view(shape);
}

/// Statistics of the global batch, the variance biased; `count`: values behind each.
struct Statistics {
  Values mean, variance;
  double count = 0;
};

// Per rank: count, means, sums of squares about the rank's mean. Combined pairwise they lose no digits, however large the means are
// (Chan, Golub, LeVeque 1979).
Statistics combine(const Values& all, std::size_t channels, int ranks) {
  Statistics s{Values(channels, 0), Values(channels, 0), 0};
  const std::size_t stride = 2 * channels + 1;
  const auto at = [&](int r, std::size_t i) { return all[static_cast<std::size_t>(r) * stride + i]; };
  for (int r = 0; r < ranks; ++r) s.count += at(r, 0);
  for (std::size_t c = 0; c < channels; ++c) {
    for (int r = 0; r < ranks; ++r)
      if (at(r, 0) > 0) s.mean[c] += at(r, 0) / s.count * at(r, 1 + c);
    for (int r = 0; r < ranks; ++r) {
      if (at(r, 0) == 0) continue;
      const double off = at(r, 1 + c) - s.mean[c];
      s.variance[c] += (at(r, 1 + channels + c) + at(r, 0) * off * off) / s.count;
    }
  }
  return s;
}

Statistics batch_statistics(Rank& rank, const at::Tensor& input, bool takes_part) {
  const auto channels = static_cast<std::size_t>(input.size(1));
  Values mine(2 * channels + 1, 0);
  if (takes_part) {
    const bool half = input.scalar_type() == at::kHalf || input.scalar_type() == at::kBFloat16;
    const auto local = at::batch_norm_update_stats(half ? input.to(at::kFloat) : input, {}, {}, 0);
    const Values mean = to_values(std::get<0>(local)), variance = to_values(std::get<1>(local));
    mine[0] = static_cast<double>(input.numel()) / static_cast<double>(channels);
    for (std::size_t c = 0; c < channels; ++c) {
      mine[1 + c] = mean[c];
      mine[1 + channels + c] = variance[c] * mine[0];
    }
  }
  Values all(mine.size() * static_cast<std::size_t>(rank.size()));
  rank.comm->allgatherv(mine.data(), all.data(), std::vector<std::size_t>(static_cast<std::size_t>(rank.size()), mine.size()),
                        dist::DataType::float64, {"batch norm: statistics"});
  Statistics s = combine(all, channels, rank.size());
  if (s.count < 2) throw dist::Failure<std::runtime_error>("batch norm over ranks: training needs more than one value per channel");
  return s;
}

// As the layers do it: the running variance takes the unbiased one, and what a graph has kept of the running values is not taken for outdated.
void track(at::Tensor running, const Values& values, double momentum, double factor) {
  if (!running.defined()) return;
  running.variable_data().mul_(1 - momentum).add_(to_tensor(values, running.options()), momentum * factor);
}

/// Gradients are those of the sum of the ranks' losses: their weights are in the seeds of the backward passes already.
struct SyncedBatchNorm : torch::autograd::Function<SyncedBatchNorm> {
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& input, const MaybeTensor& weight, const MaybeTensor& bias, const at::Tensor& mean,
                            const at::Tensor& variance, double eps, double count, bool takes_part) {
    ctx->save_for_backward({input, or_undefined(weight), mean, variance});
    ctx->saved_data["eps"] = eps;
    ctx->saved_data["count"] = count;
    ctx->saved_data["takes_part"] = takes_part;
    return std::get<0>(at::native_batch_norm(input, weight, bias, mean, variance, /*training=*/false, 0, eps));
  }

  static variable_list backward(AutogradContext* ctx, variable_list grads) {
    if (at::GradMode::is_enabled())
      throw dist::Failure<std::runtime_error>("batch norm over ranks has no second derivative (create_graph): rewrite without --sync-bn");
    const variable_list saved = ctx->get_saved_variables();
    const at::Tensor &input = saved[0], &weight = saved[1], &mean = saved[2], &variance = saved[3];
    const double eps = ctx->saved_data["eps"].toDouble(), count = ctx->saved_data["count"].toDouble();
    const at::Tensor grad = grads[0].contiguous(input.suggest_memory_format());
    // What the kernels of GPUs take as saved by a forward pass, those of the host compute from the running statistics.
    const at::Tensor inverse = (variance + eps).rsqrt();
    const auto local = at::native_batch_norm_backward(grad, input, weight, mean, variance, mean, inverse, false, eps, {false, true, true});
    const auto sums = over_ranks(std::get<2>(local), std::get<1>(local), ctx->saved_data["takes_part"].toBool());
    // d/dx = w/sigma * (g - mean(g) - xhat * mean(g * xhat))
    const at::Tensor about = input - per_channel(mean, input);
    at::Tensor result = grad - per_channel(to_tensor(sums.first, grad.options()) / count, input);
    result.sub_(about * per_channel(to_tensor(sums.second, inverse.options()) * inverse / count, input));
    result.mul_(per_channel(weight.defined() ? weight.detach() * inverse : inverse, input));
    variable_list out(8);
    out[0] = result.to(input.scalar_type());
    if (weight.defined()) {
      out[1] = std::get<1>(local);
      out[2] = std::get<2>(local);
    }
    return out;
  }

  static std::pair<Values, Values> over_ranks(const at::Tensor& sums, const at::Tensor& products, bool takes_part) {
    Values both = to_values(sums), second = to_values(products);
    both.insert(both.end(), second.begin(), second.end());
    if (!takes_part) std::fill(both.begin(), both.end(), 0.0);
    Rank& rank = dist::require_rank("batch norm over ranks");
    rank.comm->allreduce(both.data(), both.size(), dist::DataType::float64, dist::ReduceOp::sum, {"batch norm: gradients"});
    const auto middle = both.begin() + static_cast<std::ptrdiff_t>(second.size());
    return {Values(both.begin(), middle), Values(middle, both.end())};
  }
};

// Instance norm ends in the operator of batch norm, with the statistics of each sample alone.
at::Tensor instance_norm(const at::Tensor& input, const MaybeTensor& weight, const MaybeTensor& bias, const MaybeTensor& running_mean,
                         const MaybeTensor& running_var, bool use_input, double momentum, double eps, bool cudnn) {
  struct Inside {
    State* binding;
    bool before = binding && std::exchange(binding->in_instance_norm, true);
    ~Inside() {
      if (binding) binding->in_instance_norm = before;
    }
  };
  Rank* rank = dist::this_rank();
  const Inside inside{rank ? &state(*rank) : nullptr};
  return at::native::instance_norm(input, weight, bias, running_mean, running_var, use_input, momentum, eps, cudnn);
}

// Does every rank have these rows whole, beside a batch of another number of rows (hvd::own_rows)? The statistics at hand are those of the program then.
// Rows of the batch are as many for each sample on all ranks, whole ones as many on each rank. Collective in such a step.
bool is_whole(Rank& rank, const at::Tensor& input, const Slice& slice) {
  if (slice.whole_rows == 0 || input.dim() == 0) return false;
  std::vector<std::int64_t> rows(static_cast<std::size_t>(rank.size()), input.size(0));
  rank.comm->allgather(&rows[static_cast<std::size_t>(rank.rank())], sizeof rows[0], rows.data(), dist::DataType::uint8, {"batch norm: rows"});
  bool batch = input.size(0) % slice.local_rows() == 0, whole = rows[0] % slice.whole_rows == 0;
  for (int r = 0; r < rank.size(); ++r) {
    batch = batch && rows[static_cast<std::size_t>(r)] * slice.local_rows() == input.size(0) * dist::slice_of(slice, r).local_rows();
    whole = whole && rows[static_cast<std::size_t>(r)] == rows[0];
  }
  if (batch && whole) detail::refuse_beside_whole("batch norm over ranks of rows that may be of either");
  return whole;
}

// Every layer, not those of the trained models alone: layers that are frozen but in training mode, of a scripted module, or registered nowhere go on with
// statistics of the batch as well.
at::Tensor batch_norm(const at::Tensor& input, const MaybeTensor& weight, const MaybeTensor& bias, const MaybeTensor& running_mean,
                      const MaybeTensor& running_var, bool training, double momentum, double eps, bool cudnn) {
  Rank* rank = dist::this_rank();
  const Slice* slice = context().current_slice;  // outside of a step all ranks hold the same batch
  const at::Tensor w = or_undefined(weight), b = or_undefined(bias), rm = or_undefined(running_mean), rv = or_undefined(running_var);
  if (!training || !slice || !rank || rank->size() == 1) return at::native::batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps, cudnn);
  const State& binding = state(*rank);
  if (!binding.sync_norms || binding.in_instance_norm || is_whole(*rank, input, *slice))
    return at::native::batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps, cudnn);
  at::Tensor mean, variance;
  Statistics s;
  {
    const at::NoGradGuard no_grad;
    s = batch_statistics(*rank, input.detach(), !slice->filler);
    track(rm, s.mean, momentum, 1);
    track(rv, s.variance, momentum, s.count / (s.count - 1));
    const at::TensorOptions options = w.defined() ? w.options() : rm.defined() ? rm.options() : input.options();
    mean = to_tensor(s.mean, options.requires_grad(c10::nullopt));
    variance = to_tensor(s.variance, options.requires_grad(c10::nullopt));
  }
  return SyncedBatchNorm::apply(input, w.defined() ? weight : c10::nullopt, b.defined() ? bias : c10::nullopt, mean, variance, eps, s.count, !slice->filler);
}

// Where LibTorch decides what an operator does with a tensor that may need gradients: before its own, composed version.
void take_over_batch_norm() {
  static torch::Library cpu(torch::Library::IMPL, "aten", c10::make_optional(c10::DispatchKey::AutogradCPU), __FILE__, __LINE__);
  static torch::Library cuda(torch::Library::IMPL, "aten", c10::make_optional(c10::DispatchKey::AutogradCUDA), __FILE__, __LINE__);
  [[maybe_unused]] static const bool once = [] {
    for (torch::Library* device : {&cpu, &cuda}) {
      device->impl("batch_norm", TORCH_FN(batch_norm));
      device->impl("instance_norm", TORCH_FN(instance_norm));
    }
    return true;
  }();
}

}  // namespace

void sync_batchnorm() {
  Rank* rank = dist::this_rank();
  if (!rank || rank->size() == 1) return;
  torch_binding::state(*rank).sync_norms = true;
  take_over_batch_norm();
}

void sync_batchnorm(torch::nn::Module&) { sync_batchnorm(); }

}  // namespace hvd
