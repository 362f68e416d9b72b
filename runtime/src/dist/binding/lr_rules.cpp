// SPDX-License-Identifier: Apache-2.0
#include <hvd/dist/lr_rules.hpp>

#include <string>
#include <typeinfo>

#include <hvd/core/error.hpp>
#include <hvd/optim.hpp>

namespace hvd {

namespace {

template <class... Kinds>
bool is_one_of(const optim::OptimizerOptions& options) {
  return (... || (dynamic_cast<const Kinds*>(&options) != nullptr));
}

}  // namespace

LrRule rule_of(const optim::OptimizerOptions& options) {
  if (is_one_of<optim::SGDOptions, optim::LARSOptions>(options)) return LrRule::linear;
  if (is_one_of<optim::AdamOptions, optim::RMSpropOptions, optim::LAMBOptions>(options)) return LrRule::sqrt;
  throw Error(std::string("rule_of: no learning-rate rule is known for ") + typeid(options).name());
}

LrRule rule_of(const optim::Optimizer& optimizer) {
  if (optimizer.param_groups().empty()) throw Error("rule_of: the optimizer has no parameters");
  return rule_of(optimizer.param_groups().front().options());
}

}  // namespace hvd
