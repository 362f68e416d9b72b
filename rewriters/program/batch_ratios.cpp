// SPDX-License-Identifier: Apache-2.0
// Ratios of a batch size that changes while training goes on to the one that it began with, and sizes that say how much memory there is already.
#include "rewriters/program/model.h"

using namespace clang;

namespace hvdize {

namespace {

const Expr* plain(const Expr* e) {
  e = strip(e);
  while (const auto* c = dyn_cast<ExplicitCastExpr>(e)) e = strip(c->getSubExpr());
  return e;
}

// What the factor `place` of a product is divided by: of `rate * (double)batch / first` it is `first`.
llvm::SmallVector<const Expr*, 2> divisorsOf(const AuthorCode& code, const Expr* place) {
  llvm::SmallVector<const Expr*, 2> divisors;
  const Stmt* below = place;
  for (const Stmt* p = code.parent(place); p; below = p, p = code.parent(p)) {
    if (isa<ParenExpr, CastExpr>(p)) continue;
    const auto* b = dyn_cast<BinaryOperator>(p);
    if (!b || !(b->getOpcode() == BO_Mul || b->getOpcode() == BO_Div)) break;
    if (b->getOpcode() == BO_Mul) continue;
    if (b->getLHS() != below) break;
    divisors.push_back(plain(b->getRHS()));
  }
  return divisors;
}

}  // namespace

// `batch *= 2` makes the size new, so it is scaled where it is read, and what it began with is not. Their ratio is what the program says with neither
// scaled: one of them alone would make it larger by the number of ranks, and with it a rate that follows the batch.
void Model::leaveRatios(Quantity& q) const {
  llvm::SmallVector<const Expr*, 4> ratios;
  for (const Expr* place : q.places()) {
    const Expr* read = strip(place);
    const ValueDecl* d = isa<DeclRefExpr, MemberExpr>(read) ? declOf(read) : nullptr;
    if (!d) continue;
    for (const Expr* divisor : divisorsOf(code, place)) {
      const ValueDecl* first = isa<DeclRefExpr, MemberExpr>(divisor) ? declOf(divisor) : nullptr;
      if (!first || first == d || q.scaled().count(first) || llvm::any_of(q.places(), [&](const Expr* p) { return strip(p) == divisor; })) continue;
      const bool begins = llvm::any_of(definitions.of(d), [&](const Definition& def) { return def.value && !def.compound && declOf(plain(def.value)) == first; });
      if (begins) ratios.push_back(place);
    }
  }
  for (const Expr* place : ratios) q.leave(place);
}

// `int rows = data.size() / 4; x = from_blob(data.data(), {rows, 4});`: the rows are as many as the memory has, which would not grow with that number.
const Expr* Model::countedFromMemory(const Quantity& q) const {
  const auto counts = [&](const Expr* place) {
    bool found = false;
    forEachExpr(place, [&](const Expr* x) {
      const Expr* of = calleeOf(x) && calleeName(x) == "size" && argumentsOf(x).empty() ? objectOf(x) : nullptr;
      const ValueDecl* d = of && isStdRecord(of->getType().getNonReferenceType()) ? declOf(strip(of)) : nullptr;
      found = found || (d && llvm::any_of(batches.shards(), [&](const Expr* s) {
        return batches.inStep(s) > 0 && llvm::any_of(definitions.uses(d), [&](const Expr* use) { return isWithin(code, use, s); });
      }));
    });
    return found;
  };
  const auto place = llvm::find_if(q.places(), counts);
  return place == q.places().end() ? nullptr : *place;
}

}  // namespace hvdize
