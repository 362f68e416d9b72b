// SPDX-License-Identifier: Apache-2.0
// How many dimensions a tensor has at least, as far as the operations that made it tell.
#pragma once

#include "rewriters/dialects/dialect.h"
#include "rewriters/program/origins.h"

namespace hvdize {

/// "bi,ij->bj": the letters of each operand, and those of the result.
struct Contraction {
  llvm::SmallVector<std::string, 4> operands;
  std::string result;
};
/// Of the text of an equation; nothing where it is not written out, or has an ellipsis.
std::optional<Contraction> contractionOf(const clang::Expr* equation);

/// What is known of batches by those who follow them.
struct BatchView {
  /// Does the value have something of the samples? A single picture that a model is shown at the end has not.
  llvm::function_ref<bool(const clang::Expr*)> isBatch;
  /// What callers give; nothing where one of them is not seen.
  llvm::function_ref<std::optional<llvm::ArrayRef<const clang::Expr*>>(const clang::ParmVarDecl*)> givenTo;
  /// The author's functions that a call runs, through the holder of a module, too.
  llvm::function_ref<llvm::ArrayRef<const clang::FunctionDecl*>(const clang::Expr*)> runBy;
};

class TensorRanks {
 public:
  TensorRanks(const Definitions& definitions, const Dialect& dialect) : definitions_(definitions), code_(definitions.code()), dialect_(dialect) {}

  /// A lower bound of the number of dimensions of the tensor `e`; 0 when nothing is known.
  int atLeast(const clang::Expr* e) const;
  /// The number of dimensions of the tensor `e`, where all that made it is in sight; -1 where it is not.
  int exactly(const clang::Expr* e) const { return exact(e, 0); }
  /// The same, of a tensor with the rows of a batch: what gives it something that is no batch does not count.
  int ofBatch(const clang::Expr* e, const BatchView& view) const;
  /// The definitions whose value the variable may have at `use`; nothing where one of them is not a plain value. `start`: may it be what the
  /// caller of the function gave?
  std::optional<llvm::SmallVector<const clang::Expr*, 4>> reaching(const clang::VarDecl* d, const clang::Expr* use, bool& start) const;

 private:
  int ofCall(const clang::Expr* e, const Entry& entry, unsigned depth) const;
  int of(const clang::Expr* e, unsigned depth) const;
  int exact(const clang::Expr* e, unsigned depth) const;
  int exactOfBatch(const clang::Expr* e, unsigned depth) const;
  int exactOfData(const clang::MemberExpr* field, unsigned depth) const;
  int agreed(llvm::ArrayRef<const clang::Expr*> values, unsigned depth) const;
  int exactOfPart(const clang::Expr* whole, unsigned index, unsigned depth) const;
  int exactOfCall(const clang::Expr* e, const Entry& entry, unsigned depth) const;
  bool keepsShape(const Definition& def) const;
  const clang::Expr* given(const Definition& def) const;
  bool given(const clang::VarDecl* d, const clang::Expr* value, const clang::Expr* use) const;
  llvm::SmallVector<const clang::Expr*, 2> changesInPlace(const clang::VarDecl* d) const;
  bool keepsDimensions(const clang::Expr* call) const;
  bool takesEach(const clang::Expr* call, llvm::StringRef positions) const;
  int dimensionsNamed(const clang::Expr* call, const clang::Expr* use) const;
  int extentsAsked(const clang::VarDecl* d, unsigned depth = 0) const;
  int ofVariable(const clang::VarDecl* d, const clang::Expr* use, unsigned depth) const;
  bool reaches(const clang::Expr* value, const clang::Expr* use) const;
  bool replacedBefore(const clang::Expr* value, const clang::Expr* later, const clang::Expr* use) const;

  const Definitions& definitions_;
  const AuthorCode& code_;
  const Dialect& dialect_;
  const BatchView* view_ = nullptr;  ///< see ofBatch
};

}  // namespace hvdize
