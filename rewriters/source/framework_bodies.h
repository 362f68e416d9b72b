// SPDX-License-Identifier: Apache-2.0
//
// Which function bodies need no parsing: those of the framework's headers, by real path. They are most of a translation unit, and
// hvdize takes facts from the author's code only. Never those of the standard library.
#pragma once

#include <clang/Basic/SourceLocation.h>
#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/DenseMap.h>

namespace clang {
class Decl;
class SourceManager;
}  // namespace clang

namespace hvdize {

class Dialect;
struct IncludeList;

class FrameworkBodies {
 public:
  FrameworkBodies(const clang::SourceManager& sm, llvm::ArrayRef<const Dialect*> dialects, const IncludeList& includes)
      : sm_(sm), dialects_(dialects), includes_(includes) {}
  /// May the body of this function be left out?
  bool contains(const clang::Decl* function);

 private:
  bool inFramework(clang::FileID file) const;

  const clang::SourceManager& sm_;
  llvm::ArrayRef<const Dialect*> dialects_;
  const IncludeList& includes_;
  llvm::DenseMap<clang::FileID, bool> known_;
};

}  // namespace hvdize
