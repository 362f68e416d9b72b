// SPDX-License-Identifier: Apache-2.0
// Headers that an earlier run has written below --out-root, and that its sources need no longer: they would hide the author's.
#pragma once

#include <string>
#include <vector>

#include "tool/write.h"

namespace hvdize::tool {

/// Removes what an earlier run for one of these sources has written and no source needs now, and notes what is written this time. Files that are not
/// ours stay: one of those that has been changed since is an error. To be called before anything is written.
bool removeStale(const std::string& root, const std::vector<Outcome>& outcomes, std::string* error);
bool noteWritten(const std::string& root, const std::vector<Outcome>& outcomes, std::string* error);

}  // namespace hvdize::tool
