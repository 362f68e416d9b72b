// SPDX-License-Identifier: Apache-2.0
//
// Ways to run a graph: cuDNN's heuristics propose engines, those that keep the runtime's promises become plans.
#pragma once

#include "device/cudnn/graph/graph.hpp"
#include "device/cudnn/rules/numerics.hpp"

namespace hvd::backends::cuda::graph {

/// The buffer of a tensor that is not virtual; for one by value, the number on the host.
struct Binding {
  int64_t uid;
  const void* data;
};

class Plan {
 public:
  /// `config`: an engine with its settings, as the heuristics give it.
  Plan(Descriptor&& config, int64_t engine, const Target& target);
  int64_t engine() const { return engine_; }
  size_t workspace() const { return workspace_; }
  /// Asks for the work; `workspace` has as many bytes as workspace() says.
  void run(cudnnHandle_t handle, const std::vector<Binding>& operands, void* workspace) const;

 private:
  Descriptor config_, plan_;
  int64_t engine_;
  size_t workspace_;
};

/// What proposals() found.
struct Proposals {
  std::vector<Plan> plans;      // in the order of the heuristics' expectations
  size_t considered = 0, kept = 0;  // engines, and those that keep the promises
  std::string trouble;          // why the last engine made no plan
};

/// At most `most` plans for a finished graph, with at most `workspace` bytes each. What cuDNN cannot do is no error: there are no plans then.
Proposals proposals(const Graph& graph, const Target& target, const rules::Arithmetic& wanted, size_t most, size_t workspace);

}  // namespace hvd::backends::cuda::graph
