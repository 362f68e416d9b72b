// SPDX-License-Identifier: Apache-2.0
//
// Comparison of the folders that two runs have written.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tool/compare/tensors.h"
#include "tool/compare/text.h"

namespace hvdize::compare {

/// The whole content of a file. Throws std::runtime_error that names it.
std::string readFile(const std::string& path);

/// Whether the content is text: no zero byte and no other control character than white space and escape.
bool looksLikeText(const std::string& content);

struct FileRules {
  TextRules text;
  TensorRules tensors;
};

struct FileComparison {
  size_t files = 0;      ///< in both runs
  size_t identical = 0;  ///< byte by byte
  size_t checkpoints = 0;
  double largest = 0;                 ///< relative difference of a tensor
  std::string largestWhere;           ///< "conv1.weight (best.safetensors)"
  std::vector<std::string> excluded;  ///< tensors left out, each name once
  size_t linesIgnored = 0;
  std::string difference;  ///< the first one: file, place, values; empty: equal

  bool equal() const { return difference.empty(); }
};

/// Compares all regular files below two folders by their relative names. Checkpoints are known by their content.
FileComparison compareFolders(const std::string& expected, const std::string& actual, const FileRules& rules);

}  // namespace hvdize::compare
