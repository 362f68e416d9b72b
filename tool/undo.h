// SPDX-License-Identifier: Apache-2.0
// --in-place keeps what it replaces; --undo brings it back.
#pragma once

#include "tool/report.h"

namespace hvdize::tool {

/// Before the files of an outcome are replaced: each that changes is copied to FILE.hvdize-orig, and SOURCE.hvdize-undo lists them.
bool keepOriginals(const Outcome& outcome, std::string* error);

/// Puts back all files that were rewritten with the sources. `untouched`: those of them that --in-place left as they were. False, with
/// `*error`, and nothing changed, when there is nothing to undo or one of the files was changed since.
bool undo(llvm::ArrayRef<std::string> sources, std::vector<std::string>& untouched, std::string* error);

}  // namespace hvdize::tool
