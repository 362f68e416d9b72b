// SPDX-License-Identifier: Apache-2.0
#include "local_training.hpp"

#include <algorithm>
#include <sstream>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

#include <torch/optim/adagrad.h>
#include <torch/optim/adam.h>
#include <torch/optim/adamw.h>
#include <torch/optim/rmsprop.h>
#include <torch/optim/sgd.h>

#include <hvd/dist/failure.hpp>

#include "optimizer_binding.hpp"
#include "wire.hpp"

namespace hvd::torch_binding {

namespace {

// Values in the form in which they travel, and the tensors that they belong to.
class Packed {
 public:
  void add(const std::string& name, const at::Tensor& tensor, bool parameter) {
    if (!tensor.defined()) return;
    const dist::DataType type = wire_type(tensor);
    const at::Tensor here = tensor.detach(), flat = here.to(at::kCPU, scalar_type(type)).contiguous();
    tensors_.emplace_back(here, flat);
    values_.push_back({{name, static_cast<std::size_t>(flat.numel()), type}, flat.data_ptr(), parameter});
  }
  const std::vector<dist::AveragedValue>& values() const { return values_; }
  void unpack() const {
    for (const auto& entry : tensors_)
      if (entry.first.data_ptr() != entry.second.data_ptr()) at::Tensor(entry.first).copy_(entry.second);
  }

 private:
  std::vector<std::pair<at::Tensor, at::Tensor>> tensors_;
  std::vector<dist::AveragedValue> values_;
};

// The key of a parameter's state: its place, as text before LibTorch 2.
template <class Key>
Key key_of(const at::Tensor& parameter) {
  if constexpr (std::is_same_v<Key, std::string>) {
    std::ostringstream text;  // as c10::guts::to_string, which newer releases lack
    text << parameter.unsafeGetTensorImpl();
    return text.str();
  } else return parameter.unsafeGetTensorImpl();
}

// Calls use(name, tensor) for the tensors of a parameter's state; false: it is of a kind that is not known.
template <class Use>
bool each_tensor(const torch::optim::OptimizerParamState& state, Use use) {
  namespace optim = torch::optim;
  auto& any = const_cast<optim::OptimizerParamState&>(state);
  const auto moments = [&](auto& adam) {
    use("exp_avg", adam.exp_avg());
    use("exp_avg_sq", adam.exp_avg_sq());
    use("max_exp_avg_sq", adam.max_exp_avg_sq());
    return true;
  };
  if (auto* sgd = dynamic_cast<optim::SGDParamState*>(&any)) return use("momentum_buffer", sgd->momentum_buffer()), true;
  if (auto* adam = dynamic_cast<optim::AdamParamState*>(&any)) return moments(*adam);
  if (auto* adamw = dynamic_cast<optim::AdamWParamState*>(&any)) return moments(*adamw);
  if (auto* adagrad = dynamic_cast<optim::AdagradParamState*>(&any)) return use("sum", adagrad->sum()), true;
  if (auto* rmsprop = dynamic_cast<optim::RMSpropParamState*>(&any)) {
    use("square_avg", rmsprop->square_avg());
    use("momentum_buffer", rmsprop->momentum_buffer());
    use("grad_avg", rmsprop->grad_avg());
    return true;
  }
  return false;
}

Packed pack(torch::optim::Optimizer& optimizer) {
  Packed packed;
  const std::vector<at::Tensor> parameters = parameters_of(optimizer);
  for (std::size_t i = 0; i < parameters.size(); ++i) packed.add("parameter " + std::to_string(i), parameters[i], true);
  using States = std::decay_t<decltype(optimizer.state())>;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const auto found = optimizer.state().find(key_of<typename States::key_type>(parameters[i]));
    if (found == optimizer.state().end()) continue;
    const auto use = [&](const char* what, const at::Tensor& tensor) {
      packed.add(std::string(what) + " of parameter " + std::to_string(i), tensor, false);
    };
    if (!each_tensor(*found->second, use))
      throw dist::Failure<std::runtime_error>("HVD_SYNC: how the state of this optimizer is averaged is not known; run it with HVD_SYNC=step");
  }
  return packed;
}

}  // namespace

LocalTraining::Entry& LocalTraining::entry_of(torch::optim::Optimizer& optimizer, const Entry& start) {
  const auto found = std::find_if(entries_.begin(), entries_.end(), [&](const auto& e) { return e->optimizer == &optimizer; });
  if (found != entries_.end()) return **found;
  auto entry = std::make_unique<Entry>();
  entry->optimizer = &optimizer;
  entry->steps = start.steps;
  entry->warmup_steps = start.warmup_steps;
  entry->set_factor = start.set_factor;
  entries_.push_back(std::move(entry));
  return *entries_.back();
}

void LocalTraining::step(Entry& entry, std::uint64_t backwards, bool filler, const std::unordered_set<const void*>& reached) {
  entry.backwards = backwards;
  ++entry.steps;
  note_step(entry.progress);
  if (!filler) return;
  for (at::Tensor& parameter : parameters_of(*entry.optimizer))
    if (parameter.requires_grad() && !parameter.grad().defined() && reached.count(parameter.unsafeGetTensorImpl()) != 0) parameter.mutable_grad() = at::zeros_like(parameter.detach());
}

void LocalTraining::average(std::int64_t least) {
  const at::NoGradGuard no_grad;
  for (const auto& entry : entries_) {
    if (entry->progress.since < least) continue;
    const Packed packed = pack(*entry->optimizer);
    entry->progress.averager.average(rank_, packed.values(), samples_since(entry->progress));
    packed.unpack();
    averaged(entry->progress);
  }
}

}  // namespace hvd::torch_binding
