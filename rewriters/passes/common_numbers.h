// SPDX-License-Identifier: Apache-2.0
// What a program asks for several times of a batch: reduced or gathered once, in a variable.
#pragma once

#include <optional>

#include "llvm/ADT/DenseMap.h"

#include "rewriters/program/model.h"

namespace hvdize {

/// `loss.item<float>()` for a NaN check, for a running sum and for a print is one collective, not three. The first place at which the
/// number is computed in any case (no branch, no short circuit before it) declares it; later places in the same block use it.
/// Rows that a loop inside the step reads (`labels[i].item<int64_t>()` for every i) are gathered once, before that loop.
class CommonNumbers {
 public:
  explicit CommonNumbers(const Model& model);

  /// The reduction that declares the variable which `e` uses: `e` itself for the first one. Null: `e` stands alone.
  const clang::Expr* first(const clang::Expr* e) const { return first_.lookup(e); }
  /// The statement before which the first one declares it.
  const clang::Stmt* statementOf(const clang::Expr* first) const { return statements_.lookup(first); }

 private:
  struct Place {
    const clang::Expr* e = nullptr;
    const clang::VarDecl* of = nullptr;            ///< the only variable that the number is computed from
    const clang::CompoundStmt* block = nullptr;    ///< the block in which it is computed in any case; null: only under a condition
    const clang::Stmt* statement = nullptr;        ///< the statement of that block that holds it
  };
  void findNumbers();
  void findRows();
  std::optional<Place> placeOf(const clang::Expr* e) const;
  std::optional<Place> placeOfRows(const clang::Expr* e) const;
  const clang::VarDecl* onlyVariable(const clang::Expr* e) const;
  bool unchangedIn(const Place& place) const;

  const Model& model_;
  llvm::DenseMap<const clang::Expr*, const clang::Expr*> first_;
  llvm::DenseMap<const clang::Expr*, const clang::Stmt*> statements_;
};

}  // namespace hvdize
