// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "tool/trace/summary.h"

namespace hvdize::trace {

/// A page with the summary and a time line to move in; everything it needs is inside.
std::string htmlPage(const Run& run, const Summary& summary);

}  // namespace hvdize::trace
