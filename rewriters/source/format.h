// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llvm/ADT/StringRef.h>

#include <string>

#include "rewriters/source/line_map.h"

namespace hvdize {

/// Formats the lines of `text` that the author did not write, by the .clang-format that governs `path`. Without one, `text` as it
/// is. Only white space changes, and no byte of an unchanged line does.
std::string formatChangedLines(llvm::StringRef text, const LineMap& map, llvm::StringRef path);

}  // namespace hvdize
