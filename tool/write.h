// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tool/report.h"

namespace hvdize::tool {

/// The file that the result for `source` goes to: empty when none is written. False, with `*error`, when there is no sensible one.
bool outputPath(const Arguments& arguments, const std::string& source, std::string* path, std::string* error);

/// Writes outputs, diffs and the dependency file. Nothing is written unless every source was rewritten or needs nothing.
/// Where each file of the program is written; nothing when they stay where they are.
Placement placement(const Arguments& arguments, const std::string& source, const std::string& output);

bool writeOutputs(const Arguments& arguments, const std::vector<Outcome>& outcomes, std::string* error);

/// --units: what is known of a source beside its new text, also when it is refused.
bool writeUnitFacts(const Arguments& arguments, const std::vector<Outcome>& outcomes, std::string* error);

}  // namespace hvdize::tool
