// SPDX-License-Identifier: Apache-2.0
// Where a number enters the program that must be scaled with the number of ranks: a batch size, a learning rate.
#pragma once

#include <functional>

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"

#include "rewriters/program/origins.h"
#include "rewriters/program/sites.h"

namespace hvdize {

/// Finds the expressions to scale so that every use of the quantity sees the scaled number, once: the initialiser of a local
/// variable, the argument a caller passes, else each read of a field, a global or a constant.
class Quantity {
 public:
  enum class Changes { Absolute, Relative };
  /// `Relative`: changes such as `*=` keep a scaled value scaled (learning rates). `Absolute`: they make it new.
  /// `training`: is this expression evaluated in a training step? A function that a step calls takes the quantity from there: what
  /// other callers give it is not scaled.
  Quantity(const Definitions& definitions, Changes changes, std::function<bool(const clang::Expr*)> training = nullptr)
      : definitions_(definitions), changes_(changes), training_(std::move(training)) {}

  /// Which expressions yield a scaled value by themselves (the rate that an optimizer holds).
  void know(std::function<bool(const clang::Expr*)> scaled) { known_ = std::move(scaled); }
  /// Reads of fields and globals that hold scaled and unscaled values, one after another.
  const llvm::SetVector<const clang::Expr*>& mixed() const { return mixed_; }

  void trace(const clang::Expr* sink);
  /// Is the value of `e` made from something that is scaled already?
  bool derived(const clang::Expr* e) const;
  const llvm::SetVector<const clang::Expr*>& places() const { return places_; }
  const llvm::DenseSet<const clang::ValueDecl*>& scaled() const { return scaled_; }

 private:
  bool derived(const clang::Expr* e, llvm::DenseSet<const void*>& seen) const;
  void traceDecl(const clang::ValueDecl* d, const clang::Expr* sink);
  void traceReads(const clang::ValueDecl* d);

  const Definitions& definitions_;
  Changes changes_;
  std::function<bool(const clang::Expr*)> training_, known_;
  llvm::SetVector<const clang::Expr*> places_, mixed_;
  llvm::DenseSet<const clang::ValueDecl*> scaled_;
};

}  // namespace hvdize
