// SPDX-License-Identifier: Apache-2.0
// Batches that grow row by row: `for (...) all = cat({all, memory.draw()})`.
#include "clang/AST/StmtCXX.h"

#include "rewriters/program/batches.h"
#include "rewriters/program/host.h"

using namespace clang;

namespace hvdize {

namespace {

// The alternatives of `all.defined() ? cat({all, row}) : row`.
void alternatives(const Expr* e, llvm::SmallVectorImpl<const Expr*>& out) {
  e = e ? strip(e) : nullptr;
  if (const auto* c = dyn_cast_or_null<ConditionalOperator>(e)) return alternatives(c->getTrueExpr(), out), alternatives(c->getFalseExpr(), out);
  if (e) out.push_back(e);
}

// Whose part this is, `all.first`, `std::get<0>(all)`; of a variable itself, that one.
const ValueDecl* wholeOf(const Expr* e) {
  e = strip(e);
  if (const auto* m = dyn_cast<MemberExpr>(e); m && isStdRecord(m->getBase()->getType())) return declOf(strip(m->getBase()));
  const bool part = isa<CallExpr>(e) && calleeOf(e) && calleeOf(e)->isInStdNamespace() && calleeName(e) == "get" && argumentsOf(e).size() == 1;
  return declOf(part ? strip(argumentsOf(e)[0]) : e);
}

// What is assigned to parts of a pair or tuple, `std::get<0>(all) = x`.
void partsGiven(const AuthorCode& code, const Definitions& definitions, const ValueDecl* v, llvm::SmallVectorImpl<const Expr*>& out) {
  for (const Expr* use : definitions.uses(v))
    for (const Stmt* p = code.parent(use); isa_and_nonnull<Expr>(p); p = code.parent(p))
      if (const auto* o = dyn_cast<CXXOperatorCallExpr>(p); o && o->getOperator() == OO_Equal) {
        if (isWithin(code, use, o->getArg(0)) && wholeOf(o->getArg(0)) == v) out.push_back(o->getArg(1));
        break;
      }
}

}  // namespace

// Is the variable, at this mention, what rows were joined to one after the other in a loop that has ended? Each row was drawn in that loop, so the whole is the batch and
// not the single row.
bool Batches::isGrown(const Expr* mention, Trace& t) {
  const auto* v = isa<DeclRefExpr>(mention) ? dyn_cast_or_null<VarDecl>(declOf(mention)) : nullptr;
  const CXXRecordDecl* record = v ? v->getType()->getAsCXXRecordDecl() : nullptr;
  const bool several = record && record->getDeclName().isIdentifier() && record->isInStdNamespace() && (record->getName() == "tuple" || record->getName() == "pair") && carriesSamples(v->getType());
  const Stmt* home = v && v->isLocalVarDecl() && (several || dialect_.is(v->getType(), Role::Tensor)) && !v->getType()->isReferenceType() ? code_.declStmt(v) : nullptr;
  if (!home) return false;
  llvm::SmallVector<const Expr*, 8> given;
  for (const Definition& def : definitions_.of(v))
    if (def.value && !def.through) given.push_back(def.value);
  if (several) partsGiven(code_, definitions_, v, given);
  for (const Expr* assigned : given) {
    llvm::SmallVector<const Expr*, 2> values;
    if (evaluatedIn(assigned, t)) alternatives(assigned, values);
    for (const Expr* value : values) {
      const Entry* entry = calleeOf(value) ? dialect_.lookup(value) : nullptr;
      if (!entry || entry->role != Role::Op || entry->op != OpKind::Concat || dimensionOf(value, *entry, code_.context()).value_or(1) != 0 || calleeName(value).contains("stack")) continue;
      const auto parts = argumentsOf(value).empty() ? std::nullopt : extentsOf(argumentsOf(value)[0]);
      if (!parts || llvm::none_of(*parts, [&](const Expr* p) { return wholeOf(p) == v; })) continue;
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
        if (wholeOf(p) == v) continue;
        Trace row = t;
        row.found.clear();
        if (inputs(p, row) && llvm::any_of(row.found, within)) return true;
      }
    }
  }
  return false;
}

}  // namespace hvdize
