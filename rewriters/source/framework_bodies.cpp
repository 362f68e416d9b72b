// SPDX-License-Identifier: Apache-2.0
#include "rewriters/source/framework_bodies.h"

#include <clang/AST/DeclBase.h>
#include <clang/Basic/FileManager.h>
#include <clang/Basic/SourceManager.h>

#include "rewriters/dialects/dialect.h"
#include "rewriters/source/includes.h"

namespace hvdize {

bool FrameworkBodies::inFramework(clang::FileID file) const {
  const clang::OptionalFileEntryRef entry = sm_.getFileEntryRefForID(file);
  const llvm::StringRef path = entry ? entry->getFileEntry().tryGetRealPathName() : llvm::StringRef();
  if (path.empty()) return false;
  for (const Dialect* d : dialects_) {
    const std::string root = includes_.folderOf(d->reveals().vec(), d->layout().str());
    if (root.empty() || !path.starts_with(root)) continue;
    const llvm::StringRef below = path.drop_front(root.size());
    if (d->folders().empty()) return true;
    for (const std::string& folder : d->folders())
      if (below.starts_with(folder + "/")) return true;
  }
  return false;
}

bool FrameworkBodies::contains(const clang::Decl* function) {
  const clang::SourceLocation at = sm_.getExpansionLoc(function->getLocation());
  if (at.isInvalid()) return false;
  const clang::FileID file = sm_.getFileID(at);
  const auto found = known_.find(file);
  if (found != known_.end()) return found->second;
  return known_[file] = inFramework(file);
}

}  // namespace hvdize
