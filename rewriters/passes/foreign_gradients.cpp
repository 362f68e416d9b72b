// SPDX-License-Identifier: Apache-2.0
// Gradients that are read of tensors which no optimizer holds: nothing adds them up over ranks, and what the program makes of them by hand
// would differ between ranks.
#include "clang/AST/StmtCXX.h"

#include "rewriters/passes/steps.h"

using namespace clang;

namespace hvdize {

namespace {

// A tensor that is made here, `zeros({5}).requires_grad_()`: no second name of one that a model has.
bool isNew(const Model& m, const Expr* e, unsigned depth = 0) {
  e = strip(e);
  const Entry* entry = calleeOf(e) ? m.context.dialect.lookup(e) : nullptr;
  if (!entry || depth > 12) return false;
  if (entry->role == Role::RandomDraw || (entry->role == Role::Op && entry->op == OpKind::Factory)) return true;
  llvm::SmallVector<const Expr*, 4> operands = argumentsOf(e);
  if (const Expr* object = objectOf(e)) operands.push_back(object);
  bool any = false;
  for (const Expr* x : operands) {
    if (!m.context.dialect.is(x->getType().getNonReferenceType(), Role::Tensor)) continue;
    if (!isNew(m, x, depth + 1)) return false;
    any = true;
  }
  return any;
}

// Is the variable a new tensor, and used by operations alone, so that no list of parameters can have it?
bool isInNoList(const Model& m, const ValueDecl* d) {
  for (const Definition& def : m.definitions.of(d)) {
    bool again = def.compound;  // multiplier += 0.5 * multiplier.grad()
    const auto* made = def.value ? dyn_cast<CXXConstructExpr>(strip(def.value)) : nullptr;
    again = again || (made && argumentsOf(made).empty());  // multiplier.mutable_grad() = Tensor()
    if (def.value) forEachExpr(def.value, [&](const Expr* x) { again = again || (isa<DeclRefExpr, MemberExpr>(x) && declOf(x) == d); });
    if (!def.value || def.through || (!again && !isNew(m, def.value))) return false;
  }
  return llvm::all_of(m.definitions.uses(d), [&](const Expr* use) {
    const Stmt* p = m.code.parent(use);
    while (isa_and_nonnull<ImplicitCastExpr, ParenExpr, MaterializeTemporaryExpr, ExprWithCleanups, CXXBindTemporaryExpr>(p)) p = m.code.parent(p);
    if (isa_and_nonnull<MemberExpr>(p)) return true;
    const auto* call = dyn_cast_or_null<CallExpr>(p);
    const Entry* entry = call ? m.context.dialect.lookup(call) : nullptr;
    return entry && (entry->role == Role::Op || entry->role == Role::GradRead || entry->role == Role::Save || entry->role == Role::NoEffect || entry->role == Role::ArchiveWrite);
  });
}

// `for (auto& p : net->head->parameters()) p -= rate * p.grad();`: the model whose parameters these are.
const Expr* modelLoopedOver(const Model& m, const ValueDecl* d, const Stmt* at) {
  for (const Stmt* p = at; p; p = m.code.parent(p)) {
    const auto* loop = dyn_cast<CXXForRangeStmt>(p);
    if (!loop || loop->getLoopVariable() != d) continue;
    const Expr* range = strip(loop->getRangeInit());
    return calleeOf(range) && m.context.dialect.is(range, Role::Parameters) ? objectOf(range) : nullptr;
  }
  return nullptr;
}

// The fields that lead from a variable to the object: net, head of `net->head`.
llvm::SmallVector<const ValueDecl*, 4> pathOf(const Expr* e) {
  llvm::SmallVector<const ValueDecl*, 4> path;
  for (e = e ? strip(pointed(e)) : nullptr; e;) {
    if (const auto* member = dyn_cast<MemberExpr>(e)) {
      path.push_back(member->getMemberDecl());
      e = strip(member->getBase());
      if (isa<CXXThisExpr>(e)) break;
      if (const Expr* object = calleeOf(e) ? objectOf(e) : nullptr) e = strip(object);  // -> of a holder
    } else if (const auto* r = dyn_cast<DeclRefExpr>(e)) {
      path.push_back(r->getDecl());
      break;
    } else {
      return {};
    }
  }
  std::reverse(path.begin(), path.end());
  return path;
}

// A local model that the function makes, and nothing else: no second name of another one.
bool isMadeHere(const Model& m, const ValueDecl* d) {
  const auto* v = dyn_cast<VarDecl>(d);
  if (!v || !v->isLocalVarDecl() || v->getType()->isReferenceType() || v->getType()->isPointerType()) return false;
  return llvm::all_of(m.definitions.of(v), [&](const Definition& def) {
    bool own = def.value && !def.through;
    if (own) forEachExpr(def.value, [&](const Expr* x) { own = own && !(isa<DeclRefExpr, MemberExpr>(x) && m.context.dialect.is(x->getType(), Role::Module)) && m.code.targets(x).empty(); });
    return own;
  });
}

// Two models, or two parts of one, neither of them within the other.
bool areApart(const Model& m, const Expr* a, const Expr* b) {
  const auto x = pathOf(a), y = pathOf(b);
  const size_t n = std::min(x.size(), y.size());
  if (n == 0) return false;
  if (x[0] != y[0]) return isMadeHere(m, x[0]) && isMadeHere(m, y[0]);
  return !std::equal(x.begin(), x.begin() + n, y.begin());
}

bool isApartFromAll(const Model& m, const Expr* model) {
  return !m.optimizers.empty() && llvm::all_of(m.optimizers, [&](const OptimizerSite& o) { return o.parameters && areApart(m, o.parameters, model); });
}

}  // namespace

bool isOfNoOptimizer(const Model& m, const Site& read) {
  const Expr* object = read.entry->arg < 0 && read.entry->optimizer < 0 ? objectOf(read.call) : nullptr;
  const ValueDecl* d = object ? declOf(strip(object)) : nullptr;
  if (!d) return false;
  if (const Expr* model = modelLoopedOver(m, d, read.call))
    return m.batches.inStep(read.call) > 0 && isApartFromAll(m, model);
  if (isa<MemberExpr>(strip(object)) && !isa<CXXThisExpr>(strip(cast<MemberExpr>(strip(object))->getBase())) && m.batches.inStep(read.call) > 0)
    if (const Expr* base = cast<MemberExpr>(strip(object))->getBase(); m.context.dialect.is(pointed(base)->getType(), Role::Module) && isApartFromAll(m, pointed(base))) return true;
  const bool trained = llvm::any_of(m.definitions.uses(d), [&](const Expr* use) { return m.batches.inStep(use) > 0; });
  return trained && m.context.dialect.is(d->getType().getNonReferenceType(), Role::Tensor) && !isa<ParmVarDecl>(d) && !d->getType()->isReferenceType() && !m.definitions.of(d).empty() && isInNoList(m, d);
}

}  // namespace hvdize
