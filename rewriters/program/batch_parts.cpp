// SPDX-License-Identifier: Apache-2.0
// A loader's batches that a loop takes in parts, each with a backward pass of its own and one step behind them: the batch stays whole on every rank, and
// each part is shared out.
#include "clang/AST/StmtCXX.h"

#include "rewriters/program/batches.h"
#include "rewriters/program/host.h"

using namespace clang;

namespace hvdize {

// batch.data, batch.data.to(device), a variable that holds one of those: rows of the batch in their order.
bool Batches::isOfBatch(const LoaderLoop& loop, const Expr* e, unsigned depth) const {
  const auto origins = definitions_.origins(e);
  return depth < 6 && !origins.empty() && llvm::all_of(origins, [&](const Expr* o) {
    const Entry* entry = calleeOf(o) ? dialect_.lookup(o) : nullptr;
    if (entry) return entry->role == Role::Op && entry->op == OpKind::Elementwise && objectOf(o) && isOfBatch(loop, objectOf(o), depth + 1);
    const auto* m = dyn_cast<MemberExpr>(o);
    const auto* arrow = m ? dyn_cast<CXXOperatorCallExpr>(strip(m->getBase())) : nullptr;
    const ValueDecl* d = m ? declOf(arrow ? arrow->getArg(0) : m->getBase()) : declOf(o);
    if (d == loop.variable) return true;
    const auto* b = dyn_cast_or_null<BindingDecl>(d);
    if (b && b->getDecomposedDecl() == loop.variable) return true;
    // auto x = *it; the batch itself under another name.
    const auto* v = dyn_cast_or_null<VarDecl>(d);
    return v && m && v->getInit() && isOfBatch(loop, v->getInit(), depth + 1);
  });
}

// Does the call work along the first dimension: is that said, or left to its default?
bool Batches::alongFirst(const Expr* call, const Entry& entry) const {
  const auto arguments = argumentsOf(call);
  if (entry.dim < 0 || entry.dim >= static_cast<int>(arguments.size()) || isa<CXXDefaultArgExpr>(arguments[entry.dim])) return entry.defaultDim.value_or(0) == 0;
  return dimensionOf(call, entry, code_.context()) == 0;
}

// batch.data.narrow(0, at, n), an element of batch.data.chunk(4).
bool Batches::isPartOf(const LoaderLoop& loop, const Expr* cut) const {
  const auto* item = dyn_cast<CXXOperatorCallExpr>(cut);
  const Expr* list = item && item->getOperator() == OO_Subscript && isStdRecord(item->getArg(0)->getType()) ? item->getArg(0) : nullptr;
  if (!list)
    if (const ValueDecl* d = isa<DeclRefExpr>(cut) ? declOf(cut) : nullptr; d && isLoopElement(d))
      if (const auto* r = code_.declStmt(cast<VarDecl>(d)) ? dyn_cast_or_null<CXXForRangeStmt>(code_.parent(code_.declStmt(cast<VarDecl>(d)))) : nullptr) list = r->getRangeInit();
  if (list) {
    const auto origins = definitions_.origins(list);
    return !origins.empty() && llvm::all_of(origins, [&](const Expr* o) {
      return calleeOf(o) && dialect_.lookup(o) && (calleeName(o) == "chunk" || calleeName(o) == "split") && objectOf(o) && isOfBatch(loop, objectOf(o)) &&
             alongFirst(o, *dialect_.lookup(o));
    });
  }
  const Entry* entry = calleeOf(cut) ? dialect_.lookup(cut) : nullptr;
  return entry && entry->role == Role::Op && entry->op == OpKind::Select && dialect_.is(cut->getType(), Role::Tensor) && objectOf(cut) && isOfBatch(loop, objectOf(cut)) &&
         !takesColumns(cut) && (entry->index >= 0 || alongFirst(cut, *entry)) && calleeName(cut) != "select" && !item;
}

// Is the loss of this backward pass made from parts of the batch that a loop inside takes?
bool Batches::noteParts(LoaderLoop& loop, const Site& site, const std::vector<const Stmt*>& loops) {
  const Expr* loss = objectOf(site.call);
  for (size_t n = 1; loss && n <= loops.size(); ++n) {
    Trace t;
    t.loops.assign(loops.begin(), loops.begin() + static_cast<std::ptrdiff_t>(n));
    const llvm::SetVector<const Expr*> before = shards_;
    formsBatch(loss, t);
    Parts parts{loop.loop, loops[n - 1], {}};
    for (const Expr* e : shards_)
      if (!before.count(e)) parts.cuts.insert(e);
    shards_ = before;
    if (parts.cuts.empty()) continue;
    const auto isPart = [&](const Expr* e) { return isPartOf(loop, e); };
    const auto isMade = [&](const Expr* e) { return isPart(e) || freshTensor(e, dialect_) || dialect_.is(e, Role::RandomDraw); };
    if (!llvm::any_of(parts.cuts, isPart) || !llvm::all_of(parts.cuts, isMade)) return false;
    parts_.push_back(std::move(parts));
    return true;
  }
  return false;
}

// A step has one slice of one batch: either of the loader's, or of the parts of them all.
void Batches::settleParts() {
  const auto loaderOf = [&](const Parts& p) { return llvm::find_if(loaderLoops_, [&](const LoaderLoop& l) { return l.loop == p.around; }); };
  llvm::erase_if(parts_, [&](const Parts& p) { return loaderOf(p)->direct; });
  for (const Parts& p : parts_) {
    const auto around = loaderOf(p);
    around->trains = false;
    around->inParts = true;
    around->whole = "a loop in it takes its batches in parts, which are shared out";
    for (const Expr* e : p.cuts) shards_.insert(e);
    if (llvm::none_of(handLoops_, [&](const HandLoop& h) { return h.loop == p.loop; })) handLoops_.push_back({p.loop, code_.functionOf(p.loop), true});
  }
}

}  // namespace hvdize
