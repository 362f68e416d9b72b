// SPDX-License-Identifier: Apache-2.0
// Do functions that make a batch of a list of samples keep the samples apart?
#include "clang/AST/StmtCXX.h"

#include "rewriters/program/collations.h"
#include "rewriters/program/host.h"

using namespace clang;

namespace hvdize {

namespace {

// The variable of the loops around that the number is; null for any other number.
const VarDecl* loopVariable(const AuthorCode& code, const Expr* number, const Stmt* at) {
  const Expr* e = strip(number);
  while (const auto* cast = dyn_cast_or_null<CastExpr>(e)) e = strip(cast->getSubExpr());
  const auto* v = e && isa<DeclRefExpr>(e) ? dyn_cast_or_null<VarDecl>(declOf(e)) : nullptr;
  for (const Stmt* p = at; v && p; p = code.parent(p)) {
    const auto* loop = dyn_cast<ForStmt>(p);
    const auto* declared = loop ? dyn_cast_or_null<DeclStmt>(loop->getInit()) : nullptr;
    if (declared && llvm::is_contained(declared->decls(), static_cast<const Decl*>(v))) return v;
  }
  return nullptr;
}

}  // namespace

// Is only its size, its type or its place asked for?
bool Collations::asksShape(const Expr* item) const {
  for (const Stmt* p = code_.parent(item); isa_and_nonnull<Expr>(p); p = code_.parent(p)) {
    const auto* e = cast<Expr>(p);
    if (const Entry* entry = isa<CallExpr>(e) ? dialect_.lookup(e) : nullptr; entry && entry->role == Role::Op)
      if (entry->op == OpKind::ShapeOnly || entry->op == OpKind::Size) return true;
    const llvm::StringRef name = isa<CallExpr>(e) ? calleeName(e) : llvm::StringRef();
    if (name == "size" || name == "empty" || name == "numel" || name == "defined") return true;
    if (isWholeStatement(code_, e)) return false;
  }
  return false;
}

bool Collations::readsSingleItem(const ValueDecl* list) const {
  return llvm::any_of(definitions_.uses(list), [&](const Expr* use) {
    const FunctionDecl* f = code_.functionOf(use);
    if (!f || !making_.contains(f->getCanonicalDecl())) return false;
    const Stmt* p = code_.parent(use);
    while (isa_and_nonnull<ImplicitCastExpr, ParenExpr>(p)) p = code_.parent(p);
    const auto* o = dyn_cast_or_null<CXXOperatorCallExpr>(p);
    const auto* m = dyn_cast_or_null<MemberExpr>(p);
    const auto* call = m ? dyn_cast_or_null<CXXMemberCallExpr>(code_.parent(m)) : nullptr;
    const Expr *item = nullptr, *at = nullptr;
    if (o && o->getOperator() == OO_Subscript && strip(o->getArg(0)) == strip(use)) item = o, at = o->getArg(1);
    if (const llvm::StringRef name = call ? calleeName(call) : llvm::StringRef(); name == "at" || name == "front" || name == "back") {
      item = call;
      at = argumentsOf(call).empty() ? nullptr : argumentsOf(call)[0];
    }
    if (!item || (at && loopVariable(code_, at, item)) || asksShape(item)) return false;
    // samples[0].weights, which belong to no sample
    for (const Stmt *below = item, *up = code_.parent(item); up; below = up, up = code_.parent(up)) {
      if (isa<ImplicitCastExpr, ParenExpr>(up)) continue;
      const auto* field = dyn_cast<MemberExpr>(up);
      if (!field || !isa<FieldDecl>(field->getMemberDecl()) || strip(field->getBase()) != strip(cast<Expr>(below))) break;
      if (!depends(field)) return false;
    }
    return true;
  });
}

bool Collations::countsPosition(const Stmt* statement) const {
  bool found = false;
  forEachExpr(statement, [&](const Expr* e) {
    const auto* cast = dyn_cast<CastExpr>(e);
    if (!cast || cast->getCastKind() != CK_IntegralToFloating) return;
    forEachExpr(cast->getSubExpr(), [&](const Expr* x) { found = found || (isa<DeclRefExpr>(x) && loopVariable(code_, x, statement)); });
  });
  return found;
}

bool Collations::mayMix(const FunctionDecl* f) const {
  f = f->getCanonicalDecl();
  if (!making_.contains(f)) return false;
  llvm::DenseSet<const void*> seen;
  const auto look = [&](auto&& self, const Expr* e) -> bool {
    e = e ? strip(e) : nullptr;
    if (!e || !seen.insert(e).second) return false;
    if (dialect_.is(e->getType(), Role::Tensor) || e->getType()->isArithmeticType()) return classify(e) == Collated::Unclear;
    const auto each = [&](const auto& parts) { return llvm::any_of(parts, [&](const Expr* x) { return self(self, x); }); };
    if (const auto* list = dyn_cast<InitListExpr>(e)) return each(list->inits());
    if (const auto* k = dyn_cast<CXXConstructExpr>(e)) return each(argumentsOf(k));
    const auto* v = isa<DeclRefExpr>(e) ? dyn_cast_or_null<VarDecl>(declOf(e)) : nullptr;
    if (!v || !v->isLocalVarDecl()) return false;
    if (v->getInit() && self(self, v->getInit())) return true;
    return llvm::any_of(definitions_.uses(v), [&](const Expr* use) {  // batch.data = stack(..);
      const auto* m = dyn_cast_or_null<MemberExpr>(code_.parent(use));
      const auto* o = m ? dyn_cast_or_null<CXXOperatorCallExpr>(code_.parent(m)) : nullptr;
      return o && o->getOperator() == OO_Equal && o->getNumArgs() == 2 && strip(o->getArg(0)) == m && self(self, o->getArg(1));
    });
  };
  return llvm::any_of(definitions_.returns(f), [&](const Expr* r) { return look(look, r); });
}

}  // namespace hvdize
