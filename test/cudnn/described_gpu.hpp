// SPDX-License-Identifier: Apache-2.0
//
// A GPU that is not there, as cuDNN wants it described: its heuristics and plans for one can be had without it (cuDNN 9.8 or newer).
#pragma once

#include "device/cudnn/graph/graph.hpp"

#include <memory>
#include <string>

namespace cudnn_test {

/// Null where cuDNN does not take the description; `why` then says so.
std::unique_ptr<hvd::backends::cuda::graph::Descriptor> described_h100(std::string& why);

/// Why cuDNN cannot be used at all, or an empty text. Every test asks first.
std::string cudnn_problem();
/// The same for engines that cuDNN compiles.
std::string compiler_problem();

}  // namespace cudnn_test
