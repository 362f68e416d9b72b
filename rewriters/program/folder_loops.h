// SPDX-License-Identifier: Apache-2.0
// Loops over what a folder holds, in which files are changed.
#pragma once

#include <vector>

#include "rewriters/program/sites.h"

namespace hvdize {

struct Model;

/// `for (auto& entry : std::filesystem::directory_iterator(folder)) std::filesystem::remove(entry.path());`: each rank would go through a listing of its own, and the root
/// changes the folder while the others still read it: ranks that meet inside the loop may not meet equally often. The root goes through such a loop alone.
class FolderLoops {
 public:
  struct Loop {
    const clang::Stmt* statement;
    const clang::Expr* change;         ///< the first call in it that changes a file
    const char* refusal = nullptr;     ///< why the root cannot do it alone; null when it can
  };
  explicit FolderLoops(const Model& model);

  const std::vector<Loop>& loops() const { return loops_; }
  /// Does `s` stand in such a loop?
  bool holds(const clang::Stmt* s) const;

 private:
  void find(const clang::Stmt* s);
  const clang::Expr* changeIn(const clang::Stmt* s, bool& called) const;

  const Model& model_;
  std::vector<Loop> loops_;
};

}  // namespace hvdize
