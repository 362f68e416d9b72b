// SPDX-License-Identifier: Apache-2.0
// Branches for single samples: `if (x.dim() == 3) x = x.unsqueeze(0);`. What is seen of a batch's dimensions decides whether one ever goes there.
#include "clang/AST/StmtCXX.h"

#include "rewriters/program/evaluate.h"
#include "rewriters/program/sites.h"

using namespace clang;

namespace hvdize {

static std::optional<int> dimensionsWritten(const Expr* e, const ASTContext& context) {
  Expr::EvalResult r;
  const bool number = e->getType()->isIntegralOrEnumerationType() && !e->isValueDependent() && e->EvaluateAsInt(r, context);
  return number ? std::optional(static_cast<int>(r.Val.getInt().getExtValue())) : std::nullopt;
}

// `x.dim()`, `x.sizes().size()`, also by way of a variable: the tensor that is asked; null for other expressions.
const Expr* Kinds::askedForDimensions(const Expr* number, unsigned depth) const {
  constexpr unsigned kDeepest = 3;
  number = strip(number);
  while (const auto* cast = dyn_cast<ExplicitCastExpr>(number)) number = strip(cast->getSubExpr());
  if (const auto* r = dyn_cast<DeclRefExpr>(number)) {
    const auto* v = dyn_cast_or_null<VarDecl>(declOf(r));
    const auto made = v && !isa<ParmVarDecl>(v) ? definitions_.of(v) : llvm::ArrayRef<Definition>();
    return made.size() == 1 && made[0].value && depth < kDeepest ? askedForDimensions(made[0].value, depth + 1) : nullptr;
  }
  const llvm::StringRef name = calleeOf(number) && objectOf(number) && argumentsOf(number).empty() ? calleeName(number) : "";
  if (name == "size") {
    const Expr* extents = strip(objectOf(number));
    const Entry* entry = calleeOf(extents) && objectOf(extents) ? dialect_.lookup(extents) : nullptr;
    return entry && entry->role == Role::Op && entry->op == OpKind::Size && argumentsOf(extents).empty() ? objectOf(extents) : nullptr;
  }
  const Entry* entry = name.empty() ? nullptr : dialect_.lookup(number);
  return entry && entry->role == Role::Op && entry->op == OpKind::ShapeOnly && (name == "dim" || name == "ndimension" || name == "rank") ? objectOf(number) : nullptr;
}

bool Kinds::asksForDimensions(const Expr* condition, unsigned depth) const {
  constexpr unsigned kDeepest = 3;
  bool asks = false;
  forEachExpr(condition, [&](const Expr* x) {
    if (asks) return;
    const auto* v = isa<DeclRefExpr>(x) && x->getType()->isBooleanType() ? dyn_cast_or_null<VarDecl>(declOf(x)) : nullptr;
    asks = askedForDimensions(x, 0) || (v && v->getInit() && depth < kDeepest && asksForDimensions(v->getInit(), depth + 1));
  });
  return asks;
}

// The number of dimensions of a tensor with the rows of a batch, followed through parameters and layers; -1 where that is not seen.
int Kinds::dimensionsOfBatch(const Expr* tensor) {
  const auto isBatch = [this](const Expr* value) { return of(value).dependsOnSamples(); };
  const auto givenTo = [this](const ParmVarDecl* p) -> std::optional<llvm::ArrayRef<const Expr*>> {
    const auto it = handed_.find(p);
    return it == handed_.end() || seeded_.contains(p) ? std::nullopt : std::optional(llvm::ArrayRef<const Expr*>(it->second.getArrayRef()));
  };
  const auto runBy = [this](const Expr* call) {
    const auto it = run_.find(call);
    return it == run_.end() ? llvm::ArrayRef<const FunctionDecl*>() : llvm::ArrayRef<const FunctionDecl*>(it->second);
  };
  return ranks_.ofBatch(tensor, {isBatch, givenTo, runBy});
}

// Whether the condition holds for every batch, or for none, by the number of dimensions alone; nothing where that is not seen.
std::optional<bool> Kinds::holdsForBatches(const Expr* condition, unsigned depth) {
  constexpr unsigned kDeepest = 6;
  condition = condition ? strip(condition) : nullptr;
  if (!condition || depth > kDeepest) return std::nullopt;
  if (const auto* r = dyn_cast<DeclRefExpr>(condition)) {
    const auto* v = dyn_cast_or_null<VarDecl>(declOf(r));
    const auto made = v && !isa<ParmVarDecl>(v) && v->getType()->isBooleanType() ? definitions_.of(v) : llvm::ArrayRef<Definition>();
    return made.size() == 1 && made[0].value ? holdsForBatches(made[0].value, depth + 1) : std::nullopt;
  }
  if (const auto* u = dyn_cast<UnaryOperator>(condition)) {
    const auto inner = u->getOpcode() == UO_LNot ? holdsForBatches(u->getSubExpr(), depth + 1) : std::nullopt;
    return inner ? std::optional(!*inner) : std::nullopt;
  }
  const auto* b = dyn_cast<BinaryOperator>(condition);
  if (!b) return std::nullopt;
  if (b->isLogicalOp()) {
    const bool decisive = b->getOpcode() == BO_LOr;
    const auto l = holdsForBatches(b->getLHS(), depth + 1), r = holdsForBatches(b->getRHS(), depth + 1);
    if (l == decisive || r == decisive) return decisive;
    return l && r ? std::optional(!decisive) : std::nullopt;
  }
  if (!b->isComparisonOp()) return std::nullopt;
  const bool turned = dimensionsWritten(b->getLHS(), code_.context()).has_value();
  const Expr* tensor = askedForDimensions(turned ? b->getRHS() : b->getLHS(), 0);
  const auto number = dimensionsWritten(turned ? b->getLHS() : b->getRHS(), code_.context());
  if (!tensor || !number || of(tensor).kind != Kind::Sharded) return std::nullopt;
  const int exact = dimensionsOfBatch(tensor);
  const int least = exact >= 0 ? exact : ranks_.atLeast(tensor);
  const int written = *number;
  const auto op = turned ? BinaryOperator::reverseComparisonOp(b->getOpcode()) : b->getOpcode();
  const bool above = exact < 0 && least > written;  // and perhaps more
  if (exact < 0 && !above) return std::nullopt;
  switch (op) {
    case BO_EQ: return least == written;
    case BO_NE: return least != written;
    case BO_LT: return least < written;
    case BO_LE: return least <= written;
    case BO_GT: return least > written;
    case BO_GE: return least >= written;
    default: return std::nullopt;
  }
}

// The branch that no batch takes: what it names is a single sample there. That no batch goes there is taken for given while it is looked at: by
// way of the branch itself none comes there first (`return forward(x.unsqueeze(0));`).
void Kinds::walkGuarded(const Expr* condition, const Stmt* yes, const Stmt* no) {
  if (!asksForDimensions(condition, 0)) return;
  for (const Stmt* never : {yes, no}) {
    if (!never) continue;
    const bool before = !forSingles_.insert(never).second;
    if (holdsForBatches(condition, 0) == (never == no)) return;
    forSingles_.erase(never);
    alikeHere_.clear();
    changed_ = changed_ || before;  // a batch of another kind has come to light
  }
}

bool Kinds::isForSingles(const Expr* mention) const {
  if (forSingles_.empty()) return false;
  for (const Stmt* p = mention; p; p = code_.parent(p))
    if (forSingles_.contains(p)) return true;
  return false;
}

}  // namespace hvdize
