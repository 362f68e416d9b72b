// SPDX-License-Identifier: Apache-2.0
// Which values may differ between ranks. Flow-insensitive, over all functions.
#pragma once

#include <vector>

#include "rewriters/verify/control.h"
#include "rewriters/verify/effects.h"

namespace hvdize {

enum class Level {
  Uniform,   ///< the same on all ranks
  Contents,  ///< a container of rank-local items, but equally many on all ranks
  Local
};

class Taint {
 public:
  Taint(const Calls& calls, const std::vector<Control>& controls);

  /// What the value of an expression may be.
  Level of(const clang::Expr* e) const;
  bool isLocal(const Control& c) const;
  /// Something in `e` that is rank-local by itself, for messages: a variable or a call. Null when there is none.
  const clang::Expr* cause(const clang::Expr* e) const;

 private:
  Level level(const clang::Decl* d) const { return levels_.lookup(d); }
  bool raise(llvm::DenseMap<const clang::Decl*, Level>& map, const clang::Decl* d, Level to);
  bool apply(const Effect& e);
  bool enterLocalContexts();
  bool isControlled(const clang::Stmt* site, const clang::Decl* target) const;
  bool isDeclaredIn(const clang::Decl* target, const clang::Stmt* region) const;
  bool isLocalTo(const clang::Decl* target, const clang::FunctionDecl* f) const;
  void markRegions();
  Level ofReference(const clang::Expr* e) const;
  Level ofCall(const clang::Expr* e) const;
  bool isMadeAlike(const clang::ValueDecl* d) const;
  struct Changes {  ///< of an object, after it is made
    llvm::SmallVector<const Effect*, 2> fills;  ///< by functions that get a reference to it
    bool unclear = false;                       ///< in other ways
  };
  Changes findChanges(const clang::VarDecl* v) const;
  bool givesAlike(const clang::Expr* call) const;
  bool isFilledAlike(const Effect& e) const;
  bool isBegunHere(const clang::MemberExpr* m, const clang::FunctionDecl* f) const;
  bool isNamedIn(const clang::VarDecl* v, const clang::Stmt* s) const;
  bool isOutsideSteps(const clang::Stmt* s, unsigned depth = 0) const;
  bool knowsOnlyArguments(const clang::FunctionDecl* f, bool outsideSteps, llvm::DenseSet<const void*>& seen) const;
  Level ofOpaque(const clang::Expr* e) const;
  bool isSettled(const clang::Expr* use, const clang::ValueDecl* d) const;

  const Calls& calls_;
  const AuthorCode& code_;
  const std::vector<Control>& controls_;
  std::vector<Effect> effects_;
  mutable llvm::DenseMap<const clang::VarDecl*, Changes> changes_;
  mutable llvm::DenseSet<const clang::VarDecl*> open_;  ///< objects that isMadeAlike() is at work on
  llvm::DenseMap<const clang::Decl*, Level> levels_, outward_;
  llvm::DenseSet<const clang::Decl*> changed_;  ///< parameters and references that are written through
  llvm::DenseSet<const clang::Stmt*> regions_;  ///< controlled by a rank-local condition
  llvm::DenseSet<const clang::FunctionDecl*> localContexts_;  ///< functions that perhaps not every rank calls
  llvm::DenseMap<const clang::ValueDecl*, std::vector<const clang::Expr*>> sums_;  ///< hvd::all_reduce_sum(d)
};

}  // namespace hvdize
