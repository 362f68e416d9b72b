// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llvm/ADT/StringRef.h>

#include <string>

#include "rewriters/source/line_map.h"

namespace hvdize {

/// `text`, to which `map` gives the way back, as a compiler should read it: with `#line` directives, so that messages, debug information
/// and coverage speak of the author's file `name` and its lines. A line that hvdize wrote counts as the author's line behind it. No
/// directive stands where it would change the program: inside a string, a comment, a directive or a line that continues.
std::string withLineDirectives(llvm::StringRef text, const LineMap& map, llvm::StringRef name);

}  // namespace hvdize
