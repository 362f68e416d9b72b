// SPDX-License-Identifier: Apache-2.0
// How each source is compiled.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "rewriters/driver.h"
#include "tool/arguments.h"

namespace hvdize::tool {

/// One job for each source: with the flags behind "--", those of the compile database, or the usual ones (C++20 and the headers
/// that came with hvdize). Nothing, with `*error`, when a source cannot be read or the database lacks it.
std::optional<std::vector<CompileJob>> makeJobs(const Arguments& arguments, const std::string& executable, std::string* error);

/// The folder of Clang's own headers (stddef.h and friends); empty when there is none.
std::string findResourceDir(const std::string& executable);

}  // namespace hvdize::tool
