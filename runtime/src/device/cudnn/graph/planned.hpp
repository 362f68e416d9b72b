// SPDX-License-Identifier: Apache-2.0
//
// The plans of one problem, and the one that is used once they have been run. Used under the handle's lock.
#pragma once

#include "device/cudnn/graph/plan.hpp"

#include <functional>
#include <memory>
#include <optional>

namespace hvd::backends::cuda::graph {

class Planned {
 public:
  /// `make` builds the graph; cuDNN may have no plan for it. With HVD_CUDNN_GRAPH=require that throws.
  Planned(cudnnHandle_t handle, const std::string& what, const rules::Arithmetic& wanted, size_t most, const std::function<Graph()>& make);
  bool none() const { return plans_.empty(); }
  /// Runs the plan that was chosen, or chooses one on these operands. False when none works, or where `rival`, another way to do the same, was
  /// quicker: nothing of use was done.
  bool run(cudnnHandle_t handle, const std::vector<Binding>& operands, const std::function<void()>& rival = nullptr);

 private:
  std::string what_;
  bool timed_;
  std::unique_ptr<Graph> graph_;
  std::vector<Plan> plans_;
  std::optional<size_t> chosen_;
};

}  // namespace hvd::backends::cuda::graph
