// SPDX-License-Identifier: Apache-2.0
#include <hvd/torch/lr_rules.hpp>

#include <typeinfo>

#include <torch/optim.h>

namespace hvd {

namespace {

template <class... Kinds>
bool is_one_of(const torch::optim::OptimizerOptions& options) {
  return (... || (dynamic_cast<const Kinds*>(&options) != nullptr));
}

}  // namespace

LrRule rule_of(const torch::optim::OptimizerOptions& options) {
  using namespace torch::optim;
  if (is_one_of<SGDOptions>(options)) return LrRule::linear;
  if (is_one_of<LBFGSOptions>(options)) return LrRule::none;
  const bool adaptive = is_one_of<AdamOptions, AdamWOptions, AdagradOptions, RMSpropOptions>(options);
  TORCH_CHECK(adaptive, "rule_of: no learning-rate rule is known for ", typeid(options).name());
  return LrRule::sqrt;
}

LrRule rule_of(const torch::optim::Optimizer& optimizer) { return rule_of(optimizer.defaults()); }

}  // namespace hvd
