// SPDX-License-Identifier: Apache-2.0
//
// Comparison of two checkpoints, tensor by tensor.
#pragma once

#include <optional>
#include <regex>
#include <string>
#include <vector>

#include "tool/compare/safetensors.h"

namespace hvdize::compare {

struct TensorRules {
  bool exact = false;                ///< every value and every name
  std::optional<double> tolerance;   ///< of max|difference| / max|value|; unset: see defaultTolerance
  double textTolerance = 1e-10;      ///< of numbers in the metadata
  std::vector<std::regex> excluded;  ///< names of tensors to leave out
};

/// 1e-10 for F64, 1e-5 for F32, 1e-2 for the 16-bit types. Integers are compared exactly.
double defaultTolerance(const std::string& dtype);

struct TensorComparison {
  size_t compared = 0;
  double largest = 0;                 ///< of max|difference| / max|value| over the floating-point tensors
  std::string largestName;            ///< empty when there was none
  std::vector<std::string> excluded;  ///< names left out
  std::string difference;             ///< the first one, with tensor, index and both values; empty: equal

  bool equal() const { return difference.empty(); }
};

TensorComparison compareCheckpoints(const Checkpoint& expected, const Checkpoint& actual, const TensorRules& rules);

}  // namespace hvdize::compare
