// SPDX-License-Identifier: Apache-2.0
//
// Which sources make one program. Those of a program are analysed together: what one file does is known where another calls it.
#pragma once

#include <string>
#include <vector>

#include "rewriters/driver.h"

namespace hvdize::tool {

/// Does this source define `main`? Read as tokens, so that a comment or a string does not count.
bool definesMain(const std::string& text);

/// One job for each program. One source with `main` and others without are one program; sources that all have `main` are programs of
/// their own. False, with `*error`, when sources without `main` could belong to several programs, or a file cannot be read.
bool groupPrograms(std::vector<CompileJob>& jobs, std::string* error);

}  // namespace hvdize::tool
