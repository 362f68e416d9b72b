// SPDX-License-Identifier: Apache-2.0
// Is a model certainly in evaluation mode where a loop begins?
#pragma once

#include "rewriters/program/origins.h"
#include "rewriters/program/sites.h"

namespace hvdize {

class EvaluationMode {
 public:
  EvaluationMode(const Definitions& definitions, const Sites& sites) : definitions_(definitions), sites_(sites), code_(sites.code()), dialect_(sites.dialect()) {}

  /// Does anything in the program compute differently when it trains: batch norm, dropout?
  bool matters() const;
  /// Has every model that is called in the loop been put into evaluation mode on all ways to it, and not back?
  bool certainBefore(const clang::Stmt* loop) const;

 private:
  using Models = llvm::SmallVector<const clang::ValueDecl*, 4>;  ///< null: the object whose method runs
  bool callsModel(const clang::Stmt* s, llvm::DenseSet<const clang::FunctionDecl*>& seen) const;
  Models modelsIn(const clang::Stmt* body) const;
  bool proven(const clang::Stmt* at, Models open, unsigned depth) const;
  bool provenByCallers(const clang::FunctionDecl* f, const Models& open, unsigned depth) const;
  bool certain(const clang::Stmt* before, Models& open) const;
  bool trains(const clang::Stmt* s) const;
  bool oneModel() const;

  const Definitions& definitions_;
  const Sites& sites_;
  const AuthorCode& code_;
  const Dialect& dialect_;
};

}  // namespace hvdize
