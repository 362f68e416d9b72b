// SPDX-License-Identifier: Apache-2.0
// Where objects of the author's classes begin.
#pragma once

#include <vector>

#include "rewriters/program/author.h"

namespace hvdize {

/// The expressions that begin an object of a class: its constructors, lists of an aggregate's items, `new`, what a library makes of it
/// (`make_shared<Net>()`, `std::vector<Net>(3)`, a holder's constructor), and the objects that it is a member or a base of. Copies begin
/// nothing: what they copy has begun elsewhere.
class Constructions {
 public:
  explicit Constructions(const AuthorCode& code);

  llvm::ArrayRef<const clang::Expr*> of(const clang::CXXRecordDecl* record) const;
  /// The class whose objects evaluate this initialiser of a field when they begin, or null.
  const clang::CXXRecordDecl* evaluating(const clang::Stmt* initialiser) const;

 private:
  void look(const clang::Expr* e);
  void add(const clang::CXXRecordDecl* record, const clang::Expr* at);
  void addNamed(llvm::ArrayRef<clang::TemplateArgument> arguments, const clang::Expr* at);

  const AuthorCode& code_;
  llvm::DenseMap<const clang::CXXRecordDecl*, llvm::SmallVector<const clang::Expr*, 4>> places_;
  llvm::DenseMap<const clang::Stmt*, const clang::CXXRecordDecl*> fields_;
};

}  // namespace hvdize
