// SPDX-License-Identifier: Apache-2.0
#include "device/cudnn/graph/planned.hpp"

#include "device/cudnn/graph/choice.hpp"
#include "device/cudnn/handle.hpp"

namespace hvd::backends::cuda::graph {

Planned::Planned(cudnnHandle_t handle, const std::string& what, const rules::Arithmetic& wanted, size_t most, const std::function<Graph()>& make)
    : what_(what), timed_(!wanted.deterministic) {
  std::string trouble;
  try {
    graph_ = std::make_unique<Graph>(make());
    Proposals found = proposals(*graph_, {handle, nullptr}, wanted, most, kLargestWorkspace);
    trouble = found.considered == 0 ? "no engine knows this graph" : std::to_string(found.kept) + " of " + std::to_string(found.considered) +
                                                                         " engines keep the promised arithmetic";
    if (!found.trouble.empty()) trouble = found.trouble;
    plans_ = std::move(found.plans);
  } catch (const Failure& failure) {
    trouble = failure.what();
  }
  if (none()) report_none(what_, trouble);
}

bool Planned::run(cudnnHandle_t handle, const std::vector<Binding>& operands, const std::function<void()>& rival) {
  const auto with = [&](size_t i) {
    if (i == plans_.size()) return rival();
    const Workspace workspace(plans_[i].workspace());
    plans_[i].run(handle, operands, workspace.data());
  };
  if (!chosen_) {
    std::string trouble;
    chosen_ = choose(plans_.size() + (rival ? 1 : 0), timed_, with, trouble);
    if (!chosen_ || *chosen_ == plans_.size()) {
      if (chosen_)
        report(what_, "our own kernels, of " + std::to_string(plans_.size()) + " plans", "");
      else
        report_none(what_, trouble);
      plans_.clear();
      return false;
    }
    report(what_, "engine " + std::to_string(plans_[*chosen_].engine()) + " of " + std::to_string(plans_.size()) + " plans", "");
  }
  try {
    with(*chosen_);
  } catch (const Failure& failure) {
    fail("cuDNN", failure.in(what_).what());
  }
  return true;
}

}  // namespace hvd::backends::cuda::graph
