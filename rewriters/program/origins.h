// SPDX-License-Identifier: Apache-2.0
// Where a value comes from: through variables, parameters, fields and returns to the expressions that make it.
#pragma once

#include <vector>

#include "rewriters/program/author.h"

namespace hvdize {

/// One place that gives a variable, parameter or field a value.
struct Definition {
  const clang::Expr* value = nullptr;
  /// Not by `=` or an initialiser: `+=`, `++`, or an unknown change through a pointer or reference (value is then null or the
  /// right-hand side).
  bool compound = false;
  /// By a function that got its address or a reference to it: the value stands in that function, which may serve others too.
  bool through = false;
};

/// A call that sets an option of an object: in the expression that makes it, or later in a statement of its own, `options.reduction(kSum);`.
struct Setting {
  const clang::Expr* tree = nullptr;  ///< the expression with the call in it
  bool certain = true;                ///< it is made whenever the object is
  bool origin = false;                ///< one of the expressions that make the object
};

/// All definitions of the author's variables, parameters and fields.
class Definitions {
 public:
  explicit Definitions(const AuthorCode& code);

  llvm::ArrayRef<Definition> of(const clang::ValueDecl* d) const;
  /// All places that name the variable, parameter or field.
  llvm::ArrayRef<const clang::Expr*> uses(const clang::ValueDecl* d) const;
  /// What the function returns.
  llvm::ArrayRef<const clang::Expr*> returns(const clang::FunctionDecl* f) const;

  /// The expressions that may have made the value of `e`: constructions, calls of opaque functions, literals, arithmetic.
  /// References, copies, moves, smart pointers, parameters, fields, author functions and conditional operators are followed.
  std::vector<const clang::Expr*> origins(const clang::Expr* e) const;

  /// The origins of an options object, or of what has one, and the statements that change its options afterwards, in the order of the text.
  std::vector<Setting> settings(const clang::Expr* e) const;

  const AuthorCode& code() const { return code_; }

 private:
  void scan(const clang::Stmt* s);
  void scanExpr(const clang::Expr* e);
  void scanCall(const clang::Expr* call);
  void scanInit(const clang::ValueDecl* d, const clang::Expr* init);
  void scanList(const clang::InitListExpr* list);
  void assigned(const clang::ValueDecl* d, const clang::Expr* value, bool compound);
  void linkOutParameters();
  bool isCertain(const clang::ValueDecl* d, const clang::Expr* change) const;
  void settersOn(const clang::ValueDecl* d, bool certain, std::vector<Setting>& out, llvm::DenseSet<const clang::ValueDecl*>& seen) const;
  void follow(const clang::Expr* e, std::vector<const clang::Expr*>& out, llvm::DenseSet<const void*>& seen) const;
  void followDecl(const clang::ValueDecl* d, const clang::Expr* e, std::vector<const clang::Expr*>& out,
                  llvm::DenseSet<const void*>& seen) const;
  bool followPart(const clang::Expr* whole, unsigned index, clang::QualType type, std::vector<const clang::Expr*>& out,
                  llvm::DenseSet<const void*>& seen) const;

  const AuthorCode& code_;
  mutable unsigned partsDeep_ = 0;
  llvm::DenseMap<const clang::ValueDecl*, std::vector<Definition>> definitions_;
  /// What functions assign through their reference and pointer parameters, and which variables are given for those.
  llvm::DenseMap<const clang::ValueDecl*, std::vector<Definition>> written_;
  std::vector<std::pair<const clang::ValueDecl*, const clang::ParmVarDecl*>> outs_;
  llvm::DenseMap<const clang::ValueDecl*, std::vector<const clang::Expr*>> uses_;
  llvm::DenseMap<const clang::FunctionDecl*, std::vector<const clang::Expr*>> returns_;
};

/// The lambda that a function object is made of, itself or in a variable that holds nothing else; null where that is not seen.
const clang::LambdaExpr* lambdaBehind(const Definitions& definitions, const clang::Expr* e);
/// Is this the right side of `x[i] = value`, not of `x = value`?
bool givesPart(const AuthorCode& code, const clang::Expr* value);
/// std::swap(a, b)
bool swaps(const clang::Expr* call);
/// Does the call make something of its arguments and leave them as they are: `make_unique<T>(a)`, `list.emplace_back(a)`?
bool handsOn(const clang::Expr* call);
/// The variable, parameter, field or binding an expression names (through casts, `*`, `->` and `[]` is not followed), or null.
const clang::ValueDecl* declOf(const clang::Expr* e);
/// The variable or field at the root of an lvalue: `a` in `a.b[i].c`, `*a`, `a->x`, `a[i]`; a field of the author's own classes
/// is its own root.
const clang::ValueDecl* rootOf(const clang::Expr* e);

}  // namespace hvdize
