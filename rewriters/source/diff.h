// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llvm/ADT/StringRef.h>

#include <string>
#include <vector>

namespace hvdize {

/// One line of an edit script: kept (' '), removed ('-') or added ('+'). The text points into one of the two, with its line end.
struct DiffStep {
  char sign;
  llvm::StringRef line;
};

/// The shortest script that turns `before` into `after`.
std::vector<DiffStep> diffLines(llvm::StringRef before, llvm::StringRef after);

/// The unified diff that turns `before` into `after`, with three lines of context; empty when they are the same. `patch -p0`
/// accepts it, files without a final newline and with CRLF included.
std::string unifiedDiff(llvm::StringRef before, llvm::StringRef after, llvm::StringRef beforeName, llvm::StringRef afterName);

}  // namespace hvdize
