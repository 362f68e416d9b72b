// SPDX-License-Identifier: Apache-2.0
// Rates that the program itself computes from the batch size: `base * batch_size / 256` is scaled already where the batch size is.
#include "llvm/ADT/StringSwitch.h"

#include "rewriters/passes/steps.h"
#include "rewriters/program/host.h"

using namespace clang;

namespace hvdize {

namespace {

constexpr unsigned kDeepestSource = 12;

int growth(const Model& m, const Expr* e, unsigned depth);

int most(const Model& m, llvm::ArrayRef<const Expr*> operands, unsigned depth) {
  int n = 0;
  bool any = false;
  for (const Expr* o : operands) {
    const int g = growth(m, o, depth);
    n = any ? std::max(n, g) : g;
    any = true;
  }
  return n;
}

int growth(const Model& m, const Expr* e, unsigned depth) {
  if (e && m.batchSize.isLeft(e)) return 0;
  e = e ? strip(e) : nullptr;
  if (!e || depth > kDeepestSource || m.batchSize.isLeft(e)) return 0;
  if (m.batchSize.places().count(e)) return 1;
  if (llvm::any_of(m.kinds.rowCounts(), [&](const Expr* count) { return strip(count) == e; })) return 1;  // 0.01 * batch.size(0)
  // loader->options().batch_size: what the loader was made with.
  const ValueDecl* asked = calleeOf(e) ? calleeOf(e) : isa<MemberExpr>(e) ? declOf(e) : nullptr;
  if (asked && m.context.dialect.owns(asked) && asked->getDeclName().isIdentifier() && asked->getName() == "batch_size" && (!calleeOf(e) || argumentsOf(e).empty())) return 1;
  if (const auto* c = dyn_cast<ExplicitCastExpr>(e)) return growth(m, c->getSubExpr(), depth + 1);
  if (const auto* b = dyn_cast<BinaryOperator>(e)) {
    const int l = growth(m, b->getLHS(), depth + 1), r = growth(m, b->getRHS(), depth + 1);
    if (b->getOpcode() == BO_Mul) return l + r;
    // `rate * (step + 1) / warm`, where warm is samples / batch: a number of steps, which says how far training has come.
    if (b->getOpcode() == BO_Div) return r < 0 ? l : l - r;
    return b->isAdditiveOp() ? std::max(l, r) : 0;
  }
  if (const auto* c = dyn_cast<ConditionalOperator>(e)) return most(m, {c->getTrueExpr(), c->getFalseExpr()}, depth + 1);
  if (const ValueDecl* d = isa<DeclRefExpr, MemberExpr>(e) ? declOf(e) : nullptr) {
    if (m.batchSize.scaled().count(d)) return 1;
    llvm::SmallVector<const Expr*, 4> given;
    for (const Definition& def : m.definitions.of(d))
      if (def.value && !def.compound) given.push_back(def.value);
    return most(m, given, depth + 1);
  }
  const FunctionDecl* f = calleeOf(e);
  if (!f) return 0;
  llvm::SmallVector<const Expr*, 4> returned;
  for (const FunctionDecl* t : m.code.targets(e))
    for (const Expr* r : m.definitions.returns(t)) returned.push_back(r);
  if (!returned.empty()) return most(m, returned, depth + 1);
  const auto arguments = argumentsOf(e);
  const llvm::StringRef name = f->getDeclName().isIdentifier() ? f->getName() : "";
  if (!isSystemDecl(f) || arguments.empty()) return 0;
  // Other functions (a cosine, an exponential) have no such power.
  return llvm::StringSwitch<int>(name)
      .Cases("sqrt", "pow", "cbrt", "sqrtf", "powf", growth(m, arguments[0], depth + 1))
      .Cases("min", "max", "fmin", "fmax", most(m, arguments, depth + 1))
      .Default(0);
}

}  // namespace

bool growsWithBatch(const Model& m, const Expr* rate) { return growth(m, rate, 0) > 0; }

}  // namespace hvdize
