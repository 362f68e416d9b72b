// SPDX-License-Identifier: Apache-2.0
// A position that the program moves on by the size of its batch, where that is a literal: `x.slice(0, at, at + 8)` or `x.narrow(0, at, 8)`, and later
// `at = (at + 8) % n`, or in front `at + 8 <= n`.
#include "llvm/ADT/MapVector.h"

#include "rewriters/program/host.h"
#include "rewriters/program/model.h"

using namespace clang;

namespace hvdize {

namespace {

struct Sum {
  const ValueDecl* position;
  const IntegerLiteral* step;
};

// `at + 8`, `8 + at`, `at += 8`.
std::optional<Sum> sumIn(const Expr* e) {
  const auto* b = dyn_cast<BinaryOperator>(e);
  if (!b || (b->getOpcode() != BO_Add && b->getOpcode() != BO_AddAssign)) return std::nullopt;
  for (const auto& [one, other] : {std::pair(b->getLHS(), b->getRHS()), std::pair(b->getRHS(), b->getLHS())}) {
    const ValueDecl* d = isa<DeclRefExpr, MemberExpr>(strip(one)) ? declOf(one) : nullptr;
    const auto* i = dyn_cast<IntegerLiteral>(strip(other));
    if (d && i && i->getValue().ugt(1) && d->getType().getNonReferenceType()->isIntegerType()) return Sum{d, i};
  }
  return std::nullopt;
}

// The list that a loop goes through, with this variable for its items; null for another variable.
const ValueDecl* listOf(const ValueDecl* d) {
  const auto* v = dyn_cast<VarDecl>(d);
  if (!v || !v->isCXXForRangeDecl()) return nullptr;
  const ValueDecl* list = nullptr;
  for (const Expr* e = v->getInit(); e;) {  // `*__begin`, made from `__range`
    const VarDecl* next = nullptr;
    forEachExpr(e, [&](const Expr* x) {
      const auto* named = isa<DeclRefExpr>(x) ? dyn_cast_or_null<VarDecl>(declOf(x)) : nullptr;
      if (named && !next) next = named;
    });
    if (!next || next == list) break;
    list = next;
    e = next->isImplicit() ? next->getInit() : nullptr;
  }
  return list;
}

// An item of a list into which nothing was put that is scaled or drawn: a number that does not grow with the size of the batch.
bool isListed(const Expr* e, const Quantity& q, const Definitions& definitions, const Dialect& dialect) {
  e = strip(e);
  const auto* item = dyn_cast<CXXOperatorCallExpr>(e);
  const auto* member = dyn_cast<MemberExpr>(e);
  const ValueDecl* d = declOf(e);
  const ValueDecl* list = item && item->getOperator() == OO_Subscript && isStdRecord(item->getArg(0)->getType().getNonReferenceType()) ? declOf(item->getArg(0))
                          : member && declOf(member->getBase()) ? listOf(declOf(member->getBase()))
                          : d ? listOf(d)
                              : nullptr;
  const auto* named = dyn_cast<DeclRefExpr>(e);
  if (const auto* part = named ? dyn_cast<BindingDecl>(named->getDecl()) : nullptr)
    if (const auto* whole = dyn_cast_or_null<ValueDecl>(part->getDecomposedDecl())) list = listOf(whole);
  if (const auto* v = dyn_cast_or_null<VarDecl>(d); v && !list && v->isLocalVarDecl() && !v->isImplicit()) {
    const auto given = definitions.of(v);
    return given.size() == 1 && given[0].value && !given[0].compound && !v->isCXXForRangeDecl() && isListed(given[0].value, q, definitions, dialect);
  }
  if (!list) return false;
  const auto grows = [&](const Expr* put) {
    bool drawn = false;
    forEachExpr(put, [&](const Expr* x) {
      const FunctionDecl* f = calleeOf(x);
      const Expr* object = f ? objectOf(x) : nullptr;
      drawn = drawn || (f && (dialect.is(x, Role::RandomDraw) || hostRole(f) == HostRole::DrawsC || (object && (isRandomEngine(object->getType()) || isDistribution(object->getType())))));
    });
    return drawn || q.derived(put);
  };
  return llvm::none_of(q.putInto(list), grows);
}

// The number among the places in what says how many rows there are: 8, or std::min(8, n - at).
const Expr* sizeOf(const Expr* rows, const llvm::DenseSet<const Expr*>& places) {
  const Expr* size = nullptr;
  if (rows) forEachExpr(rows, [&](const Expr* e) { size = places.contains(strip(e)) ? strip(e) : size; });
  return size;
}

}  // namespace

const Expr* Model::traceCursors(Quantity& q) const {
  llvm::DenseSet<const Expr*> places;
  for (const Expr* p : q.places()) places.insert(strip(p));
  std::vector<std::pair<Sum, bool>> sums;  // and whether it is a size that was found
  for (const Root& r : code.roots())
    forEachExpr(r.code, [&](const Expr* e) {
      if (const auto sum = sumIn(e)) sums.push_back({*sum, places.contains(sum->step)});
    });
  // `x.narrow(0, at, 8)` names the two apart.
  for (const Expr* s : batches.shards()) {
    const auto* size = dyn_cast_or_null<IntegerLiteral>(sizeOf(rowsOf(s), places));
    if (!size || size->getValue().ult(2)) continue;
    forEachExpr(s, [&](const Expr* e) {
      const ValueDecl* d = isa<DeclRefExpr, MemberExpr>(e) && e->getType()->isIntegerType() ? declOf(e) : nullptr;
      if (d && isa<VarDecl, FieldDecl>(d)) sums.push_back({Sum{d, size}, true});
    });
  }
  // The position itself, a variable that holds it for one step, or what a list of positions was filled from.
  const auto positions = [&](const ValueDecl* d) {
    llvm::SmallVector<const ValueDecl*, 2> out = {d};
    if (const ValueDecl* list = listOf(d))
      for (const Expr* put : q.putInto(list))
        if (const ValueDecl* from = declOf(put)) out.push_back(from);
    const auto given = isa<VarDecl>(d) ? definitions.of(d) : llvm::ArrayRef<Definition>();
    if (given.size() == 1 && given[0].value && !given[0].compound && declOf(given[0].value)) out.push_back(declOf(given[0].value));
    return out;
  };
  for (const auto& [from, known] : sums) {
    if (!known) continue;
    for (const ValueDecl* at : positions(from.position))
      for (const auto& [sum, same] : sums)
        if (!same && sum.position == at && sum.step->getValue().getZExtValue() == from.step->getValue().getZExtValue()) q.trace(sum.step);
  }
  // `for (int64_t at : starts) x.slice(0, at, at + 8)`: with more rows from each of these the batches would overlap, unless the list was filled in
  // such steps, or by chance.
  for (const Expr* s : batches.shards()) {
    const Expr* rows = batches.isTwin(s) || batches.inStep(s) == 0 ? nullptr : rowsOf(s);
    if (!rows || !(sizeOf(rows, places) || q.isScaled(rows))) continue;
    bool listed = false;
    for (const Expr* a : argumentsOf(s))
      forEachExpr(a, [&](const Expr* e) { listed = listed || (e->getType()->isIntegerType() && !places.contains(strip(e)) && !q.isScaled(e) && isListed(e, q, definitions, context.dialect)); });
    if (listed) return s;
  }
  return nullptr;
}

}  // namespace hvdize
