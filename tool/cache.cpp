// SPDX-License-Identifier: Apache-2.0
#include "tool/cache.h"

#include <llvm/ADT/SmallString.h>
#include <llvm/Support/FileSystem.h>
#include <llvm/Support/Path.h>
#include <llvm/Support/Process.h>

namespace hvdize::tool {

std::string headerCacheFolder() {
  llvm::SmallString<256> folder;
  if (const auto named = llvm::sys::Process::GetEnv("HVDIZE_CACHE"); named && !named->empty()) {
    if (*named == "off") return "";
    folder = *named;
  } else {
    if (!llvm::sys::path::cache_directory(folder)) return "";
    llvm::sys::path::append(folder, "hvdize");
  }
  llvm::sys::fs::make_absolute(folder);
  return folder.str().str();
}

}  // namespace hvdize::tool
