// SPDX-License-Identifier: Apache-2.0
// Paths as the tool compares and stores them.
#pragma once

#include <string>

#include <llvm/ADT/SmallString.h>
#include <llvm/Support/FileSystem.h>
#include <llvm/Support/Path.h>

namespace hvdize::tool {

/// From the current folder, without `.` and `..`.
inline std::string absolutePath(llvm::StringRef file) {
  llvm::SmallString<256> p(file);
  llvm::sys::fs::make_absolute(p);
  llvm::sys::path::remove_dots(p, /*remove_dot_dot=*/true);
  return p.str().str();
}

}  // namespace hvdize::tool
