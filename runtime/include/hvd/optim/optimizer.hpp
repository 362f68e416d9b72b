// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hvd/tensor.hpp>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace hvd::optim {

/// Hyper-parameters of one parameter group; each optimizer has its own class.
class OptimizerOptions {
 public:
  virtual ~OptimizerOptions() = default;
  virtual std::unique_ptr<OptimizerOptions> clone() const = 0;
  virtual double get_lr() const = 0;
  virtual void set_lr(double lr) = 0;
};

/// Parameters that share hyper-parameters. Without options a group takes the optimizer's.
class ParamGroup {
 public:
  ParamGroup(std::vector<Tensor> params) : params_(std::move(params)) {}
  ParamGroup(std::vector<Tensor> params, const OptimizerOptions& options) : params_(std::move(params)), options_(options.clone()) {}
  ParamGroup(const ParamGroup& other);
  ParamGroup& operator=(const ParamGroup& other);
  ParamGroup(ParamGroup&&) = default;
  ParamGroup& operator=(ParamGroup&&) = default;

  std::vector<Tensor>& params() { return params_; }
  const std::vector<Tensor>& params() const { return params_; }
  bool has_options() const { return options_ != nullptr; }
  OptimizerOptions& options();
  const OptimizerOptions& options() const;
  void set_options(std::unique_ptr<OptimizerOptions> options) { options_ = std::move(options); }

 private:
  std::vector<Tensor> params_;
  std::unique_ptr<OptimizerOptions> options_;
};

/// Base of all optimizers. Parameters with undefined gradient are passed over by step(), their state with them.
class Optimizer {
 public:
  virtual ~Optimizer() = default;
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;

  /// One update from the gradients at hand; not recorded for backward.
  virtual void step() = 0;
  void zero_grad(bool set_to_none = true);

  /// Learning rate of the first group; set_lr sets all groups.
  double lr() const;
  void set_lr(double lr);
  std::vector<ParamGroup>& param_groups() { return groups_; }
  const std::vector<ParamGroup>& param_groups() const { return groups_; }
  void add_param_group(ParamGroup group);
  std::vector<Tensor> parameters() const;  // of all groups

  /// Multiplies the learning rates of the steps to come (warm-up of the distributed rate); 1 unless set.
  double lr_factor() const { return lr_factor_; }
  void set_lr_factor(double factor) { lr_factor_ = factor; }

  /// All state, by name, as handles on the live tensors: "<i>.momentum", "<i>.exp_avg", ... of parameter i (counted over all
  /// groups) and "<i>.step" (int64, 0-d); then "group.<g>.lr" (float64, 0-d, a copy). State that no step has made yet is absent.
  std::vector<NamedTensor> state() const;
  /// Takes over (copies of) such a list; what the list lacks is reset. Names or shapes that do not fit throw hvd::Error.
  void load_state(const std::vector<NamedTensor>& state);

 protected:
  Optimizer(std::vector<ParamGroup> groups, std::unique_ptr<OptimizerOptions> defaults, std::vector<std::string> slots);

  /// State of one parameter: the tensors named by `slots`, and the number of steps taken.
  struct ParamState {
    std::vector<Tensor> slots;
    int64_t step = 0;
  };
  /// Index into the state of parameter `i` of group `g`.
  ParamState& param_state(size_t group, size_t i);
  /// Calls f(group options, parameter, its state) for every parameter that has a gradient, its step counted.
  template <class F>
  void for_each_gradient(F&& f) {
    for (size_t g = 0; g < groups_.size(); ++g)
      for (size_t i = 0; i < groups_[g].params().size(); ++i) {
        const Tensor& p = groups_[g].params()[i];
        if (!p.grad().defined()) continue;
        ParamState& state = param_state(g, i);
        ++state.step;
        f(groups_[g], p, state);
      }
  }

 private:
  void load_group(const NamedTensor& entry);
  void load_slot(const NamedTensor& entry);

  std::vector<ParamGroup> groups_;
  std::unique_ptr<OptimizerOptions> defaults_;
  std::vector<std::string> slots_;
  std::vector<std::vector<ParamState>> states_;
  double lr_factor_ = 1;
};

}  // namespace hvd::optim
