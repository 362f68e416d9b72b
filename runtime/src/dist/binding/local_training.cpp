// SPDX-License-Identifier: Apache-2.0
#include "local_training.hpp"

#include <algorithm>

#include "core/tensor_impl.hpp"
#include "training.hpp"

namespace hvd::dist {

namespace {

// Values in the form in which they travel, and the tensors that they belong to.
class Packed {
 public:
  void add(const std::string& name, const Tensor& tensor, bool parameter) {
    if (!is_floating_point(tensor.dtype())) return;
    const Tensor here = tensor.detach();
    const Tensor flat = core::host_copy(here.to(wire_dtype(here.dtype()))).contiguous();
    tensors_.push_back({here, flat});
    values_.push_back({{name, static_cast<std::size_t>(flat.numel()), data_type(flat.dtype())}, flat.raw_data(), parameter});
  }
  const std::vector<AveragedValue>& values() const { return values_; }
  void unpack() const {
    for (const auto& [here, flat] : tensors_)
      if (here.raw_data() != flat.raw_data()) here.copy_(flat);
  }

 private:
  std::vector<std::pair<Tensor, Tensor>> tensors_;
  std::vector<AveragedValue> values_;
};

// Parameters, then the tensors of the state; rates are the program's, and numbers of steps are the same on all ranks.
Packed pack(const optim::Optimizer& optimizer) {
  Packed packed;
  std::size_t i = 0;
  for (const Tensor& parameter : optimizer.parameters()) packed.add("parameter " + std::to_string(i++), parameter, true);
  for (const NamedTensor& state : optimizer.state())
    if (state.name.rfind("group.", 0) != 0) packed.add("state " + state.name, state.tensor, false);
  return packed;
}

}  // namespace

LocalTraining::Entry& LocalTraining::entry_of(optim::Optimizer& optimizer, const Steps& start) {
  const auto found = std::find_if(entries_.begin(), entries_.end(), [&](const auto& e) { return e->optimizer == &optimizer; });
  if (found != entries_.end()) return **found;
  auto entry = std::make_unique<Entry>();
  entry->optimizer = &optimizer;
  entry->steps = start;
  entries_.push_back(std::move(entry));
  return *entries_.back();
}

void LocalTraining::step(Entry& entry) {
  entry.generation = autograd::backward_generation();
  ++entry.steps.done;
  note_step(entry.progress);
}

void LocalTraining::average(std::int64_t least) {
  const NoGradGuard no_grad;
  for (const auto& entry : entries_) {
    if (entry->progress.since < least) continue;
    const Packed packed = pack(*entry->optimizer);
    entry->progress.averager.average(rank_, packed.values(), samples_since(entry->progress));
    packed.unpack();
    averaged(entry->progress);
  }
}

}  // namespace hvd::dist
