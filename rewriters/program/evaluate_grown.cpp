// SPDX-License-Identifier: Apache-2.0
// Tensors that grow by the rows of each batch, outside of the step: `all = cat({all, out.detach()});`. They get the rows of all ranks.
#include "rewriters/program/evaluate.h"

using namespace clang;

namespace hvdize {

// The parts between the braces of a cat along the samples, on its own or cut to a length: cat({rows, queue}).slice(0, 0, n).
static std::optional<llvm::SmallVector<const Expr*, 4>> partsJoined(const Expr* value, const Dialect& dialect, ASTContext& context) {
  const Expr* e = strip(value);
  for (const Entry* entry = calleeOf(e) ? dialect.lookup(e) : nullptr; entry && entry->role == Role::Op && entry->op == OpKind::Select && objectOf(e);
       entry = calleeOf(e) ? dialect.lookup(e) : nullptr)
    e = strip(objectOf(e));
  const Entry* entry = calleeOf(e) ? dialect.lookup(e) : nullptr;
  if (!entry || entry->role != Role::Op || entry->op != OpKind::Concat || argumentsOf(e).empty() || calleeName(e) == "stack") return std::nullopt;
  if (dimensionOf(e, *entry, context).value_or(0) != 0) return std::nullopt;
  const auto list = extentsOf(argumentsOf(e)[0]);
  return list ? std::optional(llvm::SmallVector<const Expr*, 4>(list->begin(), list->end())) : std::nullopt;
}

// `all`, or `all.defined() ? all : empty({0, 4})`, or what is left of it, all.slice(0, rows.size(0)): the variable or member.
static const Expr* namedIn(const Expr* part) {
  const Expr* e = strip(part);
  if (isa<CXXMemberCallExpr>(e) && objectOf(e) && (calleeName(e) == "slice" || calleeName(e) == "narrow")) e = strip(objectOf(e));
  if (const auto* c = dyn_cast<ConditionalOperator>(e)) {
    const Expr* named = namedIn(c->getTrueExpr());
    return named ? named : namedIn(c->getFalseExpr());
  }
  return isa<DeclRefExpr, MemberExpr>(e) ? e : nullptr;
}

// Does a step join rows to what this tensor from outside of the step held before?
bool Kinds::growsByRows(const ValueDecl* d) {
  if (!d || !isTensor(d->getType().getNonReferenceType()) || !isa<VarDecl, FieldDecl>(d)) return false;
  if (const auto known = grown_.find(d); known != grown_.end()) return known->second;
  const auto joins = [&](auto&& self, const Expr* value) -> bool {
    value = strip(value);
    if (const auto* c = dyn_cast<ConditionalOperator>(value)) return self(self, c->getTrueExpr()) || self(self, c->getFalseExpr());
    const auto parts = partsJoined(value, dialect_, code_.context());
    return parts && llvm::any_of(*parts, [&](const Expr* part) { return isGrownTensor(part, d, value); });
  };
  const bool grows = llvm::any_of(definitions_.of(d), [&](const Definition& def) { return def.value && !def.compound && batches_.inStep(def.value) > 0 && joins(joins, def.value); });
  grown_[d] = grows;
  return grows;
}

// Is the part what the variable held before this step?
bool Kinds::isGrownTensor(const Expr* part, const ValueDecl* d, const Expr* at) const {
  const Expr* e = namedIn(part);
  if (!e || declOf(e) != d || !changesOutside(e, at)) return false;
  for (const Stmt* p = at; p; p = code_.parent(p))
    if (isLoop(p) && batches_.isStepLoop(p) && assignedFirst(d, p)) return false;
  const Function* f = isa<FieldDecl>(d) ? code_.find(code_.functionOf(at)) : nullptr;
  return !(f && assignedFirst(d, f->body));
}

// cat({all, rows}): the rows of the whole batch are joined to those of the batches before. Nothing where no part is such a tensor.
std::optional<Value> Kinds::joinedToGrown(const Expr* e, llvm::ArrayRef<const Expr*> parts) {
  if (batches_.inStep(e) == 0) return std::nullopt;
  const auto isGrown = [&](const Expr* part) {
    const ValueDecl* d = namedIn(part) ? declOf(namedIn(part)) : nullptr;
    return d && isGrownTensor(part, d, e) && growsByRows(d);
  };
  if (llvm::none_of(parts, isGrown)) return std::nullopt;
  Value whole(Kind::Uniform);
  // all.slice(0, rows.size(0)): as many as the whole batch has.
  for (const Expr* part : parts)
    if (isGrown(part) && calleeOf(strip(part)))
      for (const Expr* a : argumentsOf(strip(part)))
        if (const Expr* number = strip(a); number->getType()->isArithmeticType() && eval(number).kind == Kind::Rows) host(number);
  for (const Expr* part : parts)
    if (!isGrown(part) && keptWhole(part).kind == Kind::Whole) whole = Kind::Whole;
  return whole;
}

// What a tensor that grows is given: the rows of all ranks, in each branch of `all.defined() ? cat({all, rows}) : rows`.
Value Kinds::keptWhole(const Expr* value) {
  const Expr* e = strip(value);
  if (const auto* c = dyn_cast<ConditionalOperator>(e)) {
    const Value a = keptWhole(c->getTrueExpr()), b = keptWhole(c->getFalseExpr());
    return a.kind == Kind::Whole ? a : b;
  }
  const Value v = eval(value);
  if (!v.dependsOnSamples()) return v.kind == Kind::Whole ? v : Value(Kind::Uniform);
  cross(value, v, "kept");
  return v.graded && !withoutGradients(e) ? Kind::Whole : Kind::Uniform;
}

}  // namespace hvdize
