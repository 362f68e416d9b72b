// SPDX-License-Identifier: Apache-2.0
#include "core/tensor_impl.hpp"

#include <hvd/context.hpp>
#include <hvd/nn/batchnorm.hpp>

#include <algorithm>
#include <cmath>

namespace hvd::nn {

using autograd::Node;
using Grads = std::vector<Tensor>;
using Values = std::vector<double>;

namespace {

/// Statistics of a batch per channel; `count` is the number of values behind each.
struct Statistics {
  Values mean, inverse_std;
  Values variance;  // biased
  double count = 0;
};

struct Shape {
  int64_t n, c, inner;
};

Values to_values(const Tensor& t, int64_t c, double fallback) {
  Values out(c, fallback);
  if (!t.defined()) return out;
  const Tensor dense = core::host_copy(t).to(kFloat64).contiguous();
  std::copy_n(dense.data_ptr<double>(), c, out.begin());
  return out;
}

Values inverse_std(const Values& variance, double eps) {
  Values out(variance.size());
  for (size_t i = 0; i < out.size(); ++i) out[i] = 1 / std::sqrt(variance[i] + eps);
  return out;
}

/// The reducer through which sums go: null where batch norm is each rank's own, and outside of a step, where all ranks hold the same batch.
StatisticsReducer* step_reducer() { return current_slice() ? context().statistics_reducer : nullptr; }

bool contributes() { return !(current_slice() && current_slice()->filler); }

void add_over_ranks(StatisticsReducer* reducer, Values& values, const char* name) {
  if (!reducer) return;
  if (!contributes()) std::fill(values.begin(), values.end(), 0.0);
  reducer->all_reduce_sum(values.data(), values.size(), name);
}

/// Mean first, then the squares about it: no cancellation, and the same formula for one rank and many.
Statistics batch_statistics(const Tensor& x, const Shape& s, double eps, StatisticsReducer* reducer) {
  const backends::Backend& backend = core::backend_of(x);
  Values sums(s.c + 1);
  backend.channel_sums(x.dtype(), s.n, s.c, s.inner, x.raw_data(), sums.data());
  sums[s.c] = static_cast<double>(s.n * s.inner);
  add_over_ranks(reducer, sums, "batch norm: sums");
  Statistics stats;
  stats.count = sums[s.c];
  if (stats.count < 2)
    throw Error("batch norm: training needs more than one value per channel; the batch " + to_string(x.sizes()) + " has " +
                std::to_string(static_cast<int64_t>(stats.count)));
  stats.mean.resize(s.c);
  for (int64_t i = 0; i < s.c; ++i) stats.mean[i] = sums[i] / stats.count;
  stats.variance.resize(s.c);
  backend.channel_squares(x.dtype(), s.n, s.c, s.inner, x.raw_data(), stats.mean.data(), stats.variance.data());
  add_over_ranks(reducer, stats.variance, "batch norm: squares");
  for (double& v : stats.variance) v /= stats.count;
  stats.inverse_std = inverse_std(stats.variance, eps);
  return stats;
}

Tensor normalise(const Tensor& x, const Shape& s, const Statistics& stats, const Tensor& weight, const Tensor& bias) {
  Values scale = to_values(weight, s.c, 1), shift = to_values(bias, s.c, 0);
  for (int64_t i = 0; i < s.c; ++i) {
    scale[i] *= stats.inverse_std[i];
    shift[i] -= stats.mean[i] * scale[i];
  }
  const Tensor out = core::make_like(x);
  core::backend_of(x).channel_affine(x.dtype(), s.n, s.c, s.inner, x.raw_data(), scale.data(), shift.data(), out.raw_data());
  return out;
}

/// Gradient of a layer that used batch statistics. With a reducer, the loss whose gradient is meant is the weighted sum of
/// the ranks' losses, and the weights are applied at the leaves: so the sums take this rank's gradients times its
/// weight, and what comes back is divided by it.
Tensor grad_input(const Tensor& g, const Tensor& x, const Shape& s, const Statistics& stats, const Values& weight, Values sums,
                  const Values& products, StatisticsReducer* reducer) {
  const double share = reducer ? context().backward_weight : 1;
  sums.insert(sums.end(), products.begin(), products.end());
  if (reducer) {
    for (double& v : sums) v = share == 0 ? 0 : v * share;
    add_over_ranks(reducer, sums, "batch norm: gradients");
  }
  Values a(s.c), b(s.c, 0.0), shift(s.c, 0.0);
  for (int64_t i = 0; i < s.c; ++i) {
    a[i] = weight[i] * stats.inverse_std[i];
    if (share == 0) continue;  // every leaf behind takes zero
    b[i] = -a[i] * stats.inverse_std[i] * stats.inverse_std[i] * sums[s.c + i] / share / stats.count;
    shift[i] = -a[i] * sums[i] / share / stats.count - b[i] * stats.mean[i];
  }
  const Tensor out = core::make_like(x);
  core::backend_of(x).channel_combine(x.dtype(), s.n, s.c, s.inner, g.raw_data(), x.raw_data(), a.data(), b.data(), shift.data(), out.raw_data());
  return out;
}

/// Gradient of a layer that used its running statistics.
Tensor grad_input_eval(const Tensor& g, const Shape& s, const Statistics& stats, Values weight) {
  for (int64_t i = 0; i < s.c; ++i) weight[i] *= stats.inverse_std[i];
  const Values zero(s.c, 0.0);
  const Tensor out = core::make_like(g);
  core::backend_of(g).channel_affine(g.dtype(), s.n, s.c, s.inner, g.raw_data(), weight.data(), zero.data(), out.raw_data());
  return out;
}

Grads batch_norm_grads(const Node& node, const Tensor& grad, const Shape& s, const Statistics& stats, bool training) {
  const Tensor g = grad.contiguous();
  const Tensor& x = node.saved(0);
  Values sums(s.c), products(s.c);
  core::backend_of(g).channel_products(g.dtype(), s.n, s.c, s.inner, g.raw_data(), x.raw_data(), stats.mean.data(), sums.data(), products.data());
  Grads grads(3);
  // The synchronised sums are formed on every rank, whoever wants them.
  StatisticsReducer* reducer = training ? step_reducer() : nullptr;
  if (node.wants(0) || reducer) {
    const Values weight = to_values(node.saved(1), s.c, 1);
    grads[0] = training ? grad_input(g, x, s, stats, weight, sums, products, reducer) : grad_input_eval(g, s, stats, weight);
  }
  if (node.wants(1)) {
    for (int64_t i = 0; i < s.c; ++i) products[i] *= stats.inverse_std[i];
    grads[1] = tensor(products, g.options());
  }
  if (node.wants(2)) grads[2] = tensor(sums, g.options());
  return grads;
}

const void* data_of(const Tensor& t) { return t.defined() ? t.raw_data() : nullptr; }

/// A layer by itself on a device that normalises a batch as a whole: no number comes to the host. Statistics are float64 tensors [c].
struct WholeBatch {
  Tensor mean, variance, inverse_std;
  explicit WholeBatch(const Tensor& x, int64_t c)
      : mean(core::make({c}, kFloat64, x.device())), variance(core::make_like(mean)), inverse_std(core::make_like(mean)) {}

  /// False where the device does not. Parameters are of the dtype `params`. The result is no member: a node that kept it would keep itself.
  bool normalise(const Tensor& x, const Shape& s, const Tensor& weight, const Tensor& bias, Dtype params, double eps, const Tensor& out) const {
    return core::backend_of(x).batch_norm(x.dtype(), params, s.n, s.c, s.inner, x.raw_data(), data_of(weight), data_of(bias), eps, out.raw_data(),
                                          mean.data_ptr<double>(), variance.data_ptr<double>(), inverse_std.data_ptr<double>());
  }

  Grads gradients(const Node& node, const Tensor& grad, const Shape& s, Dtype params) const {
    const Tensor g = grad.contiguous();
    const auto made = [&](size_t i, std::vector<int64_t> sizes) {
      return node.wants(i) ? core::make(std::move(sizes), i == 0 ? g.dtype() : params, g.device()) : Tensor();
    };
    const Grads grads = {made(0, g.sizes()), made(1, {s.c}), made(2, {s.c})};
    const auto at = [](const Tensor& t) { return t.defined() ? t.raw_data() : nullptr; };
    core::backend_of(g).batch_norm_grad(g.dtype(), params, s.n, s.c, s.inner, g.raw_data(), node.saved(0).raw_data(), data_of(node.saved(1)),
                                        mean.data_ptr<double>(), inverse_std.data_ptr<double>(), at(grads[0]), at(grads[1]), at(grads[2]));
    return grads;
  }
};

/// Parameters are of the dtype of the activations, or wider than those of mixed precision.
bool takes_whole(Dtype activations, Dtype params) { return params == activations || (is_low_precision(activations) && params == Dtype::kFloat32); }

}  // namespace

BatchNormOptions& BatchNormOptions::eps(double value) { return eps_ = value, *this; }
BatchNormOptions& BatchNormOptions::momentum(double value) { return momentum_ = value, *this; }
BatchNormOptions& BatchNormOptions::affine(bool value) { return affine_ = value, *this; }

BatchNormImpl::BatchNormImpl(const BatchNormOptions& options) : options(options) {
  const int64_t c = options.num_features();
  if (c < 1) throw Error("batch norm: num_features is at least 1, not " + std::to_string(c));
  weight = register_parameter("weight", options.affine() ? ones({c}) : Tensor());
  bias = register_parameter("bias", options.affine() ? zeros({c}) : Tensor());
  running_mean = register_buffer("running_mean", zeros({c}));
  running_var = register_buffer("running_var", ones({c}));
  num_batches_tracked = register_buffer("num_batches_tracked", zeros({}, kInt64));
}

void BatchNormImpl::track(const std::vector<double>& mean, const std::vector<double>& variance, double count) {
  track(tensor(mean, running_mean.options()), tensor(variance, running_var.options()), count);
}

void BatchNormImpl::track(const Tensor& mean, const Tensor& variance, double count) {
  const NoGradGuard no_grad;
  const double m = options.momentum();
  running_mean.mul_(1 - m).add_(mean.to(running_mean.dtype()), m);
  running_var.mul_(1 - m).add_(variance.to(running_var.dtype()), m * count / (count - 1));
  num_batches_tracked.add_(1);
}

void BatchNorm1dImpl::check_input(const Tensor& x) const {
  core::check_real(x, "BatchNorm1d");
  const int64_t features = options.num_features();
  if ((x.dim() != 2 && x.dim() != 3) || x.size(1) != features)
    throw Error("BatchNorm1d: input [N, " + std::to_string(features) + "] or [N, " + std::to_string(features) + ", L] expected, not " +
                to_string(x.sizes()));
}

void BatchNorm2dImpl::check_input(const Tensor& x) const {
  core::check_real(x, "BatchNorm2d");
  if (x.dim() != 4 || x.size(1) != options.num_features())
    throw Error("BatchNorm2d: input [N, " + std::to_string(options.num_features()) + ", H, W] expected, not " + to_string(x.sizes()));
}

Tensor BatchNormImpl::forward(const Tensor& x) {
  check_input(x);
  const Tensor in = x.contiguous();
  Shape s{x.size(0), x.size(1), 1};
  for (int64_t d = 2; d < x.dim(); ++d) s.inner *= x.size(d);
  const bool training = is_training();
  const Dtype params = weight.defined() ? weight.dtype() : bias.defined() ? bias.dtype() : running_mean.dtype();
  const bool one_dtype = !bias.defined() || bias.dtype() == params;
  if (training && !step_reducer() && s.n * s.inner > 1 && !core::on_host(in) && one_dtype && takes_whole(in.dtype(), params)) {
    const WholeBatch batch(in, s.c);
    const Tensor w = weight.defined() ? weight.contiguous() : weight, b = bias.defined() ? bias.detach().contiguous() : bias;
    const Tensor out = core::make_like(in);
    if (batch.normalise(in, s, w.defined() ? w.detach() : w, b, params, options.eps(), out)) {
      track(batch.mean, batch.variance, static_cast<double>(s.n * s.inner));
      return autograd::record("batch_norm", out, {in, w, bias}, {in, w},
                              [s, batch, params](const Node& node, const Tensor& g) { return batch.gradients(node, g, s, params); });
    }
  }
  // Parameters and statistics in float32, activations in 16 bits: what mixed precision gives the layer.
  if (is_low_precision(x.dtype()) && running_mean.dtype() != x.dtype()) return forward(x.to(running_mean.dtype())).to(x.dtype());
  Statistics stats;
  if (training) {
    stats = batch_statistics(in, s, options.eps(), step_reducer());
    track(stats.mean, stats.variance, stats.count);
  } else {
    stats.mean = to_values(running_mean, s.c, 0);
    stats.inverse_std = inverse_std(to_values(running_var, s.c, 1), options.eps());
  }
  return autograd::record("batch_norm", normalise(in, s, stats, weight, bias), {in, weight, bias}, {in, weight},
                          [s, stats, training](const Node& node, const Tensor& g) { return batch_norm_grads(node, g, s, stats, training); });
}

}  // namespace hvd::nn
