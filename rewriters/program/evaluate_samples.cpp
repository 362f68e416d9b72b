// SPDX-License-Identifier: Apache-2.0
// Single samples of a batch that the host reads: labels[i].item() in a loop over the rows, the first prediction in a print.
#include "clang/AST/StmtCXX.h"

#include "rewriters/program/evaluate.h"

using namespace clang;

namespace hvdize {

// Does a round of a training loop stand around `e`, in the same function?
bool Kinds::inTrainingStep(const Expr* e) const {
  for (const Stmt* p = e; p; p = code_.parent(p)) {
    for (const LoaderLoop& l : batches_.loaderLoops())
      if (l.loop == p) return l.trains && batches_.inBody(e, p);
    for (const HandLoop& h : batches_.handLoops())
      if (h.loop == p) return batches_.inBody(e, p);
  }
  return false;
}

// The tensor with this rank's rows of which `e` is a single sample, or computed from one: gathered, it holds the sample that the
// program means on every rank. `labels` of labels[i].item(), of labels[i][0].to(cpu). Null when more than one value of the batch goes
// into `e`, or what is chosen is not the same on all ranks.
const Expr* Kinds::sampledFrom(const Expr* spelled, unsigned depth) {
  const Expr* e = strip(spelled);
  if (!e || depth > 8) return nullptr;
  if (const auto* cast = dyn_cast<ExplicitCastExpr>(e)) return sampledFrom(cast->getSubExpr(), depth + 1);
  if (isa<DeclRefExpr>(e)) {
    const auto* v = dyn_cast_or_null<VarDecl>(declOf(e));
    if (!v || !v->isLocalVarDecl() || v->isStaticLocal() || !v->getInit() || !inTrainingStep(v->getInit())) return nullptr;
    const llvm::ArrayRef<Definition> given = definitions_.of(v);
    if (given.size() != 1 || !given[0].value || strip(given[0].value) != strip(v->getInit())) return nullptr;
    return sampledFrom(v->getInit(), depth + 1);
  }
  const FunctionDecl* f = calleeOf(e);
  const Entry* entry = f ? dialect_.lookup(e) : nullptr;
  if (!entry || entry->role != Role::Op || !inTrainingStep(e)) return nullptr;
  if (f->getDeclName().isIdentifier() && f->getName().ends_with("_")) return nullptr;  // changes the sample in place
  llvm::SmallVector<const Expr*, 4> operands = argumentsOf(e);
  if (const Expr* object = objectOf(e)) operands.insert(operands.begin(), object);
  const Expr* of = nullptr;
  for (const Expr* x : operands) {
    const Value v = eval(x);
    if (v.kind == Kind::RankLocal || (v.dependsOnSamples() && of)) return nullptr;
    if (v.dependsOnSamples()) of = x;
  }
  if (!of) return nullptr;
  const Value v = eval(of);
  if (v.kind != Kind::Sharded) return sampledFrom(of, depth + 1);
  return entry->op == OpKind::Select && !v.joined && isTensor(of->getType()) ? of : nullptr;
}

}  // namespace hvdize
