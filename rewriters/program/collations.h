// SPDX-License-Identifier: Apache-2.0
// What the framework gets from the author's functions that make one batch of a list of samples.
#pragma once

#include "rewriters/program/data_draws.h"

namespace hvdize {

/// What a field of a batch of the author's own class holds.
enum class Collated {
  No,       ///< no function of that sort gives it a value
  Alike,    ///< nothing of the samples: the weights of the classes, say
  Rows,     ///< a tensor with one row for each sample
  List,     ///< a list with one item for each sample
  Count,    ///< the number of the samples
  Unclear,  ///< something of the samples, and it is not seen how
};

/// Where samples of a batch are mixed, for certain, and why.
struct Mixing {
  const clang::Expr* at = nullptr;
  const char* why = nullptr;
};

/// Follows what functions that get a list of samples (a collation's apply_batch, a data set's get_batch) put into the fields of their batch.
class Collations {
 public:
  explicit Collations(const Definitions& definitions, const Dialect& dialect);

  Collated of(const clang::ValueDecl* field) const;
  /// The expression that makes it, of those that decide `of(field)`; null for Collated::No.
  const clang::Expr* maker(const clang::ValueDecl* field) const;
  /// Is there something in the batch that such a function gives, of which it is not seen that each sample has its own, and that it is made of that sample alone?
  bool mayMix(const clang::FunctionDecl* f) const;
  /// What the functions that make batches make of several samples, or of a sample's place among them (see collations_certain.cpp).
  std::vector<Mixing> mixing() const;

 private:
  using Declarations = llvm::DenseSet<const clang::ValueDecl*>;
  struct Found {
    Collated what = Collated::No;
    const clang::Expr* by = nullptr;
  };

  void findTaken();
  void findKept();
  bool depends(const clang::Stmt* s) const;
  bool dependsOnWay(const clang::Stmt* s, const clang::ValueDecl* d) const;
  bool getsSamples(const clang::ValueDecl* d) const;
  const clang::CXXForRangeStmt* loopOf(const clang::ValueDecl* d) const;
  llvm::SmallVector<Definition, 4> givenTo(const clang::ValueDecl* d) const;
  Collated classify(const clang::Expr* made) const;
  bool rows(const clang::Expr* tensor, unsigned depth) const;
  bool counts(const clang::Expr* number, unsigned depth) const;
  bool itemEach(const clang::Expr* list, unsigned depth) const;
  bool rowEach(const clang::Expr* list) const;
  bool asksShape(const clang::Expr* item) const;
  /// `samples[0]`, `samples[(i + 1) % n]`: is one item of the list read beside others?
  bool readsSingleItem(const clang::ValueDecl* list) const;
  /// Does the statement compute with the position of a sample in the batch?
  bool countsPosition(const clang::Stmt* statement) const;
  const clang::Expr* placeAsNumber(const clang::ForStmt* loop) const;
  const clang::Expr* handedFrom(const clang::VarDecl* v, const clang::Stmt* loop) const;
  bool ofAllSamples(const clang::Expr* e, unsigned depth) const;
  bool batchRows(const clang::Expr* tensor, unsigned depth) const;
  bool inLoopOver(const clang::Expr* mention, const clang::Stmt* at) const;
  bool filledOnceEach(const clang::ValueDecl* list) const;
  bool runsOnceEach(const clang::Stmt* loop, unsigned depth) const;

  const Definitions& definitions_;
  const AuthorCode& code_;
  const Dialect& dialect_;
  DataFunctions reached_;
  DataFunctions making_;  ///< those that get lists of samples, and what they call
  Declarations lists_;  ///< the parameters that hold the samples
  Declarations taken_;  ///< those and all that has something of the samples
  mutable Declarations open_;  ///< those whose rows are being looked at
  llvm::DenseMap<const clang::ValueDecl*, Found> fields_;
};

}  // namespace hvdize
