// SPDX-License-Identifier: Apache-2.0
// What the tensors in a function with a backward pass of its own are made of: one walk through a body, statement by statement.
#pragma once

#include <vector>

#include "rewriters/dialects/dialect.h"
#include "rewriters/program/author.h"

namespace hvdize {

struct PassPart {
  enum Kind {
    Unknown,
    Undefined,    ///< a tensor that holds nothing: no gradient
    Zero,
    Same,         ///< on all ranks
    Rows,         ///< a row for each sample, made from that sample
    Grads,        ///< likewise, and linear in the gradients that came in
    Sum,          ///< over the samples, of what is linear in those gradients
    RowsAcross, GradsAcross,  ///< with the samples along the second of two dimensions
    List,
  };
  Kind kind = Unknown;
  std::vector<PassPart> items;  ///< of a list

  PassPart() = default;
  PassPart(Kind k) : kind(k) {}  // NOLINT(google-explicit-constructor): most parts are no lists
};

class OwnParts {
 public:
  /// `context`: the parameter by which the two passes hand things to each other.
  OwnParts(const AuthorCode& code, const Dialect& dialect, const clang::ParmVarDecl* context, bool flat)
      : code_(code), dialect_(dialect), context_(context), flat_(flat) {}

  void set(const clang::ValueDecl* d, const PassPart& p) { parts_[d] = p; }
  void run(const clang::Stmt* body) { walk(body); }
  /// What it returns; unknown where a statement was not understood.
  PassPart result() const { return bad_ ? PassPart() : result_; }
  /// The tensors that the first pass saves for the second.
  PassPart& saved() { return saved_; }
  /// May what it returns have fewer dimensions than what it gets?
  bool reduces() const { return reduces_; }
  /// The first expression of which nothing is known.
  const clang::Expr* where() const { return where_; }

 private:
  void walk(const clang::Stmt* s);
  void returned(const PassPart& p);
  PassPart eval(const clang::Expr* e);
  PassPart evalCall(const clang::Expr* e);
  PassPart evalOp(const clang::Expr* e, const Entry& entry);
  PassPart product(const clang::Expr* e, llvm::ArrayRef<const clang::Expr*> operands);
  PassPart reshaped(const clang::Expr* e, const PassPart& of, llvm::ArrayRef<const clang::Expr*> arguments);
  PassPart changed(const clang::Expr* e, const Entry& entry);
  void store(const clang::Expr* target, const PassPart& p, const clang::Expr* at);
  bool isPlain(const clang::Expr* e);
  bool isOfContext(const clang::Expr* e) const;
  bool isTensor(clang::QualType t) const { return dialect_.is(t.getNonReferenceType(), Role::Tensor); }
  PassPart unknown(const clang::Expr* e);

  const AuthorCode& code_;
  const Dialect& dialect_;
  const clang::ParmVarDecl* context_;
  const bool flat_;  ///< a tensor may have one number for each sample: its last dimension is then that of the samples
  llvm::DenseMap<const clang::ValueDecl*, PassPart> parts_;
  PassPart saved_, result_;
  bool returned_ = false, bad_ = false, reduces_ = false;
  const clang::Expr* where_ = nullptr;
};

}  // namespace hvdize
