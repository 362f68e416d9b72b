// SPDX-License-Identifier: Apache-2.0
//
// Runs both programs and compares what they leave.
#pragma once

#include <string>
#include <vector>

#include "tool/compare/files.h"
#include "tool/compare/options.h"

namespace hvdize::compare {

enum class ExitCode { Equal = 0, Different = 1, Usage = 2, ProgramFailed = 3 };

/// What one number of ranks gave.
struct RankReport {
  int ranks = 1;
  bool ran = false;
  std::string failure;  ///< why it did not run to its end, with the tail of its standard error
  TextComparison text;
  FileComparison files;

  bool equal() const { return ran && text.equal() && files.equal(); }
};

/// How a program is started on so many ranks: by itself on one, through mpirun or hvd-run on more, with the flags that a machine
/// with fewer cores than ranks needs.
std::vector<std::string> launchCommand(const std::vector<std::string>& program, int ranks, int cores, const std::string& launcher);

/// The environment that makes two runs comparable and lets ranks share cores: one thread for each, unless the caller has chosen.
std::vector<std::string> runEnvironment();

/// Runs everything and prints the table and the first differences to standard output.
ExitCode verify(const Options& options, const std::string& launcher);

}  // namespace hvdize::compare
