// SPDX-License-Identifier: Apache-2.0
//
// What the runs gave, for a reader and for a script.
#pragma once

#include <string>
#include <vector>

#include "tool/compare/options.h"
#include "tool/compare/verify.h"

namespace hvdize::compare {

/// The table, the first difference of each row, and what was left out.
std::string renderReport(const Options& options, const std::vector<RankReport>& reports);

/// The rows again, for a script: label, ranks, standard output, files, difference, where, verdict; separated by tabs.
std::string renderRows(const Options& options, const std::vector<RankReport>& reports);

}  // namespace hvdize::compare
