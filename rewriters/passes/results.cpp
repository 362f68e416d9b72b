// SPDX-License-Identifier: Apache-2.0
#include "rewriters/passes/results.h"

#include "clang/AST/StmtCXX.h"

using namespace clang;

namespace hvdize {

namespace {

class Results {
 public:
  explicit Results(const Model& model) : m_(model) {}

  bool needed(const Expr* e) {
    if (!seen_.insert(e).second) return false;
    const Stmt* up = m_.code.parent(e);
    if (!up) return true;  // an initialiser of a member
    if (isa<ParenExpr, FullExpr, ImplicitCastExpr, CXXBindTemporaryExpr, MaterializeTemporaryExpr>(up)) return needed(cast<Expr>(up));
    if (const auto* c = dyn_cast<ExplicitCastExpr>(up)) return !c->getType()->isVoidType() && needed(c);
    if (const auto* b = dyn_cast<BinaryOperator>(up)) {
      if (b->getOpcode() == BO_Comma) return b->getRHS() == e && needed(b);
      if (b->isLogicalOp()) return b->getLHS() == e || needed(b);
      if (b->getOpcode() == BO_Assign && b->getRHS() == e) return asked(b->getLHS()) || needed(b);
      return true;
    }
    if (const auto* c = dyn_cast<ConditionalOperator>(up)) return c->getCond() == e || needed(c);
    if (isa<ReturnStmt>(up)) return returned(m_.code.functionOf(e));
    if (const auto* ds = dyn_cast<DeclStmt>(up)) {
      for (const Decl* d : ds->decls())
        if (const auto* v = dyn_cast<VarDecl>(d); v && v->getInit() && isIn(e, v->getInit())) return isAsked(v);
      return true;
    }
    if (isa<Expr>(up)) return true;
    return conditionOf(up) == e;
  }

 private:
  bool isIn(const Expr* e, const Expr* whole) const { return e == whole || isWithin(m_.code, e, whole); }

  static const Expr* conditionOf(const Stmt* s) {
    if (const auto* i = dyn_cast<IfStmt>(s)) return i->getCond();
    if (const auto* w = dyn_cast<WhileStmt>(s)) return w->getCond();
    if (const auto* d = dyn_cast<DoStmt>(s)) return d->getCond();
    if (const auto* f = dyn_cast<ForStmt>(s)) return f->getCond();
    if (const auto* w = dyn_cast<SwitchStmt>(s)) return w->getCond();
    return nullptr;
  }

  bool returned(const FunctionDecl* f) {
    if (!f || f->isMain()) return true;
    const auto callers = m_.code.callers(f);
    return callers.empty() || llvm::any_of(callers, [&](const CallSite& c) { return needed(c.call); });
  }

  bool asked(const Expr* variable) {
    const auto* v = dyn_cast_or_null<VarDecl>(declOf(strip(variable)));
    return !v || !v->isLocalVarDecl() || v->isStaticLocal() || isAsked(v);
  }

  bool isAsked(const VarDecl* v) {
    return llvm::any_of(m_.definitions.uses(v), [&](const Expr* use) {
      const auto* b = dyn_cast_or_null<BinaryOperator>(m_.code.parent(use));
      return !(b && b->getOpcode() == BO_Assign && b->getLHS() == use) && needed(use);
    });
  }

  const Model& m_;
  llvm::DenseSet<const Expr*> seen_;
};

}  // namespace

bool isResultNeeded(const Model& model, const Expr* call) { return Results(model).needed(call); }

}  // namespace hvdize
