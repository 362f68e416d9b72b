// SPDX-License-Identifier: Apache-2.0
// Where the batch size of training comes from: loader options, the increment of a loop, the extents of what forms a batch.
#include "clang/AST/StmtCXX.h"

#include "rewriters/program/accumulated.h"
#include "rewriters/program/constants.h"
#include "rewriters/program/host.h"
#include "rewriters/program/model.h"
#include "rewriters/program/repeats.h"
#include "rewriters/program/training_calls.h"

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

// A variable, and those whose value it got as a parameter.
llvm::SmallVector<const ValueDecl*, 4> handedOn(const ValueDecl* d, const Definitions& definitions) {
  llvm::SmallVector<const ValueDecl*, 4> all;
  if (d) all.push_back(d);
  for (size_t i = 0; i < all.size(); ++i) {
    if (!isa<ParmVarDecl>(all[i])) continue;
    for (const Definition& def : definitions.of(all[i]))
      if (const ValueDecl* given = def.value ? declOf(strip(def.value)) : nullptr; given && !llvm::is_contained(all, given)) all.push_back(given);
  }
  return all;
}

}  // namespace

Quantity Model::findBatchSize() {
  const ConstantUses constants(context.ast, files);
  Quantity q(definitions, Quantity::Changes::Absolute, [&](const Expr* e) { return batches.inStep(e) > 0; });
  q.keep(constants.asserted);
  const TrainingCalls calls(sites, definitions, batches);
  q.spare(calls);
  for (const LoaderLoop& l : batches.loaderLoops())
    if ((l.trains || l.inParts) && !traceLoader(l.loader, q)) unknownBatch = l.loop;
  for (const HandIterator& it : batches.handIterators())
    if (llvm::any_of(batches.loaderLoops(), [&](const LoaderLoop& l) { return l.loop == it.loop; }) && !traceLoader(it.loader, q)) unknownBatch = it.ends.front();
  // Variables first: a member may have got what is scaled there.
  for (const bool members : {false, true})
    for (const HandLoop& h : batches.handLoops())
      if (h.trains && !traceHandLoop(h, q, members) && members) unknownBatch = h.loop;
  // `next.get()` of a std::future: how many rows the function takes that runs meanwhile is not followed.
  for (const Expr* shard : batches.shards())
    if (const Expr* of = calleeOf(shard) ? objectOf(shard) : nullptr; of && !unknownBatch)
      if (const CXXRecordDecl* r = of->getType().getNonReferenceType()->getAsCXXRecordDecl(); r && isStdRecord(of->getType().getNonReferenceType()) && r->getName().ends_with("future")) unknownBatch = shard;
  if (const Expr* listed = traceCursors(q); listed && !unknownBatch) unknownBatch = listed;
  q.settle();
  for (const Expr* s : batches.shards())
    if (const Expr* rows = !batches.isTwin(s) && batches.inStep(s) > 0 ? rowsOf(s) : nullptr; rows && isLiteralOne(rows)) singleSample = rows;
  if (const Stmt* loop = countedParts(q); loop && !unknownBatch) unknownBatch = loop;
  if (!q.unclear().empty() && !unknownBatch) unknownBatch = q.unclear().front();
  addRepeats(q, constants);
  leaveRatios(q);
  if (!unknownBatch) unknownBatch = countedFromMemory(q);
  for (const ValueDecl* d : q.scaled())
    if (constants.fixed.count(d) && (!fixedBatch || d->getLocation() < fixedBatch->getLocation())) fixedBatch = d;
  q.tracedAll();
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
    if (!isSteady(place, code, definitions)) continue;  // std::stoi(argv[++i]): another number at each place
    for (const Expr* e : repeatsOf(place, code)) {
      if (q.places().count(e)) continue;
      // config["batch"] = 16: what is stored stays as it is, and is scaled where it is read.
      const auto* stored = dyn_cast_or_null<BinaryOperator>(code.parent(e));
      if (stored && stored->getOpcode() == BO_Assign && strip(stored->getLHS()) == strip(e)) {
        if (!repeatsIn(stored->getRHS(), e, code.context())) continue;
        unknownBatch = e;  // made from what it was before: of what is read there
        break;
      }
      if (e->isLValue() && !isRead(code, e)) {
        unknownBatch = e;
        break;
      }
      const bool whole = e->getType()->isIntegerType() || e->getType()->isEnumeralType();
      if (whole && context.edits.canEdit(e->getSourceRange())) q.add(e);
      else unknownBatch = e;
    }
  }
}

// `make(train, options)`, `make(held, others)`, where the helper reads `o.batch`: of the training's object, and of another that evaluation has.
bool Model::isOfEitherObject(const Expr* size, const Expr* loader, const Quantity& q) const {
  const auto* m = dyn_cast<MemberExpr>(strip(size));
  const auto* p = m ? dyn_cast_or_null<ParmVarDecl>(declOf(strip(m->getBase()))) : nullptr;
  const FunctionDecl* f = p ? code.functionOf(loader) : nullptr;
  if (!f || p->getDeclContext() != static_cast<const DeclContext*>(f)) return false;
  llvm::DenseSet<const ValueDecl*> trained, others;
  for (const CallSite& c : code.callers(f)) {
    const auto* call = dyn_cast<Expr>(c.call);
    const auto arguments = call ? argumentsOf(call) : llvm::SmallVector<const Expr*, 4>();
    const ValueDecl* given = p->getFunctionScopeIndex() < arguments.size() ? rootOf(arguments[p->getFunctionScopeIndex()]) : nullptr;
    if (given) (q.mayTrainWith(call) ? trained : others).insert(given);
  }
  return !trained.empty() && llvm::any_of(others, [&](const ValueDecl* d) { return !trained.count(d); });
}

bool Model::traceLoader(const Expr* loader, Quantity& q, const TrainingCalls* held) const {
  bool found = false;
  for (const Expr* o : definitions.origins(loader)) {
    const Entry* e = context.dialect.lookup(o);
    const auto arguments = argumentsOf(o);
    if (!e || e->role != Role::MakeLoader || e->options < 0 || e->options >= static_cast<int>(arguments.size())) continue;
    // pass(net, *test, nullptr), where `pass` trains with other loaders: its batches stay as large as they are.
    if (held ? held->mayTrainWith(o) : !q.mayTrainWith(o)) {
      found = true;
      continue;
    }
    // A bare number where options are expected, wherever it comes from: a setting in a map, say.
    if (const Expr* number = strip(arguments[e->options]); number->getType()->isIntegerType()) {
      if (!held && isOfEitherObject(number, o, q)) q.leaveUnclear(number);
      q.trace(number);
      found = true;
      continue;
    }
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
      if (!sink)
        for (const ValueDecl* d : handedOn(declOf(arguments[e->options]), definitions))
          for (const Site& s : sites.of(Role::BatchSize))
            if (objectOf(s.call) && rootOf(objectOf(s.call)) == d) look(s.call);
      if (!sink) continue;
      if (!held && isOfEitherObject(sink, o, q)) q.leaveUnclear(sink);
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
    return v && v->getInit() && (strip(v->getInit()) == feeding || freshTensor(v->getInit(), context.dialect) == feeding);
  });
}

// The number that the loop's variable is advanced by, where it is a literal or the one value of a variable.
static std::optional<uint64_t> strideOf(const Expr* stride, const Definitions& definitions) {
  if (const auto* i = dyn_cast<IntegerLiteral>(strip(stride))) return i->getValue().getZExtValue();
  const auto* v = dyn_cast_or_null<VarDecl>(declOf(stride));
  const auto given = v ? definitions.of(v) : llvm::ArrayRef<Definition>();
  const auto* i = given.size() == 1 && given[0].value && !given[0].compound ? dyn_cast<IntegerLiteral>(strip(given[0].value)) : nullptr;
  return i ? std::optional(i->getValue().getZExtValue()) : std::nullopt;
}

// `x.slice(0, at, at + 8)` and, in the same step, `pool.slice(0, from, from + 12)`: a step has one slice of one batch.
std::optional<Model::OtherSize> Model::batchOfOtherSize() const {
  const auto inOneBranch = [&](const Expr* a, const Expr* b) {
    for (const Stmt *p = a, *up = code.parent(a); up; p = up, up = code.parent(up)) {
      const auto* i = dyn_cast<IfStmt>(up);
      if (i && (p == i->getThen() || p == i->getElse()) && !isWithin(code, b, p)) return false;
    }
    return true;
  };
  for (const HandLoop& h : batches.handLoops()) {
    const Expr* first = nullptr;
    uint64_t rows = 0;
    for (const Expr* s : batches.shards()) {
      const Expr* size = batches.inStep(s) == 2 && batches.belongs(s, h.loop) ? rowsOf(s) : nullptr;
      const std::optional<uint64_t> known = size ? strideOf(size, definitions) : std::nullopt;
      if (!known || *known < 2) continue;
      if (first && rows != *known && code.functionOf(first) == code.functionOf(s) && inOneBranch(first, s) && inOneBranch(s, first)) return OtherSize{s, *known, rows};
      if (!first) first = s, rows = *known;
    }
  }
  return std::nullopt;
}

// Where the step begins: the loop's variable, under this name or another.
static bool isBeginOf(const Expr* e, const ValueDecl* at, const Definitions& definitions) {
  const ValueDecl* d = declOf(e);
  if (!d || d == at) return d != nullptr;
  const auto given = isa<VarDecl>(d) ? definitions.of(d) : llvm::ArrayRef<Definition>();
  return given.size() == 1 && given[0].value && declOf(given[0].value) == at;
}

// What `at` is compared with, `n` of `at < n`.
static const Expr* boundOf(const Stmt* loop, const ValueDecl* at) {
  const auto* f = dyn_cast<ForStmt>(loop);
  const auto* w = dyn_cast<WhileStmt>(loop);
  const Expr* until = f ? f->getCond() : w ? w->getCond() : nullptr;
  const auto* b = until ? dyn_cast<BinaryOperator>(until->IgnoreParenImpCasts()) : nullptr;
  return b && b->isComparisonOp() && at && declOf(b->getLHS()) == at ? b->getRHS() : nullptr;
}

// The same number of rows, as a variable or as it is written.
bool Model::isSameBound(const Expr* e, const Expr* bound) const {
  const ValueDecl* d = bound ? declOf(bound) : nullptr;
  return bound && (d ? declOf(e) == d : !text(strip(bound)).empty() && text(strip(e)) == text(strip(bound)));
}

// `for (at = 0; at < n; at += 8)` with `at + 8` in its condition or body: the same number, written once more, says which rows a step takes. `at / 8` is
// the number of the batch, `n / 8` how many there are.
void Model::traceWrittenAgain(const ForStmt* loop, const BinaryOperator* inc, Quantity& q) const {
  const std::optional<uint64_t> stride = strideOf(inc->getRHS(), definitions);
  if (!stride || *stride < 2) return;
  const ValueDecl* at = declOf(inc->getLHS());
  const auto isStride = [&](const Expr* e) {
    const auto* i = dyn_cast<IntegerLiteral>(strip(e));
    return i && i->getValue().getZExtValue() == *stride;
  };
  for (const Stmt* part : {static_cast<const Stmt*>(loop->getCond()), loop->getBody()})
    if (part)
      forEachExpr(part, [&](const Expr* e) {
        const auto* sum = dyn_cast<BinaryOperator>(e);
        if (sum && sum->getOpcode() == BO_Div && isBeginOf(sum->getLHS(), at, definitions) && isStride(sum->getRHS())) q.trace(sum->getRHS());
        if (!sum || sum->getOpcode() != BO_Add) return;
        if (isBeginOf(sum->getLHS(), at, definitions) && isStride(sum->getRHS())) q.trace(sum->getRHS());
        if (isBeginOf(sum->getRHS(), at, definitions) && isStride(sum->getLHS())) q.trace(sum->getLHS());
      });
  const FunctionDecl* f = code.functionOf(loop);
  const Expr* bound = boundOf(loop, at);
  if (f && f->getBody() && bound)
    forEachExpr(f->getBody(), [&](const Expr* e) {
      const auto* b = dyn_cast<BinaryOperator>(e);
      if (b && b->getOpcode() == BO_Div && isStride(b->getRHS()) && isSameBound(b->getLHS(), bound)) q.trace(b->getRHS());
    });
}

// The same number as the size of the batch in places that do not show whether it means that: `b * 8`, a loop that counts to it from where the step begins.
bool Model::isWrittenAgain(const Stmt* loop, const ValueDecl* at, const Quantity& q) const {
  llvm::DenseSet<const Expr*> places;
  llvm::DenseSet<uint64_t> sizes;
  for (const Expr* p : q.places()) {
    places.insert(strip(p));
    if (const auto* i = dyn_cast<IntegerLiteral>(strip(p)); i && i->getValue().getZExtValue() > 1) sizes.insert(i->getValue().getZExtValue());
  }
  const auto repeats = [&](const Expr* e) {
    const auto* i = dyn_cast<IntegerLiteral>(strip(e));
    return i && sizes.count(i->getValue().getZExtValue()) && !places.count(i);
  };
  bool again = false;
  const auto walk = [&](auto&& self, const Stmt* s) -> void {
    if (!s) return;
    if (const auto* b = dyn_cast<BinaryOperator>(s)) again = again || (b->getOpcode() == BO_Mul && b->getType()->isIntegerType() && (repeats(b->getLHS()) || repeats(b->getRHS())));
    const auto* f = dyn_cast<ForStmt>(s);
    const auto* w = dyn_cast<WhileStmt>(s);
    if (const Expr* until = s == loop ? nullptr : f ? f->getCond() : w ? w->getCond() : nullptr) {
      bool counts = false, reads = false;
      forEachExpr(until, [&](const Expr* e) { counts = counts || (isa<IntegerLiteral>(e) && repeats(e)); });
      if (at) forEachExpr(s, [&](const Expr* e) { reads = reads || (isa<DeclRefExpr, MemberExpr>(e) && isBeginOf(e, at, definitions)); });
      again = again || (counts && reads);
    }
    for (const Stmt* c : s->children()) self(self, c);
  };
  walk(walk, loop);
  // `(n + 7) / 8`, anywhere in the function: batches are counted with it, and a 7 says nothing of what it means.
  const FunctionDecl* f = at ? code.functionOf(loop) : nullptr;
  const Expr* bound = boundOf(loop, at);
  if (f && f->getBody())
    forEachExpr(f->getBody(), [&](const Expr* e) {
      const auto* b = dyn_cast<BinaryOperator>(e);
      if (!b || b->getOpcode() != BO_Div || !b->getType()->isIntegerType() || !repeats(b->getRHS())) return;
      forEachExpr(b->getLHS(), [&](const Expr* x) { again = again || isSameBound(x, bound) || (isa<DeclRefExpr, MemberExpr>(x) && isBeginOf(x, at, definitions)); });
    });
  return again;
}

// What moves the loop on from batch to batch: `at += 8`, also as one of several, `++number, at += 8`. There it is what the condition asks about.
static const BinaryOperator* advanceOf(const ForStmt* loop) {
  const Expr* inc = loop && loop->getInc() ? loop->getInc()->IgnoreParens() : nullptr;
  const auto* b = dyn_cast_or_null<BinaryOperator>(inc);
  if (!b || b->getOpcode() != BO_Comma) return b;
  const BinaryOperator* advance = nullptr;
  const auto look = [&](auto&& self, const Expr* e) -> void {
    const auto* part = dyn_cast<BinaryOperator>(e->IgnoreParenImpCasts());
    if (part && part->getOpcode() == BO_Comma) return self(self, part->getLHS()), self(self, part->getRHS());
    bool asked = false;
    if (part && part->getOpcode() == BO_AddAssign && loop->getCond())
      forEachExpr(loop->getCond(), [&](const Expr* x) { asked = asked || (declOf(x) && declOf(x) == declOf(part->getLHS())); });
    if (asked) advance = part;
  };
  look(look, b);
  return advance;
}

// `size = rows / parts`, in a loop over the parts: as many batches as the program says, each as large as that makes it. Were they larger, the rows
// would not last.
const Stmt* Model::countedParts(const Quantity& q) const {
  for (const HandLoop& h : batches.handLoops()) {
    const auto* f = h.trains ? dyn_cast<ForStmt>(h.loop) : nullptr;
    const auto* until = f && f->getCond() ? dyn_cast<BinaryOperator>(f->getCond()->IgnoreParenImpCasts()) : nullptr;
    if (!until || !until->isComparisonOp()) continue;
    for (const Expr* p : q.places()) {
      const auto* b = dyn_cast<BinaryOperator>(strip(p));
      if (b && b->getOpcode() == BO_Div && isSameBound(b->getRHS(), until->getRHS())) return h.loop;
    }
  }
  return nullptr;
}

// `loss * 4 / 16` where 4 is the size of a part: that number would have to grow with it, and a number of parts would not.
bool Model::weighsWithLiteral(const Stmt* loop, const Quantity& q) const {
  llvm::DenseSet<uint64_t> sizes;
  for (const Expr* p : q.places())
    if (const auto* i = dyn_cast<IntegerLiteral>(strip(p)); i && isWithin(code, i, loop)) sizes.insert(i->getValue().getZExtValue());
  const auto repeats = [&](const Expr* e) {
    const auto* i = dyn_cast<IntegerLiteral>(strip(e));
    const auto* f = dyn_cast<FloatingLiteral>(strip(e));
    return (i && sizes.count(i->getValue().getZExtValue()) && !q.places().count(i)) || (f && llvm::any_of(sizes, [&](uint64_t n) { return f->getValueAsApproximateDouble() == static_cast<double>(n); }));
  };
  bool weighs = false;
  forEachExpr(loop, [&](const Expr* e) {
    const auto* b = dyn_cast<BinaryOperator>(e);
    const auto* o = dyn_cast<CXXOperatorCallExpr>(e);
    if (b && (b->getOpcode() == BO_Mul || b->getOpcode() == BO_Div)) weighs = weighs || repeats(b->getLHS()) || repeats(b->getRHS());
    if (o && (o->getOperator() == OO_Star || o->getOperator() == OO_Slash || o->getOperator() == OO_SlashEqual || o->getOperator() == OO_StarEqual))
      for (const Expr* a : o->arguments())
        forEachExpr(a, [&](const Expr* x) { weighs = weighs || repeats(x); });
  });
  return weighs;
}

// Is there a number in it that the loop moves on, `at`, `at + size`?
static bool advances(const Model& m, const Expr* e, const Stmt* loop, unsigned depth = 0) {
  bool any = false;
  forEachExpr(e, [&](const Expr* x) {
    const auto* v = any || depth > 3 || !isa<DeclRefExpr>(x) ? nullptr : dyn_cast_or_null<VarDecl>(declOf(x));
    if (!v || !v->getType()->isIntegerType()) return;
    const DeclStmt* declared = m.code.declStmt(v);
    const auto within = [&](const Definition& def) { return def.value && isWithin(m.code, def.value, loop); };
    if (declared && isWithin(m.code, declared, loopBody(loop)) && v->getInit()) any = advances(m, v->getInit(), loop, depth + 1);
    else any = (declared && isWithin(m.code, declared, loop)) || llvm::any_of(m.definitions.of(v), within);
  });
  return any;
}

// `net(x).index({Slice(0, train)})`, in a step: the model has all samples, and those that the loss takes are parted from the others once and for all.
static bool isCutFromOutputs(const Model& m, const Expr* shard, const Stmt* loop) {
  const auto reaches = [&](auto&& self, const Expr* e, unsigned depth) -> bool {
    bool any = false;
    forEachExpr(e, [&](const Expr* x) {
      any = any || (isa<CallExpr>(x) && m.batches.inStep(x) > 0 && m.sites.reaches(x, Role::Forward));
      const auto* v = any || depth > 3 || !isa<DeclRefExpr>(x) ? nullptr : dyn_cast_or_null<VarDecl>(declOf(x));
      if (!v || !v->isLocalVarDecl() || !m.context.dialect.is(v->getType().getNonReferenceType(), Role::Tensor)) return;
      for (const Definition& def : m.definitions.of(v)) any = any || (def.value && self(self, def.value, depth + 1));
    });
    return any;
  };
  const Expr* rows = calleeOf(shard) ? objectOf(shard) : nullptr;
  if (!rows || !m.context.dialect.is(rows->getType().getNonReferenceType(), Role::Tensor) || !reaches(reaches, rows, 0)) return false;
  return llvm::none_of(argumentsOf(shard), [&](const Expr* a) { return advances(m, a, loop); });
}

// `y.slice(0, 0, train)`, of a tensor that was there before the loop and stays as it is: the same samples in every step, and no more of them can be had.
static bool isSamePart(const Model& m, const Expr* shard, const Stmt* loop) {
  const Entry* entry = calleeOf(shard) ? m.context.dialect.lookup(shard) : nullptr;
  const Expr* from = entry && entry->op == OpKind::Select ? objectOf(shard) : nullptr;
  const auto* v = from && isa<DeclRefExpr>(strip(from)) ? dyn_cast_or_null<VarDecl>(declOf(from)) : nullptr;
  if (!v || !v->isLocalVarDecl() || !m.context.dialect.is(v->getType().getNonReferenceType(), Role::Tensor)) return false;
  const auto arguments = argumentsOf(shard);
  const Expr* begin = nullptr;
  if (calleeName(shard) == "slice" || calleeName(shard) == "narrow") begin = arguments.size() > 2 ? arguments[1] : nullptr;
  else if (const auto interval = calleeName(shard) == "index" && !arguments.empty() ? intervalIn(arguments[entry->index]) : std::nullopt) begin = interval->first;
  const auto made = [&] { return begin ? dyn_cast<CXXConstructExpr>(strip(begin)) : nullptr; };
  for (const auto* k = made(); k; k = made()) begin = argumentsOf(k).size() == 1 ? argumentsOf(k)[0] : nullptr;
  if (!begin || !isLiteralZero(begin)) return false;
  if (llvm::any_of(m.definitions.of(v), [&](const Definition& def) { return !def.value || isWithin(m.code, def.value, loop); })) return false;
  // Read in the loop, by functions of the framework that change nothing.
  return llvm::all_of(m.definitions.uses(v), [&](const Expr* use) {
    if (!isWithin(m.code, use, loop)) return true;
    const Stmt* p = m.code.parent(use);
    while (isa_and_nonnull<ImplicitCastExpr, ParenExpr, MemberExpr>(p)) p = m.code.parent(p);
    const auto* call = dyn_cast_or_null<Expr>(p);
    const auto* o = dyn_cast_or_null<CXXOperatorCallExpr>(p);
    return call && calleeOf(call) && m.context.dialect.lookup(call) && m.code.targets(call).empty() && !calleeName(call).ends_with("_") && !(o && o->isAssignmentOp());
  });
}

bool Model::traceHandLoop(const HandLoop& loop, Quantity& q, bool members) const {
  bool found = false;
  // Their rows are those of a tensor that was made before; what the loop counts are columns.
  // All samples there are: no more can be had.
  if (llvm::any_of(batches.shards(), [&](const Expr* s) { return (batches.takesColumns(s) || batches.isAllData(s) || isCutFromOutputs(*this, s, loop.loop) || isSamePart(*this, s, loop.loop)) && batches.belongs(s, loop.loop); })) return false;
  for (const HandIterator& it : batches.handIterators())
    if (it.loop == loop.loop) found = traceLoader(it.loader, q) || found;
  const auto* f = dyn_cast<ForStmt>(loop.loop);
  const BinaryOperator* inc = advanceOf(f);
  const WholeOfParts whole = wholeOfParts(*this, loop);
  // Parts of a literal size stay as large as they are: the loss may be weighted with that number, too.
  const auto isPart = [&](const Expr* rows, const Expr* shard) {
    return isa<IntegerLiteral>(strip(rows)) && llvm::any_of(batches.handLoops(), [&](const HandLoop& h) { return batches.belongs(shard, h.loop) && !wholeOfParts(*this, h).sizes.empty(); });
  };
  if (inc && inc->getOpcode() == BO_AddAssign) {
    if (whole.sizes.empty() || !isa<IntegerLiteral>(strip(inc->getRHS()))) {
      q.trace(inc->getRHS());
      traceWrittenAgain(f, inc, q);
    }
    found = true;
  }
  bool cut = true;
  llvm::SmallVector<const Expr*, 8> formed(batches.formedAhead().begin(), batches.formedAhead().end());
  for (const Expr* s : batches.shards())
    if (!batches.isTwin(s) && batches.inStep(s) > 0) formed.push_back(s);
  for (const Expr* s : formed) {
    const Expr* rows = rowsOf(s);
    const bool here = batches.belongs(s, loop.loop);
    if (rows && (q.countsItems(rows) || isPart(rows, s))) continue;
    // slice(0, at, f(at)): were the number by which `at` moves on to grow, these rows might not.
    if (!rows && here && whole.sizes.empty() && inc && isa<IntegerLiteral>(strip(inc->getRHS())) && calleeName(s) == "slice") cut = false;
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
    if (!rows || isLiteralOne(rows) || isLiteralZero(rows) /* empty({0, 4}) */ || q.countsItems(rows)) continue;
    if (!q.isScaled(rows)) q.trace(rows);
    found = found || batches.belongs(s, loop.loop);
  }
  // A batch of a loader's in a number of parts: each grows with it.
  const auto isPiece = [&](const Expr* s) {
    const auto* item = dyn_cast<CXXOperatorCallExpr>(s);
    const auto origins = item && item->getOperator() == OO_Subscript ? definitions.origins(item->getArg(0)) : std::vector<const Expr*>();
    return !origins.empty() && llvm::all_of(origins, [&](const Expr* o) { return calleeName(o) == "chunk" && context.dialect.lookup(o); });
  };
  if (whole.ofLoader && !found)
    found = llvm::all_of(batches.shards(), [&](const Expr* s) { return !batches.belongs(s, loop.loop) || isPiece(s); });
  // Batches that are there when the step begins have their size where they were formed.
  if (!found && !whole.ofLoader)
    for (const Expr* s : batches.shards()) {
      if (batches.isTwin(s) || !batches.belongs(s, loop.loop) || rowsOf(s)) continue;
      const std::vector<const Expr*> before = formedBefore(s);
      const auto ofOneSize = [&](const Expr* made) { return movesBySize(made, rowsOf(made)) && !q.countsItems(rowsOf(made)); };
      if (before.empty() || !llvm::all_of(before, ofOneSize)) return false;
      for (const Expr* made : before)
        if (!q.isScaled(rowsOf(made))) q.trace(rowsOf(made));
      found = true;
    }
  for (const Expr* size : whole.sizes)
    if (!q.isScaled(size)) q.trace(size);
  if (whole.around) traceWrittenAgain(whole.around, whole.stride, q);
  if (whole.end) q.trace(whole.end);
  if (whole.ofLoader && weighsWithLiteral(loop.loop, q)) return false;
  return found && cut && whole.seen && !isWrittenAgain(loop.loop, inc ? declOf(inc->getLHS()) : nullptr, q);
}

}  // namespace hvdize
