// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace hvdize::run {

inline constexpr int MaxRanks = 1024;

struct Options {
  int ranks = 0;
  bool label = false;  // every line of output behind "[rank] "
  std::vector<std::string> command;
};

struct Parsed {
  Options options;
  bool help = false;
  std::string error;  // empty: none
};

/// Options end at the first word that is none: the program.
Parsed parseOptions(const std::vector<std::string>& arguments);
std::string usage();

}  // namespace hvdize::run
