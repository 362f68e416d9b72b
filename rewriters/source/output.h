// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llvm/ADT/StringRef.h>

#include <string>

namespace hvdize {

/// Writes `text` to `path` so that a reader sees the old file or the new one, never a part: into a temporary file in the same
/// folder, then renamed. A file that holds `text` already is left alone (its time too, so that build systems see no change).
/// Permissions of an existing file are kept; a symbolic link is followed. False, with `*error`, when the folder is missing or
/// something cannot be written.
bool writeAtomically(llvm::StringRef path, llvm::StringRef text, std::string* error);

}  // namespace hvdize
