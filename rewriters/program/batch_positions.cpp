// SPDX-License-Identifier: Apache-2.0
// How many positions a function of the program's draws, at one call of it: `for (auto p : random_positions(rows, batch))`.
#include "clang/AST/StmtCXX.h"

#include "rewriters/program/host.h"
#include "rewriters/program/model.h"

using namespace clang;

namespace hvdize {

// The only value that a function returns.
static const Expr* returnedBy(const Stmt* body) {
  const Expr* value = nullptr;
  unsigned returns = 0;
  const auto walk = [&](auto&& self, const Stmt* s) -> void {
    if (!s || isa<LambdaExpr>(s)) return;
    if (const auto* r = dyn_cast<ReturnStmt>(s)) value = r->getRetValue(), ++returns;
    for (const Stmt* c : s->children()) self(self, c);
  };
  walk(walk, body);
  return returns == 1 ? value : nullptr;
}

// A number of the called function as the caller gives it. What the function makes of it is its own, and may serve other calls.
const Expr* Model::givenAt(const Expr* call, const Function& called, const Expr* size) const {
  const ValueDecl* d = declOf(size);
  const auto* p = dyn_cast_or_null<ParmVarDecl>(d);
  if (!p || p->getFunctionScopeIndex() >= called.decl->getNumParams() || called.decl->getParamDecl(p->getFunctionScopeIndex()) != p) return nullptr;
  for (const Definition& def : definitions.of(p))
    if (def.compound || !def.value || isWithin(code, def.value, called.body)) return nullptr;
  const auto arguments = argumentsOf(call);
  return p->getFunctionScopeIndex() < arguments.size() ? arguments[p->getFunctionScopeIndex()] : nullptr;
}

// A call in the step of a function that fills a list with draws, or gives drawn positions as a tensor.
const Expr* Model::sizeReturned(const Expr* call) const {
  const auto targets = calleeOf(call) && batches.inStep(call) > 0 ? code.targets(call) : llvm::SmallVector<const FunctionDecl*, 2>();
  const Function* called = targets.size() == 1 ? code.find(targets.front()) : nullptr;
  const Expr* value = called ? returnedBy(called->body) : nullptr;
  if (!value) return nullptr;
  if (isStdRecord(value->getType())) {
    const Expr* size = drawsIn(called->body, 0) ? sizeCollected(strip(value)) : nullptr;
    return size ? givenAt(call, *called, size) : nullptr;
  }
  const auto made = definitions.origins(value);
  const Entry* entry = made.size() == 1 && calleeOf(made[0]) ? context.dialect.lookup(made[0]) : nullptr;
  const auto arguments = argumentsOf(made.empty() ? value : made[0]);
  if (!entry || entry->role != Role::RandomDraw || entry->shape < 0 || entry->shape >= static_cast<int>(arguments.size())) return nullptr;
  const Expr* shape = arguments[entry->shape];
  const auto extents = extentsOf(shape);
  if (extents && !extents->empty()) return givenAt(call, *called, extents->front());
  const Expr* given = givenAt(call, *called, shape);
  const auto outer = given ? extentsOf(given) : std::nullopt;
  return outer && !outer->empty() ? outer->front() : nullptr;
}

// The list or tensor of positions that a loop goes through, made anew in each step: how many there are.
const Expr* Model::sizeVisited(const Expr* positions) const {
  const Expr* e = strip(positions);
  const auto* v = dyn_cast_or_null<VarDecl>(isa<DeclRefExpr>(e) ? declOf(e) : nullptr);
  if (!v) return sizeReturned(e);
  if (const auto* p = dyn_cast<ParmVarDecl>(v)) {  // of a function that puts the items of its list together
    const auto given = definitions.of(p);
    const auto* list = given.empty() || !given[0].value ? nullptr : dyn_cast_or_null<VarDecl>(declOf(given[0].value));
    const bool same = list && list != p && llvm::all_of(given, [&](const Definition& def) { return def.value && !def.compound && declOf(def.value) == list; });
    return same && list->isLocalVarDecl() ? sizeThatSteps(list) : nullptr;
  }
  if (const Expr* size = v->isLocalVarDecl() ? sizeThatSteps(v) : nullptr) return size;
  const DeclStmt* declared = code.declStmt(v);
  if (!v->isLocalVarDecl() || v->isStaticLocal() || !declared || batches.inStep(declared) == 0) return nullptr;
  const auto given = definitions.of(v);
  if (given.size() == 1 && given[0].value && !given[0].compound)
    if (const Expr* size = sizeReturned(strip(given[0].value))) return size;
  return sizeCollected(e);
}

}  // namespace hvdize
