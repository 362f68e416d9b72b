// SPDX-License-Identifier: Apache-2.0
#include "rewriters/program/sites.h"

#include "clang/AST/StmtCXX.h"

using namespace clang;

namespace hvdize {

bool isLoop(const Stmt* s) { return isa<ForStmt, WhileStmt, DoStmt, CXXForRangeStmt>(s); }

const Stmt* loopBody(const Stmt* s) {
  if (const auto* f = dyn_cast<ForStmt>(s)) return f->getBody();
  if (const auto* w = dyn_cast<WhileStmt>(s)) return w->getBody();
  if (const auto* d = dyn_cast<DoStmt>(s)) return d->getBody();
  if (const auto* r = dyn_cast<CXXForRangeStmt>(s)) return r->getBody();
  return nullptr;
}

Sites::Sites(const AuthorCode& code, const Dialect& dialect) : code_(code), dialect_(dialect) {
  for (const Root& r : code.roots()) scan(r.code, r.in);
}

void Sites::scan(const Stmt* s, const FunctionDecl* f) {
  forEachExpr(s, [&](const Expr* e) {
    const Entry* entry = nullptr;
    if (const FunctionDecl* callee = calleeOf(e)) {
      entry = dialect_.lookup(callee);
    } else if (isa<DeclRefExpr, MemberExpr>(e)) {
      const ValueDecl* d = isa<DeclRefExpr>(e) ? cast<DeclRefExpr>(e)->getDecl() : cast<MemberExpr>(e)->getMemberDecl();
      if (!isa<FunctionDecl>(d)) entry = dialect_.lookup(d);
    }
    // A copy plays no role, though its constructor may look like one that does.
    const auto* k = dyn_cast<CXXConstructExpr>(e);
    if (k && k->getConstructor()->isCopyOrMoveConstructor()) return;
    if (entry) sites_[entry->role].push_back({e, entry, f});
    // Layers are mostly made through their holders, whose constructors are the framework's.
    const bool makes = k || (calleeOf(e) && calleeOf(e)->getDeclName().isIdentifier() && calleeOf(e)->getName().starts_with("make_"));
    const Entry* layer = makes ? dialect_.lookup(e->getType()) : nullptr;
    if (layer && layer->role == Role::LayerAlong) sites_[Role::LayerAlong].push_back({e, layer, f});
    const auto given = [&](const Expr* a) { return a->getType()->isNullPtrType() || dialect_.recordOf(a->getType()) == dialect_.recordOf(e->getType()); };
    if (makes && !entry && llvm::none_of(argumentsOf(e), given) && dialect_.constructs(e->getType(), Role::StartDraws)) sites_[Role::StartDraws].push_back({e, nullptr, f});
  });
}

llvm::ArrayRef<Site> Sites::of(Role role) const {
  const auto it = sites_.find(role);
  if (it == sites_.end()) return {};
  return it->second;
}

bool Sites::functionReaches(const FunctionDecl* f, Role role) const {
  const auto key = std::make_pair(f->getCanonicalDecl(), role);
  const auto it = reach_.find(key);
  if (it != reach_.end()) return it->second == 1;
  reach_[key] = 0;  // recursion adds nothing
  const Function* known = code_.find(f);
  const bool yes = known && reaches(known->body, role);
  reach_[key] = yes ? 1 : 0;
  return yes;
}

// The lambda that a variable holds from where it is declared, itself or in a std::function.
static const LambdaExpr* lambdaHeld(const Expr* e) {
  e = strip(e);
  for (const auto* k = dyn_cast<CXXConstructExpr>(e); k && argumentsOf(k).size() == 1; k = dyn_cast<CXXConstructExpr>(e)) e = strip(argumentsOf(k)[0]);
  const auto* r = dyn_cast<DeclRefExpr>(e);
  const auto* v = r ? dyn_cast<VarDecl>(r->getDecl()) : nullptr;
  const Expr* init = v && v->getInit() ? strip(v->getInit()) : nullptr;
  for (const auto* k = dyn_cast_or_null<CXXConstructExpr>(init); k && argumentsOf(k).size() == 1; k = dyn_cast<CXXConstructExpr>(init)) init = strip(argumentsOf(k)[0]);
  return dyn_cast_or_null<LambdaExpr>(init);
}

bool Sites::reaches(const Stmt* s, Role role) const {
  bool yes = false;
  forEachExpr(s, [&](const Expr* e) {
    if (yes) return;
    if (const FunctionDecl* callee = calleeOf(e)) {
      const Entry* entry = dialect_.lookup(callee);
      if (entry && entry->role == role) {
        yes = true;
        return;
      }
    }
    for (const FunctionDecl* t : code_.targets(e))
      if (functionReaches(t, role)) yes = true;
    // A lambda that is handed to somebody may be called there; one that is kept in a variable is seen where it is called, or handed on.
    if (calleeOf(e) && !isa<CXXOperatorCallExpr, CXXConstructExpr>(e))
      for (const Expr* a : argumentsOf(e))
        if (const LambdaExpr* held = lambdaHeld(a); held && functionReaches(held->getCallOperator(), role)) yes = true;
    if (const auto* l = dyn_cast<LambdaExpr>(e))
      if (!code_.variableInitialisedBy(l) && functionReaches(l->getCallOperator(), role)) yes = true;
  });
  return yes;
}

std::vector<const Stmt*> Sites::loopsAround(const Stmt* s) const {
  std::vector<const Stmt*> out;
  for (const Stmt* p = code_.parent(s); p; p = code_.parent(p))
    if (isLoop(p)) out.push_back(p);
  return out;
}

}  // namespace hvdize
