// SPDX-License-Identifier: Apache-2.0
#include "core/autocast.hpp"
#include "core/tensor_impl.hpp"

#include <hvd/nn/losses.hpp>

namespace hvd::nn {

NLLLossOptions& NLLLossOptions::reduction(Reduction value) { return reduction_ = value, *this; }
NLLLossOptions& NLLLossOptions::ignore_index(int64_t value) { return ignore_index_ = value, *this; }
NLLLossOptions& NLLLossOptions::weight(Tensor value) { return weight_ = std::move(value), *this; }
CrossEntropyLossOptions& CrossEntropyLossOptions::reduction(Reduction value) { return terms_.reduction(value), *this; }
CrossEntropyLossOptions& CrossEntropyLossOptions::ignore_index(int64_t value) { return terms_.ignore_index(value), *this; }
CrossEntropyLossOptions& CrossEntropyLossOptions::weight(Tensor value) { return terms_.weight(std::move(value)), *this; }
CrossEntropyLossOptions& CrossEntropyLossOptions::label_smoothing(double value) {
  if (!(value >= 0 && value < 1)) throw Error("cross_entropy: label smoothing " + std::to_string(value) + " is not in [0, 1)");
  return smoothing_ = value, *this;
}
MSELossOptions& MSELossOptions::reduction(Reduction value) { return reduction_ = value, *this; }
BCEWithLogitsLossOptions& BCEWithLogitsLossOptions::reduction(Reduction value) { return reduction_ = value, *this; }
BCEWithLogitsLossOptions& BCEWithLogitsLossOptions::weight(Tensor value) { return weight_ = std::move(value), *this; }
BCEWithLogitsLossOptions& BCEWithLogitsLossOptions::pos_weight(Tensor value) { return pos_weight_ = std::move(value), *this; }

Tensor CrossEntropyLossImpl::forward(const Tensor& logits, const Tensor& target) { return functional::cross_entropy(logits, target, options); }
Tensor NLLLossImpl::forward(const Tensor& log_probabilities, const Tensor& target) {
  return functional::nll_loss(log_probabilities, target, options);
}
Tensor BCEWithLogitsLossImpl::forward(const Tensor& logits, const Tensor& target) {
  return functional::binary_cross_entropy_with_logits(logits, target, options);
}
Tensor MSELossImpl::forward(const Tensor& input, const Tensor& target) { return functional::mse_loss(input, target, options); }

}  // namespace hvd::nn

namespace hvd::nn::functional {

using autograd::Node;
using Grads = std::vector<Tensor>;

namespace {

/// What both losses over class scores need: dense scores, targets and class weights, checked.
struct ClassTerms {
  Tensor scores, target, weight;
  int64_t rows, columns, ignore_index;
  Reduction reduction;
  const char* name;
  double smoothing;
  double total = 0, counted = 0;
  Tensor divisor;  // `counted` where it stays on the device

  ClassTerms(const Tensor& x, const Tensor& t, const NLLLossOptions& options, const char* name, double smoothing = 0)
      : ignore_index(options.ignore_index()), reduction(options.reduction()), name(name), smoothing(smoothing) {
    core::check_real(x, name);
    core::check_same_device(x, t, name);
    if (t.dtype() != Dtype::kInt64) throw Error(std::string(name) + ": targets are class indices (int64), not " + dtype_name(t.dtype()));
    if (x.dim() != 2 || t.dim() != 1 || t.size(0) != x.size(0))
      throw Error(std::string(name) + ": scores " + to_string(x.sizes()) + " and targets " + to_string(t.sizes()) + "; [N, C] and [N] expected");
    rows = x.size(0);
    columns = x.size(1);
    target = t.contiguous();
    if (options.weight().defined()) {
      weight = options.weight().detach().to(x.device(), x.dtype()).contiguous();
      if (weight.dim() != 1 || weight.size(0) != columns)
        throw Error(std::string(name) + ": class weights " + to_string(weight.sizes()) + " for " + std::to_string(columns) + " classes");
    }
  }

  const void* weights() const { return weight.defined() ? weight.raw_data() : nullptr; }

  /// The loss from log-probabilities; fills total and counted.
  Tensor loss(const Tensor& log_p) {
    const Tensor out = core::make(reduction == Reduction::kNone ? std::vector<int64_t>{rows} : std::vector<int64_t>{}, log_p.dtype(), log_p.device());
    const bool each = reduction == Reduction::kNone;
    const Tensor value = each ? core::make({}, log_p.dtype(), log_p.device()) : out, count = core::make({}, log_p.dtype(), log_p.device());
    if (core::backend_of(log_p).nll_on_device(name, log_p.dtype(), rows, columns, log_p.raw_data(), target.data_ptr<int64_t>(), weights(), ignore_index,
                                              smoothing, reduction == Reduction::kMean, each ? out.raw_data() : nullptr, value.raw_data(),
                                              count.raw_data())) {
      divisor = count;
      return out;
    }
    double totals[2];
    const int64_t bad = core::backend_of(log_p).nll(log_p.dtype(), rows, columns, log_p.raw_data(), target.data_ptr<int64_t>(), weights(),
                                                    ignore_index, smoothing, each ? out.raw_data() : nullptr, totals);
    if (bad >= 0)
      throw Error(std::string(name) + ": target " + std::to_string(target.narrow(0, bad, 1).item<int64_t>()) + " in row " + std::to_string(bad) +
                  " is not one of " + std::to_string(columns) + " classes");
    total = totals[0];
    counted = totals[1];
    if (!each) out.fill_(reduction == Reduction::kMean ? total / counted : total);
    return out;
  }

  double scale() const { return reduction == Reduction::kMean && !divisor.defined() ? 1 / counted : 1; }
  /// The incoming gradient, divided where the divisor is on the device.
  Tensor incoming(const Tensor& grad) const {
    return reduction == Reduction::kMean && divisor.defined() ? grad.div(divisor).contiguous() : grad.contiguous();
  }
  int64_t grad_stride() const { return reduction == Reduction::kNone ? 1 : 0; }
};

}  // namespace

Tensor cross_entropy(const Tensor& scores, const Tensor& target, const CrossEntropyFuncOptions& options) {
  const Tensor logits = core::autocast_wide(scores);
  ClassTerms terms(logits, target, options.terms(), "cross_entropy", options.label_smoothing());
  const Tensor in = logits.detach().contiguous(), log_p = core::make_like(in);
  core::backend_of(in).softmax(in.dtype(), terms.rows, terms.columns, in.raw_data(), log_p.raw_data(), true);
  const Tensor out = terms.loss(log_p);
  return autograd::record("cross_entropy", out, {logits}, {log_p}, [terms](const Node& node, const Tensor& grad) {
    const Tensor g = terms.incoming(grad), gx = core::make_like(node.saved(0));
    core::backend_of(g).cross_entropy_grad(g.dtype(), terms.rows, terms.columns, g.raw_data(), terms.grad_stride(), terms.scale(),
                                           node.saved(0).raw_data(), terms.target.data_ptr<int64_t>(), terms.weights(), terms.ignore_index,
                                           terms.smoothing, gx.raw_data());
    return Grads{gx};
  });
}

Tensor nll_loss(const Tensor& scores, const Tensor& target, const NLLLossFuncOptions& options) {
  const Tensor log_probabilities = core::autocast_wide(scores);
  ClassTerms terms(log_probabilities, target, options, "nll_loss");
  const Tensor in = log_probabilities.detach().contiguous();
  const Tensor out = terms.loss(in);
  return autograd::record("nll_loss", out, {log_probabilities}, {}, [terms](const Node&, const Tensor& grad) {
    const Tensor g = terms.incoming(grad), gx = core::make({terms.rows, terms.columns}, g.dtype(), g.device());
    core::backend_of(g).nll_grad(g.dtype(), terms.rows, terms.columns, g.raw_data(), terms.grad_stride(), terms.scale(),
                                 terms.target.data_ptr<int64_t>(), terms.weights(), terms.ignore_index, gx.raw_data());
    return Grads{gx};
  });
}

Tensor mse_loss(const Tensor& input, const Tensor& target, const MSELossFuncOptions& options) {
  core::check_real(input, "mse_loss");
  core::check_same_device(input, target, "mse_loss");
  if (input.sizes() != target.sizes())
    throw Error("mse_loss: input " + to_string(input.sizes()) + " and target " + to_string(target.sizes()) + " have different shapes");
  const Tensor squares = core::autocast_wide(input).sub(core::autocast_wide(target)).square();
  if (options.reduction() == Reduction::kNone) return squares;
  return options.reduction() == Reduction::kSum ? squares.sum() : squares.mean();
}

// -(p y log s(x) + (1 - y) log(1 - s(x))) with s the sigmoid is (1 - y) x + (1 + (p - 1) y) log(1 + exp(-x)).
Tensor binary_cross_entropy_with_logits(const Tensor& scores, const Tensor& target, const BCEWithLogitsFuncOptions& options) {
  const Tensor logits = core::autocast_wide(scores);
  const char* name = "binary_cross_entropy_with_logits";
  core::check_real(logits, name);
  core::check_real(target, name);
  if (logits.sizes() != target.sizes())
    throw Error(std::string(name) + ": logits " + to_string(logits.sizes()) + " and targets " + to_string(target.sizes()) + " have different shapes");
  const Tensor positive = softplus(-logits);
  const Tensor& p = options.pos_weight();
  Tensor terms = (1 - target) * logits + (p.defined() ? ((p - 1) * target + 1) * positive : positive);
  if (options.weight().defined()) terms = terms * options.weight();
  if (terms.sizes() != logits.sizes()) throw Error(std::string(name) + ": the weights do not fit to logits " + to_string(logits.sizes()));
  if (options.reduction() == Reduction::kNone) return terms;
  return options.reduction() == Reduction::kSum ? terms.sum() : terms.mean();
}

}  // namespace hvd::nn::functional

namespace hvd {

Tensor nll_loss(const Tensor& log_probabilities, const Tensor& target) { return nn::functional::nll_loss(log_probabilities, target); }

}  // namespace hvd
