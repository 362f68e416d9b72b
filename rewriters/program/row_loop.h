// SPDX-License-Identifier: Apache-2.0
// A loop over rows of samples: what it reads, writes and adds up (see evaluate_row_loops.cpp).
#pragma once

#include <utility>

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallVector.h"

#include "rewriters/program/author.h"
#include "rewriters/program/kinds.h"

namespace hvdize {

/// `++i;` at the end of the body of a loop over a range; null where there is nothing of the kind.
const clang::Expr* countedAtEnd(const clang::CXXForRangeStmt* loop);

struct RowLoop {
  const clang::ValueDecl* i = nullptr;  ///< the number of the row
  bool all = false;                      ///< it goes over the samples of the whole batch, of which each rank has its own
  llvm::SmallVector<const clang::Expr*, 4> rows;  ///< with `all`: where `i` means a row of a tensor that has this rank's
  const clang::VarDecl* item = nullptr;  ///< instead, the sample: `for (auto& example : batch)`
  const clang::Expr* itemsOf = nullptr;  ///< the list that it is one of
  const clang::Stmt* body = nullptr;
  llvm::SetVector<const clang::ValueDecl*> written;
  llvm::MapVector<const clang::ValueDecl*, unsigned> sums;  ///< what is added up, and how often that names it
  llvm::SmallVector<std::pair<const clang::Expr*, const clang::ValueDecl*>, 4> terms;  ///< what such a variable is given there
  llvm::SetVector<const clang::ValueDecl*> readFrom;               ///< the tensors and lists whose rows it reads or counts
  llvm::DenseMap<const clang::ValueDecl*, Kind> extremes;       ///< of those: the largest or the smallest is kept
  llvm::DenseSet<const clang::ValueDecl*> divided, undivided;  ///< of what is added up: by a number of rows, as it is added, or not
  llvm::SetVector<const clang::Expr*> lists;                ///< the calls that add an item for each row to a list
  Value read = Kind::Uniform;
  bool isOwn(const AuthorCode& code, const clang::ValueDecl* d) const;
};

}  // namespace hvdize
