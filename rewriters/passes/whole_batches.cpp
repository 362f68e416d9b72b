// SPDX-License-Identifier: Apache-2.0
// Numbers of batches that are computed as `rows / batch`, and batches that are cut with `narrow`: larger batches need not go into the data a whole number of
// times, nor once.
#include "rewriters/passes/steps.h"
#include "rewriters/program/host.h"

using namespace clang;

namespace hvdize {

namespace {

bool isScaled(const Model& m, const Expr* e) {
  const ValueDecl* d = isa<DeclRefExpr, MemberExpr>(strip(e)) ? declOf(e) : nullptr;
  return m.batchSize.places().count(strip(e)) || m.batchSize.places().count(e) || (d && m.batchSize.scaled().count(d));
}

const Expr* argumentAt(const Expr* call, int at) {
  const auto arguments = argumentsOf(call);
  return at >= 0 && at < static_cast<int>(arguments.size()) ? arguments[at] : nullptr;
}

bool isNamed(const Model& m, const Expr* e, llvm::StringRef name) {
  const Entry* entry = calleeOf(e) ? m.context.dialect.lookup(e) : nullptr;
  return entry && entry->op == OpKind::Select && calleeName(e) == name;
}

// `x.narrow(0, at, batch)`: of a batch that goes past the last row this throws, where slice(0, at, at + batch) ends with that row.
const Expr* narrowedTo(const Model& m, const Expr* e) {
  if (!isNamed(m, e, "narrow")) return nullptr;
  const Entry* entry = m.context.dialect.lookup(e);
  const Expr* length = argumentAt(e, entry->dim + 2);
  return length && dimensionOf(e, *entry, m.context.ast) == 0 && isScaled(m, length) ? length : nullptr;
}

// Sums and products of variables and numbers, none of which is written otherwise: their text can stand twice, and before a `+`.
bool canBeRepeated(const Model& m, const Expr* e) {
  if (m.batchSize.places().count(e)) return false;
  if (const auto* p = dyn_cast<ParenExpr>(e)) return canBeRepeated(m, p->getSubExpr());
  if (const auto* c = dyn_cast<ImplicitCastExpr>(e)) return canBeRepeated(m, c->getSubExpr());
  const auto* b = dyn_cast<BinaryOperator>(e);
  if (b && (b->getOpcode() == BO_Add || b->getOpcode() == BO_Sub || b->getOpcode() == BO_Mul))
    return canBeRepeated(m, b->getLHS()) && canBeRepeated(m, b->getRHS());
  const auto* field = dyn_cast<MemberExpr>(e);
  return isa<DeclRefExpr, IntegerLiteral, CXXThisExpr>(e) || (field && canBeRepeated(m, field->getBase()));
}

bool canBecomeSlice(const Model& m, const Expr* narrow) {
  const Expr* begin = argumentAt(narrow, m.context.dialect.lookup(narrow)->dim + 1);
  return canBeRepeated(m, begin) && m.context.edits.canEdit(narrow->getSourceRange()) && isa<CallExpr>(narrow);
}

// `while (at + batch <= rows)`: no batch goes past the last row.
bool isGuarded(const Model& m, const Expr* narrow) {
  const ValueDecl* at = declOf(argumentAt(narrow, m.context.dialect.lookup(narrow)->dim + 1));
  bool guarded = false;
  for (const Stmt* s = m.code.parent(narrow); s && at; s = m.code.parent(s)) {
    const auto* f = dyn_cast<ForStmt>(s);
    const auto* w = dyn_cast<WhileStmt>(s);
    const auto* i = dyn_cast<IfStmt>(s);
    if (const Expr* condition = f ? f->getCond() : w ? w->getCond() : i ? i->getCond() : nullptr)
      forEachExpr(condition, [&](const Expr* e) {
        const auto* sum = dyn_cast<BinaryOperator>(e);
        guarded = guarded || (sum && sum->getOpcode() == BO_Add && (declOf(sum->getLHS()) == at || declOf(sum->getRHS()) == at));
      });
  }
  return guarded;
}

// Does what forms a batch give fewer rows where the data end, whichever number of batches is taken?
bool endsWithData(const Model& m, const Expr* e, unsigned depth = 0) {
  if (depth > 6) return false;
  if (isNamed(m, e, "slice")) return true;
  if (isNamed(m, e, "narrow")) return !narrowedTo(m, e) || canBecomeSlice(m, e);
  const auto all = [&](const Expr* of) {
    const auto origins = m.definitions.origins(of);
    return !origins.empty() && llvm::all_of(origins, [&](const Expr* o) { return endsWithData(m, o, depth + 1); });
  };
  if (isNamed(m, e, "index_select")) return all(argumentAt(e, m.context.dialect.lookup(e)->dim + 1));
  const Entry* entry = calleeOf(e) ? m.context.dialect.lookup(e) : nullptr;
  if (const Expr* index = isNamed(m, e, "index") ? argumentAt(e, entry->index) : nullptr) {
    const auto list = extentsOf(index);
    return intervalIn(index) || (list && list->size() == 1 && all(list->front()));
  }
  // x[part]: the rows that a part of a new order names.
  const auto* item = dyn_cast<CXXOperatorCallExpr>(e);
  if (item && item->getOperator() == OO_Subscript && item->getNumArgs() == 2 && !item->getArg(1)->getType()->isIntegerType()) return all(item->getArg(1));
  if (item && item->getOperator() == OO_Subscript) return calleeOf(item) && isStdRecord(item->getArg(0)->getType());  // of the parts of a split
  if (entry && entry->op == OpKind::Elementwise && objectOf(e)) return all(objectOf(e));  // .to(device)
  if (const ValueDecl* d = isa<DeclRefExpr>(e) ? declOf(e) : nullptr; d && m.definitions.of(d).size() == 1) return all(e);
  return m.context.dialect.is(e, Role::RandomDraw);  // as many as are asked for
}

// A position or a counter: `i / batch` with it is the number of a batch, which may be 0, and not how many there are.
bool varies(const Model& m, const Expr* e, llvm::DenseSet<const ValueDecl*>& seen) {
  bool found = false;
  forEachExpr(e, [&](const Expr* part) {
    const ValueDecl* d = isa<DeclRefExpr, MemberExpr>(part) ? declOf(part) : nullptr;
    if (found || !d || !d->getType().getNonReferenceType()->isIntegerType() || !seen.insert(d).second) return;
    for (const Definition& by : m.definitions.of(d)) found = found || by.compound || (by.value && varies(m, by.value, seen));
  });
  return found;
}

bool isPosition(const Model& m, const Expr* e) {
  llvm::DenseSet<const ValueDecl*> seen;
  return varies(m, e, seen);
}

// `rows / batch + (rows % batch ? 1 : 0)`, `if (rows % batch) ++batches;`: the last batch, a short one, is counted already.
bool countsShortBatch(const Model& m, const BinaryOperator* quotient) {
  const auto remains = [&](const Stmt* tree) {
    bool found = false;
    forEachExpr(tree, [&](const Expr* x) {
      const auto* rest = dyn_cast<BinaryOperator>(x);
      found = found || (rest && rest->getOpcode() == BO_Rem && m.text(strip(rest->getRHS())) == m.text(strip(quotient->getRHS())));
    });
    return found;
  };
  const Stmt* p = m.code.parent(quotient);
  while (isa_and_nonnull<ParenExpr, CastExpr>(p)) p = m.code.parent(p);
  const auto* sum = dyn_cast_or_null<BinaryOperator>(p);
  if (sum && sum->getOpcode() == BO_Add && remains(sum)) return true;
  const auto* ds = dyn_cast_or_null<DeclStmt>(p);
  const auto* held = ds && ds->isSingleDecl() ? dyn_cast<VarDecl>(ds->getSingleDecl()) : nullptr;
  return held && llvm::any_of(m.definitions.uses(held), [&](const Expr* use) {
    const Stmt* changed = m.code.parent(use);
    const auto* step = dyn_cast_or_null<UnaryOperator>(changed);
    if (!step || !step->isIncrementOp()) return false;
    for (const Stmt* up = m.code.parent(step); up && !isLoop(up); up = m.code.parent(up))
      if (const auto* choice = dyn_cast<IfStmt>(up)) return remains(choice->getCond());
    return false;
  });
}

// The divisions `rows / batch`, where all rows are meant; and where batches are cut so that they must be written otherwise.
struct Found {
  llvm::SetVector<const BinaryOperator*> divisions;
  llvm::SetVector<const CallExpr*> narrowed;
  bool reaches = false;  ///< something is read at a position that is made from the size of the batch: it may lie behind the data
};

Found look(const Model& m) {
  Found found;
  for (const Root& r : m.code.roots())
    forEachExpr(r.code, [&](const Expr* e) {
      const auto* b = dyn_cast<BinaryOperator>(e);
      if (b && b->getOpcode() == BO_Div && b->getType()->isIntegerType() && isScaled(m, b->getRHS()) && !m.batchSize.derived(b->getLHS()) &&
          !isa<IntegerLiteral>(strip(b->getLHS())) && !isPosition(m, b->getLHS()) && !countsShortBatch(m, b))
        found.divisions.insert(b);
      if (narrowedTo(m, e) && isa<CallExpr>(e) && !isGuarded(m, e)) found.narrowed.insert(cast<CallExpr>(e));
      const auto* item = dyn_cast<CXXOperatorCallExpr>(e);
      const auto* element = dyn_cast<ArraySubscriptExpr>(e);
      const Expr* index = element ? element->getIdx() : item && item->getOperator() == OO_Subscript && item->getNumArgs() == 2 ? item->getArg(1) : nullptr;
      if (index && index->getType()->isIntegerType() && m.batchSize.derived(index)) found.reaches = true;
    });
  return found;
}

// `narrow(0, at, batch)` becomes `slice(0, at, at + batch)`.
void endWithData(Model& m, const CallExpr* narrow, const Why& why) {
  const int at = m.context.dialect.lookup(narrow)->dim + 1;
  const Expr* callee = narrow->getCallee()->IgnoreParenImpCasts();
  const SourceLocation name = isa<MemberExpr>(callee) ? cast<MemberExpr>(callee)->getMemberLoc() : callee->getEndLoc();
  m.context.diags.report(DiagID::ShortLastBatch, narrow->getSourceRange());
  m.context.edits.replace(SourceRange(name), "slice", why);
  const Expr* begin = argumentAt(narrow, at);
  if (!isLiteralZero(begin)) m.context.edits.wrap(argumentAt(narrow, at + 1), m.text(begin) + " + ", "", why);
}

}  // namespace

void countBatches(Model& m) {
  if (m.unknownBatch) return;
  const Found found = look(m);
  if (!llvm::all_of(found.narrowed, [&](const CallExpr* n) { return canBecomeSlice(m, n); })) return;
  for (const CallExpr* n : found.narrowed) endWithData(m, n, {DiagID::ShortLastBatch, "ends with the data"});
  if (found.divisions.empty() || found.reaches || !m.sites.of(Role::DropLast).empty()) return;
  for (const HandLoop& h : m.batches.handLoops())
    for (const Expr* s : m.batches.shards())
      if (m.batches.belongs(s, h.loop) && !endsWithData(m, s)) return;
  if (!llvm::all_of(found.divisions, [&](const BinaryOperator* d) { return m.context.edits.canEdit(d->getSourceRange()); })) return;
  const Why why{DiagID::BatchesCounted, "one at least, perhaps a short one"};
  for (const BinaryOperator* d : found.divisions) {
    m.context.diags.report(DiagID::BatchesCounted, d->getSourceRange(), m.text(d));
    m.context.edits.replaceBetween(d->getLHS(), d->getRHS(), ", ", why);
    m.context.edits.wrap(d, "hvd::whole_batches(", ")", why);
  }
}

}  // namespace hvdize
