// SPDX-License-Identifier: Apache-2.0
// The compile step.
#pragma once

#include <string>

#include "tool/wrapper/command.h"
#include "tool/wrapper/site.h"

namespace hvdize::wrapper {

/// -c: one object for each source. The exit status of the first that fails.
int compileStep(const Site& site, const Command& command);

/// One source into `output`.
int compileUnit(const Site& site, const Command& command, const Argument& input, const std::string& output, const Words& dependencies);

/// hvdize and its options, as Unit::key has them.
std::string keyOf(const Site& site, const Words& options);

}  // namespace hvdize::wrapper
