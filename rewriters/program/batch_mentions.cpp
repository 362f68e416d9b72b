// SPDX-License-Identifier: Apache-2.0
// A batch that is cut where the step reads it, `net(shard(x))` of `for (auto& [x, y] : pairs)`, may be read again beside what the model made of it: in a
// metric, `(out.argmax(1) == y).sum()`. Those rows are this rank's, and so are the ones that they meet.
#include "llvm/ADT/FoldingSet.h"

#include "rewriters/program/batches.h"
#include "rewriters/program/data_draws.h"
#include "rewriters/program/host.h"

using namespace clang;

namespace hvdize {

// Goes the value of this mention, through operations of the framework and variables, into the model, or to where rows of its outputs meet it?
bool Batches::meetsOutputs(const Expr* mention, unsigned depth) const {
  if (depth > 4) return false;
  for (const Stmt* p = code_.parent(mention); p; p = code_.parent(p)) {
    if (const auto* ds = dyn_cast<DeclStmt>(p)) {
      const auto* v = ds->isSingleDecl() ? dyn_cast<VarDecl>(ds->getSingleDecl()) : nullptr;
      return v && dialect_.is(v->getType().getNonReferenceType(), Role::Tensor) && definitions_.of(v).size() == 1 &&
             llvm::any_of(definitions_.uses(v), [&](const Expr* use) { return meetsOutputs(use, depth + 1); });
    }
    const auto* e = dyn_cast<Expr>(p);
    if (!e || isa<LambdaExpr>(e)) return false;
    if (calleeOf(e) && !isa<CXXConstructExpr>(e)) {
      const auto forward = [&](const FunctionDecl* f) { return sites_.functionReaches(f, Role::Forward); };
      if (dialect_.is(e, Role::Forward) || llvm::any_of(code_.targets(e), forward)) return true;
      llvm::SmallVector<const Expr*, 4> others = argumentsOf(e);
      if (const Expr* object = objectOf(e)) others.push_back(object);
      for (const Expr* other : others) {
        llvm::DenseSet<const ValueDecl*> seen;
        if (!isWithin(code_, mention, other) && dialect_.is(other->getType().getNonReferenceType(), Role::Tensor) && comesFromModel(other, definitions_, sites_, seen)) return true;
      }
      const Entry* entry = dialect_.lookup(e);
      if (!entry || entry->role != Role::Op || !dialect_.is(e->getType().getNonReferenceType(), Role::Tensor)) return false;
    }
  }
  return false;
}

void Batches::addMentions() {
  ASTContext& context = code_.context();
  const auto profile = [&](const Expr* e) {
    llvm::FoldingSetNodeID id;
    e->Profile(id, context, true);
    return id;
  };
  const std::vector<const Expr*> known(shards_.begin(), shards_.end());
  for (const HandLoop& h : handLoops_) {
    const Stmt* body = loopBody(h.loop);
    std::vector<std::pair<llvm::FoldingSetNodeID, const Expr*>> read;
    const auto ofElement = [&](const Expr* k) {
      const auto* m = dyn_cast<MemberExpr>(strip(k));
      const auto itself = [&](const Expr* x) { return isa<DeclRefExpr>(strip(x)) && declOf(x) && isLoopElement(declOf(x)); };
      return isPartOfElement(k) || isPartOfHanded(k) || isElement(k) || itself(k) || (m && (isElement(m->getBase()) || itself(m->getBase())));
    };
    for (const Expr* k : known)
      if (ofElement(k) && isWithin(code_, k, body)) read.emplace_back(profile(strip(k)), strip(k));
    if (read.empty()) continue;
    forEachExpr(body, [&](const Expr* x) {
      if (x != strip(x) || !dialect_.is(x->getType().getNonReferenceType(), Role::Tensor) || shards_.count(x)) return;
      const auto id = profile(x);
      if (llvm::none_of(read, [&](const auto& r) { return r.first == id && r.second != x; })) return;
      if (llvm::any_of(shards_, [&](const Expr* s) { return isWithin(code_, x, s) || isWithin(code_, s, x); })) return;
      if (inStep(x) > 0 && !isChangedThere(code_, dialect_, x) && meetsOutputs(x)) shards_.insert(x);
    });
  }
}

}  // namespace hvdize
