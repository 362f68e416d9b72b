// SPDX-License-Identifier: Apache-2.0
// What a data set remembers from one sample to the next: on a rank it has seen that rank's samples only.
#include "rewriters/program/data_draws.h"
#include "rewriters/program/host.h"

using namespace clang;

namespace hvdize {

namespace {

// The variable or field that lives longer than the call, and that this expression changes by what it was before: ++n, sum += x, w[i] *= 0.9.
const Expr* changedFromBefore(const Expr* e) {
  if (const auto* u = dyn_cast<UnaryOperator>(e)) return u->isIncrementDecrementOp() ? u->getSubExpr() : nullptr;
  if (const auto* b = dyn_cast<BinaryOperator>(e)) return b->isCompoundAssignmentOp() ? b->getLHS() : nullptr;
  const auto* o = dyn_cast<CXXOperatorCallExpr>(e);
  if (!o || o->getNumArgs() == 0) return nullptr;
  const bool compound = o->isAssignmentOp() && o->getOperator() != OO_Equal;
  return compound || o->getOperator() == OO_PlusPlus || o->getOperator() == OO_MinusMinus ? o->getArg(0) : nullptr;
}

// `n = n + 1`
const Expr* assignedFromBefore(const AuthorCode& code, const Definitions& definitions, const Expr* e) {
  const auto* b = dyn_cast<BinaryOperator>(e);
  const ValueDecl* d = b && b->getOpcode() == BO_Assign ? rootOf(b->getLHS()) : nullptr;
  if (!d) return nullptr;
  const bool again = llvm::any_of(definitions.uses(d), [&](const Expr* use) { return isWithin(code, use, b->getRHS()); });
  return again ? b->getLHS() : nullptr;
}

// Does what is changed live longer than the reading of one sample: a field of the data set or transform, a global or captured variable? The
// fields of objects that a reader makes for itself do not.
bool outlives(const Expr* target, const FunctionDecl* f, const DataFunctions& data, const Dialect& dialect) {
  for (const Expr* e = strip(target); e; e = strip(e)) {
    if (isa<CXXThisExpr>(e)) {
      const auto* m = dyn_cast<CXXMethodDecl>(f);
      return m && (takesExamples(dialect, m) || dialect.is(m->getParent(), Role::Dataset));
    }
    if (isa<DeclRefExpr>(e)) {
      const auto* v = dyn_cast_or_null<VarDecl>(declOf(e));
      const auto* home = v ? dyn_cast<FunctionDecl>(v->getDeclContext()) : nullptr;
      return v && (v->hasGlobalStorage() || (home && !isa<ParmVarDecl>(v) && !data.contains(home->getCanonicalDecl())));
    }
    if (const auto* m = dyn_cast<MemberExpr>(e)) e = m->getBase();
    else if (const auto* a = dyn_cast<ArraySubscriptExpr>(e)) e = a->getBase();
    else if (const auto* u = dyn_cast<UnaryOperator>(e)) e = u->getSubExpr();
    else e = objectOf(e);
  }
  return false;
}

}  // namespace

std::vector<StateOfData> stateOfData(const AuthorCode& code, const Dialect& dialect, const Definitions& definitions, const Batches& batches) {
  std::vector<StateOfData> out;
  if (!batches.shareLoaders()) return out;
  const DataFunctions data = readersOfSamples(code, dialect);
  llvm::DenseSet<const ValueDecl*> told;
  for (const Function& f : code.functions()) {
    if (!data.contains(f.decl->getCanonicalDecl())) continue;
    forEachExpr(f.body, [&](const Expr* e) {
      const Expr* target = changedFromBefore(e);
      if (!target) target = assignedFromBefore(code, definitions, e);
      const ValueDecl* d = target ? rootOf(target) : nullptr;
      if (!d || told.contains(d) || !outlives(target, f.decl, data, dialect)) return;
      // Nobody may look at it but the change itself; that it begins anew elsewhere says nothing.
      const bool read = llvm::any_of(definitions.uses(d), [&](const Expr* use) {
        if (isWithin(code, use, e)) return false;
        const Stmt* below = use;
        const Stmt* p = code.parent(use);
        for (; isa_and_nonnull<ParenExpr, ImplicitCastExpr, ArraySubscriptExpr>(p); p = code.parent(p)) below = p;
        const auto* b = dyn_cast_or_null<BinaryOperator>(p);
        const auto* x = dyn_cast_or_null<Expr>(p);
        const bool set = (b && b->getOpcode() == BO_Assign && b->getLHS() == below) || (x && changedFromBefore(x) == below && !isa_and_nonnull<Expr>(code.parent(p)));
        return !set;
      });
      // `if (++n % 100 == 0)`: the change is read itself.
      const Stmt* around = code.parent(e);
      while (isa_and_nonnull<ExprWithCleanups, ParenExpr>(around)) around = code.parent(around);
      if (!read && !isa_and_nonnull<Expr>(around) && !isa_and_nonnull<IfStmt, ReturnStmt, DeclStmt>(around)) return;
      told.insert(d);
      out.push_back({e, d->getNameAsString()});
    });
  }
  return out;
}

}  // namespace hvdize
