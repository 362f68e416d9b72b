// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "tool/report.h"

namespace hvdize::tool {

/// The diagnostics in the form that editors and code hosts read: SARIF 2.1.0 (OASIS Standard, 27 March 2020).
std::string sarifReport(const std::vector<Outcome>& outcomes, int exitStatus);

}  // namespace hvdize::tool
