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

// The tensors with this rank's rows that `e` is computed from in a way that does not combine over ranks: a single sample, a median, a
// histogram. Gathered, they give on every rank what the program means: `labels` of labels[i].item(), of bincount(labels).max(). False
// when anything else that depends on samples goes into `e`, or when it is changed in place.
bool Kinds::computedFrom(const Expr* spelled, llvm::SmallVectorImpl<const Expr*>& rows, unsigned depth) {
  const Expr* e = strip(spelled);
  if (!e || depth > 8) return false;
  if (const auto* cast = dyn_cast<ExplicitCastExpr>(e)) return computedFrom(cast->getSubExpr(), rows, depth + 1);
  if (isa<DeclRefExpr>(e)) {
    const auto* v = dyn_cast_or_null<VarDecl>(declOf(e));
    if (!v || !v->isLocalVarDecl() || v->isStaticLocal() || !v->getInit() || !inTrainingStep(v->getInit())) return false;
    const llvm::ArrayRef<Definition> given = definitions_.of(v);
    if (given.size() != 1 || !given[0].value || strip(given[0].value) != strip(v->getInit())) return false;
    return computedFrom(v->getInit(), rows, depth + 1);
  }
  const FunctionDecl* f = calleeOf(e);
  const Entry* entry = f ? dialect_.lookup(e) : nullptr;
  if (!entry || entry->role != Role::Op || !inTrainingStep(e)) return false;
  if (entry->op == OpKind::DataPointer || entry->op == OpKind::Factory || entry->op == OpKind::Assign || entry->op == OpKind::Scatter) return false;
  if (f->getDeclName().isIdentifier() && f->getName().ends_with("_")) return false;
  llvm::SmallVector<const Expr*, 4> operands = argumentsOf(e);
  if (const Expr* object = objectOf(e)) operands.insert(operands.begin(), object);
  bool any = false;
  for (const Expr* x : operands) {
    const Value v = eval(x);
    if (v.isUniform()) continue;
    any = true;
    if (v.kind == Kind::Unknown && computedFrom(x, rows, depth + 1)) continue;
    if (v.kind != Kind::Sharded || v.joined || !isTensor(x->getType())) return false;
    rows.push_back(x);
  }
  return any;
}

// x.index_put_({i}, v), x.scatter_(dim, i, v), x.index_add_(dim, i, v): the indices say where x changes.
Value Kinds::evalScatter(const Expr* e, const Entry& entry, const Value& self) {
  llvm::SmallVector<const Expr*, 6> given;
  const auto arguments = argumentsOf(e);
  std::optional<llvm::SmallVector<const Expr*, 4>> indices;
  for (unsigned i = 0; i < arguments.size(); ++i) {
    if (static_cast<int>(i) == entry.index) indices = extentsOf(arguments[i]);
    if (static_cast<int>(i) == entry.index && indices) given.append(indices->begin(), indices->end());
    else given.push_back(arguments[i]);
  }
  if (self.isUniform()) {
    // A histogram, the same on all ranks: it takes the samples of all of them.
    for (const Expr* x : given) {
      const Value v = eval(x);
      if (isTensor(x->getType())) cross(x, v, "written");
      else if (v.kind != Kind::BatchSize) host(x);
    }
    return self;
  }
  const auto dim = dimensionOf(e, entry, code_.context());
  const bool keepsRows = entry.index >= 0 ? indices && !indices->empty() && (keepsFirstDimension(indices->front()) || eval(indices->front()).kind == Kind::Sharded)
                                          : dim && *dim != 0;
  if (self.kind == Kind::Unknown || !keepsRows)
    problem(e, self.kind == Kind::Unknown ? self : Value::unknown(e, "single samples of the batch are changed"), "single samples of the batch are changed");
  Value result = self;
  for (const Expr* x : given) result = elementwise(result, eval(x), e);
  if (const Expr* object = objectOf(e)) assign(object, result);
  return result;
}

}  // namespace hvdize
