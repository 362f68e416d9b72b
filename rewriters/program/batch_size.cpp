// SPDX-License-Identifier: Apache-2.0
// Where the batch size of training comes from: loader options, the increment of a loop, the extents of what forms a batch.
#include "clang/AST/StmtCXX.h"

#include "rewriters/program/constants.h"
#include "rewriters/program/host.h"
#include "rewriters/program/model.h"
#include "rewriters/program/repeats.h"

using namespace clang;

namespace hvdize {

namespace {

// slice(0, i, i + 1): a sample at a time.
bool isLiteralOne(const Expr* e) {
  const auto* i = dyn_cast<IntegerLiteral>(strip(e));
  return i && i->getValue() == 1;
}

// The enumerator or template parameter that an expression is.
const ValueDecl* constantIn(const Expr* e) {
  if (const auto* s = dyn_cast<SubstNonTypeTemplateParmExpr>(e->IgnoreParenImpCasts())) return s->getParameter();
  return dyn_cast_or_null<EnumConstantDecl>(declOf(e));
}

}  // namespace

Quantity Model::findBatchSize() {
  const ConstantUses constants(context.ast, files);
  Quantity q(definitions, Quantity::Changes::Absolute, [&](const Expr* e) { return batches.inStep(e) > 0; });
  q.keep(constants.asserted);
  for (const LoaderLoop& l : batches.loaderLoops())
    if (l.trains && !traceLoader(l.loader, q)) unknownBatch = l.loop;
  // Variables first: a member may have got what is scaled there.
  for (const bool members : {false, true})
    for (const HandLoop& h : batches.handLoops())
      if (!traceHandLoop(h, q, members) && members) unknownBatch = h.loop;
  for (const Expr* s : batches.shards())
    if (const Expr* rows = batches.inStep(s) > 0 ? rowsOf(s) : nullptr; rows && isLiteralOne(rows)) singleSample = rows;
  if (!q.unclear().empty() && !unknownBatch) unknownBatch = q.unclear().front();
  addRepeats(q, constants);
  for (const ValueDecl* d : q.scaled())
    if (constants.fixed.count(d) && (!fixedBatch || d->getLocation() < fixedBatch->getLocation())) fixedBatch = d;
  if (fixedBatch && !unknownBatch)
    for (const Site& b : sites.of(Role::Backward)) unknownBatch = b.call;
  return q;
}

// The same number computed once more (config.get("batch"), a macro, an enumerator, a template parameter): every one is the size of the batch.
void Model::addRepeats(Quantity& q, const ConstantUses& constants) {
  const std::vector<const Expr*> known(q.places().begin(), q.places().end());
  for (const Expr* place : known) {
    if (const ValueDecl* d = constantIn(place)) {
      if (constants.fixed.count(d)) fixedBatch = d;
    } else if (isa<DeclRefExpr, MemberExpr>(strip(place))) {
      continue;  // all reads of a variable have been found
    }
    if (constants.isFixedMacro(place)) unknownBatch = place;
    for (const Expr* e : repeatsOf(place, code)) {
      if (q.places().count(e)) continue;
      const bool whole = e->getType()->isIntegerType() || e->getType()->isEnumeralType();
      if (whole && context.edits.canEdit(e->getSourceRange())) q.add(e);
      else unknownBatch = e;
    }
  }
}

bool Model::traceLoader(const Expr* loader, Quantity& q) const {
  bool found = false;
  for (const Expr* o : definitions.origins(loader)) {
    const Entry* e = context.dialect.lookup(o);
    const auto arguments = argumentsOf(o);
    if (!e || e->role != Role::MakeLoader || e->options < 0 || e->options >= static_cast<int>(arguments.size())) continue;
    for (const Expr* options : definitions.origins(arguments[e->options])) {
      const Expr* sink = nullptr;
      const auto look = [&](const Expr* x) {
        const auto* k = dyn_cast<CXXConstructExpr>(x);
        if (k && k->getConstructor()->isCopyOrMoveConstructor()) return;
        const Entry* b = calleeOf(x) ? context.dialect.lookup(calleeOf(x)) : nullptr;
        const auto given = argumentsOf(x);
        if (!sink && b && b->role == Role::BatchSize && b->arg < static_cast<int>(given.size())) sink = given[b->arg];
      };
      forEachExpr(options, look);
      // `options.batch_size(n);` on a variable, in a statement of its own.
      if (const ValueDecl* d = declOf(arguments[e->options]); d && !sink)
        for (const Site& s : sites.of(Role::BatchSize))
          if (objectOf(s.call) && rootOf(objectOf(s.call)) == d) look(s.call);
      // A bare number where options are expected.
      if (!sink && options->getType()->isIntegerType()) sink = arguments[e->options];
      if (!sink) continue;
      q.trace(sink);
      found = true;
    }
  }
  return found;
}

// Among the tensors that go into a batch, those with one element or row for each of its samples: drawn positions, and what is filled by hand. Others
// (the noise of one state, say) have extents of their own.
bool Model::countsSamples(const Expr* feeding) const {
  const Entry* entry = context.dialect.lookup(feeding);
  const FunctionDecl* f = calleeOf(feeding);
  if (entry && entry->role == Role::RandomDraw) return f->getDeclName().isIdentifier() && f->getName().starts_with("randint");
  return llvm::any_of(batches.shards(), [&](const Expr* s) {
    const auto* v = isa<DeclRefExpr>(s) ? dyn_cast_or_null<VarDecl>(declOf(s)) : nullptr;
    return v && v->getInit() && strip(v->getInit()) == feeding;
  });
}

bool Model::traceHandLoop(const HandLoop& loop, Quantity& q, bool members) const {
  bool found = false;
  for (const HandIterator& it : batches.handIterators())
    if (it.loop == loop.loop) found = traceLoader(it.loader, q) || found;
  const auto* f = dyn_cast<ForStmt>(loop.loop);
  const auto* inc = f ? dyn_cast_or_null<BinaryOperator>(f->getInc() ? f->getInc()->IgnoreParens() : nullptr) : nullptr;
  if (inc && inc->getOpcode() == BO_AddAssign) {
    q.trace(inc->getRHS());
    found = true;
    // `i + 8 <= rows`: the same number, written once more.
    const auto* step = dyn_cast<IntegerLiteral>(strip(inc->getRHS()));
    if (step) forEachExpr(f->getCond(), [&](const Expr* e) {
      const auto* sum = dyn_cast<BinaryOperator>(e);
      const auto* bound = sum && sum->getOpcode() == BO_Add && declOf(sum->getLHS()) == declOf(inc->getLHS()) ? dyn_cast<IntegerLiteral>(strip(sum->getRHS())) : nullptr;
      if (bound && bound->getValue().getZExtValue() == step->getValue().getZExtValue()) q.trace(sum->getRHS());
    });
  }
  llvm::SmallVector<const Expr*, 8> formed(batches.formedAhead().begin(), batches.formedAhead().end());
  for (const Expr* s : batches.shards())
    if (batches.inStep(s) > 0) formed.push_back(s);
  for (const Expr* s : formed) {
    const Expr* rows = rowsOf(s);
    const bool here = batches.belongs(s, loop.loop);
    if (rows && q.countsItems(rows)) continue;
    if (!rows || q.isScaled(rows)) {
      found = found || (rows && here);
      continue;
    }
    if (!members && isa_and_nonnull<FieldDecl>(declOf(rows))) continue;
    q.trace(rows);
    found = found || here;
  }
  for (const Expr* s : batches.feeding()) {
    const Expr* rows = countsSamples(s) ? rowsOf(s) : nullptr;
    if (!rows || isLiteralOne(rows) || q.countsItems(rows)) continue;
    if (!q.isScaled(rows)) q.trace(rows);
    found = found || batches.belongs(s, loop.loop);
  }
  return found;
}

// Of `parts`, the pieces of x.split(size) or one of them, the size; of positions, the number of draws in multinomial(weights, n).
const Expr* Model::sizeMade(const Expr* parts, llvm::StringRef by) const {
  for (const Expr* o : definitions.origins(parts)) {
    const auto arguments = argumentsOf(o);
    const unsigned at = objectOf(o) ? 0 : 1;
    if (calleeName(o) == by && context.dialect.lookup(o) && at < arguments.size() && arguments[at]->getType()->isIntegerType()) return arguments[at];
  }
  return nullptr;
}

// [i, i + n), [i, std::min(i + n, rows)), and the same through a variable: n.
const Expr* Model::sizeBetween(const Expr* begin, const Expr* end) const {
  if (isLiteralZero(begin)) return end;  // of rows in a new order, the first ones
  const ValueDecl* start = declOf(begin);
  const Expr* rows = nullptr;
  const auto look = [&](auto&& self, const Expr* e, int depth) -> void {
    forEachExpr(e, [&](const Expr* x) {
      const auto* sum = dyn_cast<BinaryOperator>(x);
      if (sum && sum->getOpcode() == BO_Add && start && !rows) {
        if (declOf(sum->getLHS()) == start) rows = sum->getRHS();
        else if (declOf(sum->getRHS()) == start) rows = sum->getLHS();
      }
      const ValueDecl* d = isa<DeclRefExpr>(x) ? declOf(x) : nullptr;
      if (d && depth < 3 && !rows && d != start)
        for (const Definition& def : definitions.of(d))
          if (def.value) self(self, def.value, depth + 1);
    });
  };
  look(look, end, 0);
  return rows;
}

// In `order.begin() + i`, the position i; the whole where it is none, and null where nothing is added.
static const Expr* positionIn(const Expr* iterator) {
  const Expr* e = strip(iterator);
  for (const auto* k = dyn_cast<CXXConstructExpr>(e); k && argumentsOf(k).size() == 1; k = dyn_cast<CXXConstructExpr>(e)) e = strip(argumentsOf(k)[0]);
  const auto* sum = dyn_cast<CXXOperatorCallExpr>(e);
  return sum && sum->getOperator() == OO_Plus && sum->getNumArgs() == 2 ? strip(sum->getArg(1)) : nullptr;
}

// tensor(numbers), where the numbers are a piece of a list: vector(order.begin() + i, order.begin() + i + n).
const Expr* Model::sizeOfPiece(const Expr* numbers) const {
  for (const Expr* o : definitions.origins(numbers)) {
    const auto* k = dyn_cast<CXXConstructExpr>(o);
    const auto given = k && isStdRecord(k->getType()) ? argumentsOf(k) : llvm::SmallVector<const Expr*, 4>();
    if (given.size() < 2) continue;
    const Expr *begin = positionIn(given[0]), *end = positionIn(given[1]);
    if (begin && end)
      if (const Expr* size = sizeBetween(begin, end)) return size;
  }
  return nullptr;
}

const Expr* Model::rowsOf(const Expr* shard) const {
  const auto* item = dyn_cast<CXXOperatorCallExpr>(shard);
  if (item && item->getOperator() == OO_Subscript) return sizeMade(item->getArg(0), "split");
  if (const ValueDecl* d = isa<DeclRefExpr>(shard) ? declOf(shard) : nullptr)
    for (const HandLoop& h : batches.handLoops())
      if (const auto* r = dyn_cast<CXXForRangeStmt>(h.loop); r && r->getLoopVariable() == d) return sizeMade(r->getRangeInit(), "split");
  const Entry* entry = context.dialect.lookup(shard);
  const auto arguments = argumentsOf(shard);
  const auto given = [&](int i) { return i >= 0 && i < static_cast<int>(arguments.size()) ? arguments[i] : nullptr; };
  if (!entry) return nullptr;
  if (entry->op == OpKind::Factory && entry->shape < 0 && given(0)) return sizeOfPiece(given(0));
  if (const Expr* shape = given(entry->shape)) {
    const auto list = extentsOf(shape);
    const auto* minus = list && !list->empty() ? dyn_cast<UnaryOperator>(strip(list->front())) : nullptr;
    if (minus && minus->getOpcode() == UO_Minus) return nullptr;  // view({-1, n}): as many as there are
    return list && !list->empty() ? list->front() : nullptr;
  }
  if (entry->op != OpKind::Select || !calleeOf(shard)->getDeclName().isIdentifier()) return nullptr;
  const llvm::StringRef name = calleeOf(shard)->getName();
  const int first = entry->dim + 1;
  if (name == "index_select") return given(first) ? sizeMade(given(first), "multinomial") : nullptr;
  if (name == "narrow") return given(first + 1);
  const Expr* begin = given(first);
  const Expr* end = given(first + 1);
  if (name != "slice" || !begin || !end) return nullptr;
  return sizeBetween(begin, end);
}

}  // namespace hvdize
