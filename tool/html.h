// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "tool/report.h"

namespace hvdize::tool {

/// One page that needs no other file: for each program its diagnostics, each edit with its reason, every file before and after side by side
/// (one below the other on a narrow screen), and the pages of the diagnostics that occur.
std::string htmlReport(const std::vector<Outcome>& outcomes);

}  // namespace hvdize::tool
