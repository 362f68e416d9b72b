// SPDX-License-Identifier: Apache-2.0
//
// The link step. The summaries of the objects say which translation units make the program. Where one of them trains, hvdize reads all of
// them together, as it reads the sources of a program of several files; what it changes is compiled, and linked in place of the objects.
// A program that is one unit has been read whole when it was compiled.
#pragma once

#include "tool/wrapper/command.h"
#include "tool/wrapper/site.h"

namespace hvdize::wrapper {

/// Links; sources among the inputs are compiled first. The exit status.
int linkStep(const Site& site, const Command& command);

}  // namespace hvdize::wrapper
