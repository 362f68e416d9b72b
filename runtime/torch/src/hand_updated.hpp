// SPDX-License-Identifier: Apache-2.0
#pragma once

// Parameters that the program updates by hand: an optimizer that never steps stands for each group of them, so that whatever is known of
// optimizers (buckets, means between steps, messages) holds for them too.

#include <memory>
#include <vector>

#include <torch/optim/optimizer.h>
#include <torch/types.h>

#include <hvd/dist/call_site.hpp>

namespace hvd::torch_binding {

class HandUpdated {
 public:
  /// The stand-in of these parameters. `fixed`: the means of others are written into them later, so they must not be replaced; throws
  /// where they have been since the last call of this place.
  torch::optim::Optimizer& stand_in(at::TensorList parameters, CallSite site, bool fixed);
  /// Is the optimizer such a stand-in?
  bool has(const torch::optim::Optimizer* optimizer) const;

 private:
  struct Group {
    CallSite site;
    std::unique_ptr<torch::optim::Optimizer> optimizer;
  };
  std::vector<Group> groups_;
};

}  // namespace hvd::torch_binding
