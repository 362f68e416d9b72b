// SPDX-License-Identifier: Apache-2.0
// Batches that grow row by row: `for (...) all = cat({all, memory.draw()})`.
#include "clang/AST/StmtCXX.h"

#include "rewriters/program/batches.h"

using namespace clang;

namespace hvdize {

namespace {

// The alternatives of `all.defined() ? cat({all, row}) : row`.
void alternatives(const Expr* e, llvm::SmallVectorImpl<const Expr*>& out) {
  e = e ? strip(e) : nullptr;
  if (const auto* c = dyn_cast_or_null<ConditionalOperator>(e)) return alternatives(c->getTrueExpr(), out), alternatives(c->getFalseExpr(), out);
  if (e) out.push_back(e);
}

}  // namespace

// Is the variable, at this mention, what rows were joined to one after the other in a loop that has ended? Each row was drawn in that loop, so the whole is the batch and
// not the single row.
bool Batches::isGrown(const Expr* mention, Trace& t) {
  const auto* v = isa<DeclRefExpr>(mention) ? dyn_cast_or_null<VarDecl>(declOf(mention)) : nullptr;
  const Stmt* home = v && v->isLocalVarDecl() && dialect_.is(v->getType(), Role::Tensor) && !v->getType()->isReferenceType() ? code_.declStmt(v) : nullptr;
  if (!home) return false;
  for (const Definition& def : definitions_.of(v)) {
    llvm::SmallVector<const Expr*, 2> values;
    if (def.value && !def.through && evaluatedIn(def.value, t)) alternatives(def.value, values);
    for (const Expr* value : values) {
      const Entry* entry = calleeOf(value) ? dialect_.lookup(value) : nullptr;
      if (!entry || entry->role != Role::Op || entry->op != OpKind::Concat || dimensionOf(value, *entry, code_.context()).value_or(1) != 0 || calleeName(value).contains("stack")) continue;
      const auto parts = argumentsOf(value).empty() ? std::nullopt : extentsOf(argumentsOf(value)[0]);
      if (!parts || llvm::none_of(*parts, [&](const Expr* p) { return declOf(strip(p)) == v; })) continue;
      const Stmt* loop = nullptr;  // the outermost one behind the variable's declaration
      for (const Stmt* p = value; p && p != code_.parent(home); p = code_.parent(p))
        if (isLoop(p)) loop = p;
      if (!loop || isWithin(code_, mention, loop)) continue;
      llvm::DenseSet<const FunctionDecl*> called;
      reach(loop, called);
      const auto within = [&](const Expr* e) {
        const FunctionDecl* f = code_.functionOf(e);
        return isWithin(code_, e, loop) || (f && called.count(f->getCanonicalDecl()));
      };
      for (const Expr* p : *parts) {
        if (declOf(strip(p)) == v) continue;
        Trace row = t;
        row.found.clear();
        if (inputs(p, row) && llvm::any_of(row.found, within)) return true;
      }
    }
  }
  return false;
}

}  // namespace hvdize
