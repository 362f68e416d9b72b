// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llvm/ADT/StringRef.h>

#include <string>

namespace hvdize {

/// The unified diff that turns `before` into `after`, with three lines of context; empty when they are the same. `patch -p0`
/// accepts it, files without a final newline and with CRLF included.
std::string unifiedDiff(llvm::StringRef before, llvm::StringRef after, llvm::StringRef beforeName, llvm::StringRef afterName);

}  // namespace hvdize
