// SPDX-License-Identifier: Apache-2.0
// Loops that fill a new tensor row by row, each from the same row of the samples: `for (i = 0; i < y.size(0); ++i) out[i][y[i].item<int64_t>()] = 1;`.
// Each rank does that for its own rows, and nothing in the loop changes. The same holds for loops that add up, or collect in a list, something of each
// row: `for (i = 0; i < out.size(0); ++i) loss = loss + cross_entropy(out[i], y[i]);` is a sum over this rank's samples (see evaluate_row_sums.cpp).
// Where the row is found by the number of the sample in what all ranks have whole, `for (i = 0; i < batch.size(); ++i) target[i][batch[i].action] = 1;`, the
// loop goes over all samples of the batch, and each rank passes over those that it does not have.
#include "clang/AST/StmtCXX.h"

#include "rewriters/program/evaluate.h"
#include "rewriters/program/host.h"
#include "rewriters/program/quantities.h"

using namespace clang;

namespace hvdize {

static bool isVariable(const Expr* e, const ValueDecl* d) {
  e = strip(e);
  while (const auto* cast = dyn_cast<ExplicitCastExpr>(e)) e = strip(cast->getSubExpr());
  for (const auto* k = dyn_cast<CXXConstructExpr>(e); k && argumentsOf(k).size() == 1; k = dyn_cast<CXXConstructExpr>(e)) e = strip(argumentsOf(k)[0]);
  return isa<DeclRefExpr>(e) && declOf(e) == d;
}

// x.clone(), zeros_like(x), net->forward(x), also behind detach(): nothing that lives on has the same numbers in memory.
bool Kinds::makesCopy(const Expr* made) const {
  const Entry* entry = calleeOf(made) ? dialect_.lookup(made) : nullptr;
  if (entry && (calleeName(made) == "clone" || calleeName(made).ends_with("_like"))) return true;
  const Expr* object = objectOf(made);
  if (!object || !calleeOf(made)) return false;
  if (dialect_.is(object->getType(), Role::Module) && (calleeName(made) == "forward" || (entry && entry->role == Role::Forward))) return true;
  return entry && calleeName(made) == "detach" && makesCopy(strip(object));
}

// A local variable that is given one new tensor: no view of what others hold.
bool Kinds::isNewTensor(const ValueDecl* d) const {
  const auto* v = dyn_cast_or_null<VarDecl>(d);
  if (!v || !v->isLocalVarDecl() || v->isStaticLocal() || isa<ParmVarDecl>(v) || !v->getInit() || !isTensor(v->getType())) return false;
  const Expr* made = strip(v->getInit());
  const bool copied = makesCopy(made);
  return (copied || freshTensor(made, dialect_)) && llvm::all_of(definitions_.of(v), [](const Definition& def) { return def.value && !def.through; });
}

// The tensor whose rows these are, which the variable of an accessor reads: `auto a = y.accessor<int64_t, 1>();`. `spelled` itself for anything else.
const Expr* Kinds::tensorBehind(const Expr* spelled) const {
  const Expr* e = strip(spelled);
  const auto* v = isa<DeclRefExpr>(e) ? dyn_cast_or_null<VarDecl>(declOf(e)) : nullptr;
  const Expr* init = v && v->isLocalVarDecl() && v->getInit() ? strip(v->getInit()) : nullptr;
  const Entry* entry = init && calleeOf(init) ? dialect_.lookup(init) : nullptr;
  const bool accessor = entry && entry->role == Role::Op && entry->op == OpKind::DataPointer && calleeName(init) == "accessor" && objectOf(init);
  const auto another = [&](const Expr* use) {  // a = other.accessor<float, 2>()
    const auto* o = dyn_cast_or_null<CXXOperatorCallExpr>(code_.parent(use));
    return o && o->isAssignmentOp() && strip(o->getArg(0)) == use;
  };
  return accessor && llvm::none_of(definitions_.uses(v), another) ? strip(objectOf(init)) : e;
}

// Has the tensor one row for each of this rank's samples? Where nothing is known yet, a function's tensors are taken for such.
bool Kinds::hasRows(const Expr* tensor) {
  if (!isa<DeclRefExpr, MemberExpr>(tensor) || !isTensor(tensor->getType())) return false;
  if (assumesRows_) return isa_and_nonnull<ParmVarDecl>(declOf(tensor)) || isNewTensor(declOf(tensor));
  const Value v = eval(tensor);
  return v.kind == Kind::Sharded && !v.listed && !v.joined;
}

// A list with one item for each of this rank's samples, `std::vector<Tensor>`.
bool Kinds::listsRows(const Expr* list) {
  if (assumesRows_ || !isa<DeclRefExpr, MemberExpr>(list) || !isStdRecord(list->getType())) return false;
  const Value v = eval(list);
  return v.kind == Kind::Sharded && v.listed && !v.joined;
}

// Is the accessor that this call makes read and written in such loops alone?
bool Kinds::isRowAccessor(const Expr* made) {
  const VarDecl* v = nullptr;
  for (const Stmt* p = made; p && isa<Expr>(p) && !v; p = code_.parent(p)) v = code_.variableInitialisedBy(p);
  const auto uses = v ? definitions_.uses(v) : llvm::ArrayRef<const Expr*>();
  if (uses.empty() || tensorBehind(uses.front()) == strip(uses.front())) return false;
  return llvm::all_of(uses, [&](const Expr* use) {
    bool inside = false;
    for (const Stmt* p = code_.parent(use); p && !inside; p = code_.parent(p))
      if (const auto* f = dyn_cast<ForStmt>(p)) inside = rowLoop(f).has_value();
    return inside;
  });
}

// The number of the row, where it says which row of a tensor is meant.
static bool isRow(const Expr* e, RowLoop& loop) {
  if (!isVariable(e, loop.i)) return false;
  if (loop.all) loop.rows.push_back(e);
  return true;
}

// What holds a field of something that all ranks have alike, `batch[i].action`: it may depend on the number of the sample, and changes nothing.
bool Kinds::readsHolder(const Expr* holder, RowLoop& loop) {
  const Expr* e = strip(holder);
  if (isa<CXXThisExpr, DeclRefExpr>(e)) return true;
  if (const auto* m = dyn_cast<MemberExpr>(e)) return readsHolder(m->getBase(), loop);
  const auto* o = dyn_cast<CXXOperatorCallExpr>(e);
  const bool leads = o && (o->getOperator() == OO_Arrow || o->getOperator() == OO_Star) && isSystemDecl(calleeOf(o));
  return leads ? readsHolder(o->getArg(0), loop) : readsRow(e, loop);
}

// x of T(x), where a record is copied.
static const Expr* copiedFrom(const Expr* e) {
  e = strip(e);
  for (const auto* k = dyn_cast<CXXConstructExpr>(e); k && k->getConstructor()->isCopyOrMoveConstructor(); k = dyn_cast<CXXConstructExpr>(e)) e = strip(k->getArg(0));
  return e;
}

// Positions within a row: what says them does not become part of what is read.
bool Kinds::readsPositions(llvm::ArrayRef<const Expr*> positions, RowLoop& loop) {
  RowLoop at = loop;
  const bool reads = llvm::all_of(positions, [&](const Expr* p) { return readsRow(p, at); });
  loop.rows = at.rows;
  return reads;
}

// The new tensor whose row `i` (or a part of that) an assignment writes; null for anything else.
const ValueDecl* Kinds::rowWritten(const Expr* target, RowLoop& loop) {
  // x[i].slice(0, 0, n), x.select(0, i)
  const Expr* part = strip(target);
  const Entry* entry = isa<CXXMemberCallExpr>(part) && objectOf(part) ? dialect_.lookup(part) : nullptr;
  if (entry && entry->role == Role::Op && entry->op == OpKind::Select && entry->index < 0) {
    const Expr* base = strip(objectOf(part));
    const auto arguments = argumentsOf(part);
    if (calleeName(part) == "select" && arguments.size() == 2 && isa<DeclRefExpr>(base) && isNewTensor(declOf(base)) && hasRows(base))
      return dimensionOf(part, *entry, code_.context()) == 0 && isRow(arguments[1], loop) ? declOf(base) : nullptr;
    return readsPositions(arguments, loop) ? rowWritten(base, loop) : nullptr;
  }
  const auto* item = dyn_cast<CXXOperatorCallExpr>(strip(target));
  if (!item || item->getOperator() != OO_Subscript || item->getNumArgs() != 2) return nullptr;
  const Expr* base = tensorBehind(item->getArg(0));
  if (const ValueDecl* d = isa<DeclRefExpr>(base) ? declOf(base) : nullptr) return isNewTensor(d) && hasRows(base) && isRow(item->getArg(1), loop) ? d : nullptr;
  return readsPositions({item->getArg(1)}, loop) ? rowWritten(base, loop) : nullptr;
}

// Is this computed from row `i` of samples, and from what all ranks have alike, without any effect? The number of the row is no value of its own.
bool Kinds::readsRow(const Expr* spelled, RowLoop& loop) {
  const Expr* e = strip(spelled);
  if (!e) return true;
  if (const auto* cast = dyn_cast<ExplicitCastExpr>(e)) return readsRow(cast->getSubExpr(), loop);
  if (isa<IntegerLiteral, FloatingLiteral, CXXBoolLiteralExpr, CXXDefaultArgExpr>(e)) return true;
  const auto ofRows = [&](const Expr* x) {
    const Expr* t = tensorBehind(x);
    if (!hasRows(t)) return false;
    if (!assumesRows_) loop.read = elementwise(loop.read, eval(t), e);
    loop.readFrom.insert(declOf(t));
    return true;
  };
  const auto ofList = [&](const Expr* list) {
    if (!listsRows(strip(list))) return false;
    Value rows = eval(strip(list));
    rows.listed = false;
    loop.read = elementwise(loop.read, rows, e);
    loop.readFrom.insert(declOf(strip(list)));
    return true;
  };
  const auto all = [&](llvm::ArrayRef<const Expr*> list) { return llvm::all_of(list, [&](const Expr* x) { return readsRow(x, loop); }); };
  if (const auto* o = dyn_cast<CXXOperatorCallExpr>(e); o && o->getOperator() == OO_Subscript && o->getNumArgs() == 2) {
    if (ofRows(o->getArg(0)) || ofList(o->getArg(0))) return isRow(o->getArg(1), loop);
    return readsRow(o->getArg(0), loop) && readsRow(o->getArg(1), loop);
  }
  if (const auto* m = dyn_cast<MemberExpr>(e)) {  // batch[i].target
    const auto* item = dyn_cast<CXXOperatorCallExpr>(strip(m->getBase()));
    if (item && item->getOperator() == OO_Subscript && item->getNumArgs() == 2 && listsRows(strip(item->getArg(0)))) return readsRow(item, loop);
  }
  if (loop.item && isa<DeclRefExpr, MemberExpr>(e) && rootOf(e) == loop.item) {
    Value row = eval(loop.itemsOf);
    row.listed = false;
    loop.read = elementwise(loop.read, row, e);
    return isTensor(e->getType().getNonReferenceType());
  }
  if (isa<DeclRefExpr, MemberExpr>(e)) {
    const ValueDecl* d = declOf(e);
    if (loop.isOwn(code_, d) || (loop.all && d == loop.i)) return true;
    if (const auto* m = dyn_cast<MemberExpr>(e); m && !readsHolder(m->getBase(), loop)) return false;
    return d && d != loop.i && (isa<EnumConstantDecl>(d) || eval(e).isUniform()) && eval(e).kind != Kind::BatchSize;
  }
  if (const auto* b = dyn_cast<BinaryOperator>(e)) return !b->isAssignmentOp() && readsRow(b->getLHS(), loop) && readsRow(b->getRHS(), loop);
  if (const auto* u = dyn_cast<UnaryOperator>(e)) return !u->isIncrementDecrementOp() && u->getOpcode() != UO_AddrOf && u->getOpcode() != UO_Deref && readsRow(u->getSubExpr(), loop);
  if (const auto* c = dyn_cast<ConditionalOperator>(e)) return readsRow(c->getCond(), loop) && readsRow(c->getTrueExpr(), loop) && readsRow(c->getFalseExpr(), loop);
  if (const auto* l = dyn_cast<CXXStdInitializerListExpr>(e)) return readsRow(l->getSubExpr(), loop);
  if (const auto* l = dyn_cast<InitListExpr>(e)) return llvm::all_of(l->inits(), [&](const Expr* x) { return readsRow(x, loop); });
  if (isa<CXXConstructExpr>(e)) return isSystemDecl(cast<CXXConstructExpr>(e)->getConstructor()) && all(argumentsOf(e));
  const FunctionDecl* f = calleeOf(e);
  if (f && passesRow(e, loop)) return true;
  if (!f || !code_.targets(e).empty()) return false;
  const auto arguments = argumentsOf(e);
  const Expr* object = objectOf(e);
  const Entry* entry = dialect_.lookup(e);
  if (const auto* m = dyn_cast<CXXMethodDecl>(f); loop.all && object && !entry && m && isStdRecord(object->getType()) && (m->isConst() || calleeName(e) == "at"))
    return readsHolder(object, loop) && eval(object).isUniform() && all(arguments);  // batch.at(i), batch.size()
  if (object && calleeName(e) == "at" && arguments.size() == 1 && ofList(object)) return isRow(arguments[0], loop);
  if (!entry) return isSystemDecl(f) && !object && !mayChange(f) && (hostRole(f) == HostRole::Pure || hostRole(f) == HostRole::Forward) && all(arguments);
  // Numbers of a stream that each rank has for its own samples: `if (rand({1}).item<float>() < 0.5) x[i] = x[i].flip(0);`.
  if (entry->role == Role::RandomDraw && !loop.all && entry->shape >= 0 && !object && dialect_.ownStepDraws() && inTrainingStep(e) && all(arguments)) {
    if (recording_ && !assumesRows_) localDraws_.insert(e);
    return true;
  }
  if (entry->role == Role::Loss) return readsLoss(e, entry->options, loop);
  if (entry->role == Role::Forward && object && dialect_.is(object->getType(), Role::LossModule)) return readsLoss(e, -1, loop);
  if ((entry->role != Role::Op && entry->role != Role::Access) || entry->op == OpKind::Assign || entry->op == OpKind::Scatter || (f->getDeclName().isIdentifier() && f->getName().ends_with("_"))) return false;
  if (object && ofRows(object)) {
    // x.index({i, ...}), x.select(0, i), x.slice(0, i, i + 1), x.size(1)
    if (entry->op == OpKind::Size) return dimensionOf(e, *entry, code_.context()).value_or(0) > 0;
    if (calleeName(e) == "select" && arguments.size() == 2) return dimensionOf(e, *entry, code_.context()) == 0 && isRow(arguments[1], loop);
    if (takesRowAt(e, *entry, loop)) return true;
    const auto list = entry->index >= 0 && entry->index < static_cast<int>(arguments.size()) ? extentsOf(arguments[entry->index]) : std::nullopt;
    return list && !list->empty() && isRow(list->front(), loop) && llvm::all_of(llvm::drop_begin(*list), [&](const Expr* x) { return readsRow(x, loop); });
  }
  return (!object || readsRow(object, loop)) && all(arguments);
}

// A variable that the loop's body declares.
bool RowLoop::isOwn(const AuthorCode& code, const ValueDecl* d) const {
  const auto* part = dyn_cast_or_null<BindingDecl>(d);  // of a copy: auto [state, action] = batch[i]
  const auto* v = dyn_cast_or_null<VarDecl>(part ? part->getDecomposedDecl() : d);
  return v && code.declStmt(v) && isWithin(code, code.declStmt(v), body) && !(part && v->getType()->isReferenceType());
}

bool Kinds::worksOnRow(const Stmt* s, RowLoop& loop) {
  const auto own = [&](const Expr* target) {
    const ValueDecl* d = isa<DeclRefExpr>(strip(target)) ? declOf(strip(target)) : nullptr;
    return loop.isOwn(code_, d) && d->getType()->isArithmeticType();
  };
  if (!s || isa<NullStmt, ContinueStmt>(s)) return true;
  if (const auto* block = dyn_cast<CompoundStmt>(s)) return llvm::all_of(block->body(), [&](const Stmt* c) { return worksOnRow(c, loop); });
  if (const auto* ds = dyn_cast<DeclStmt>(s))
    return llvm::all_of(ds->decls(), [&](const Decl* d) {
      const auto* v = dyn_cast<VarDecl>(d);
      // const auto& t = batch[i], auto [state, action] = batch[i]: of what all ranks have.
      if (loop.all && v && v->getInit() && !v->isStaticLocal() && v->getType().getNonReferenceType()->isRecordType() && !isTensor(v->getType()) && !isText(v->getType().getNonReferenceType()))
        return readsHolder(copiedFrom(v->getInit()), loop) && eval(v->getInit()).isUniform();
      const bool tensor = v && isTensor(v->getType()) && (!v->getType()->isReferenceType() || v->getType().getNonReferenceType().isConstQualified());
      return v && !v->isStaticLocal() && (tensor || v->getType()->isArithmeticType()) && (!v->getInit() || readsRow(v->getInit(), loop));
    });
  if (const auto* c = dyn_cast<IfStmt>(s))
    return !c->getInit() && !c->getConditionVariableDeclStmt() && readsRow(c->getCond(), loop) && worksOnRow(c->getThen(), loop) && worksOnRow(c->getElse(), loop);
  if (const auto* f = dyn_cast<ForStmt>(s)) {
    const auto* step = f->getInc() ? dyn_cast<UnaryOperator>(strip(f->getInc())) : nullptr;
    return f->getCond() && step && step->isIncrementOp() && own(step->getSubExpr()) && worksOnRow(f->getInit(), loop) && readsRow(f->getCond(), loop) &&
           worksOnRow(f->getBody(), loop);
  }
  const auto* e = isa<Expr>(s) ? strip(cast<Expr>(s)) : nullptr;
  if (!e) return false;
  if (counts(e, loop)) return true;
  if (const auto* b = dyn_cast<BinaryOperator>(e)) {
    const ValueDecl* d = b->isAssignmentOp() && !own(b->getLHS()) ? rowWritten(b->getLHS(), loop) : nullptr;  // through an accessor
    if (d) loop.written.insert(d);
    return b->isAssignmentOp() && (d || own(b->getLHS())) && readsRow(b->getRHS(), loop);
  }
  if (const auto* u = dyn_cast<UnaryOperator>(e)) return u->isIncrementDecrementOp() && own(u->getSubExpr());
  if (addsUp(e, loop) || collectsRow(e, loop)) return true;
  if (const auto* o = dyn_cast<CXXOperatorCallExpr>(e)) {
    const Expr* named = strip(o->getArg(0));  // best = -best, of a tensor that the body declares: another one has its name from here on
    if (o->getOperator() == OO_Equal && isa<DeclRefExpr>(named) && loop.isOwn(code_, declOf(named)) && isTensor(named->getType()) && !declOf(named)->getType()->isReferenceType())
      return readsRow(o->getArg(1), loop);
    const ValueDecl* d = o->isAssignmentOp() ? rowWritten(o->getArg(0), loop) : nullptr;
    return d && (loop.written.insert(d), readsRow(o->getArg(1), loop));
  }
  const auto* call = dyn_cast<CXXMemberCallExpr>(e);
  const Entry* entry = call && calleeOf(call) ? dialect_.lookup(call) : nullptr;
  const Expr* object = entry ? objectOf(call) : nullptr;
  // x[i].slice(0, 0, n).copy_(row), x[i].fill_(1)
  if (const ValueDecl* filled = object && entry->role == Role::Op && entry->op == OpKind::Assign ? rowWritten(object, loop) : nullptr) {
    loop.written.insert(filled);
    return llvm::all_of(argumentsOf(call), [&](const Expr* a) { return readsRow(a, loop); });
  }
  const ValueDecl* d = object && isa<DeclRefExpr>(strip(object)) ? declOf(strip(object)) : nullptr;
  if (!d || calleeName(call) != "index_put_" || !isNewTensor(d) || !hasRows(strip(object))) return false;
  const auto arguments = argumentsOf(call);
  const auto list = entry->index >= 0 && entry->index < static_cast<int>(arguments.size()) ? extentsOf(arguments[entry->index]) : std::nullopt;
  if (!list || list->empty() || !isRow(list->front(), loop)) return false;
  loop.written.insert(d);
  for (const Expr* x : llvm::drop_begin(*list))
    if (!readsRow(x, loop)) return false;
  for (unsigned a = 0; a < arguments.size(); ++a)
    if (static_cast<int>(a) != entry->index && !readsRow(arguments[a], loop)) return false;
  return true;
}

// All rows of this rank: x.size(0), itself or in a variable that holds nothing else; or the size of a batch, which is to mean this rank's rows then.
bool Kinds::countsOwnRows(const Expr* bound) {
  bound = strip(bound);
  while (const auto* cast = dyn_cast<ExplicitCastExpr>(bound)) bound = strip(cast->getSubExpr());
  const auto origins = definitions_.origins(bound);
  const Expr* counted = origins.size() == 1 ? strip(origins.front()) : nullptr;
  while (const auto* cast = dyn_cast_or_null<ExplicitCastExpr>(counted)) counted = strip(cast->getSubExpr());
  const Entry* entry = counted && calleeOf(counted) ? dialect_.lookup(counted) : nullptr;
  const bool size = entry && entry->role == Role::Op && entry->op == OpKind::Size && objectOf(counted);
  if (assumesRows_) return size && hasRows(strip(objectOf(counted))) && dimensionOf(counted, *entry, code_.context()) == 0;
  if (counted && isSizeOfList(counted)) return listsRows(strip(objectOf(counted)));
  return size ? eval(counted).kind == Kind::Rows : isa<DeclRefExpr, MemberExpr>(bound) && eval(bound).kind == Kind::BatchSize;
}

// A number that all ranks have alike: the loop goes over the samples of the whole batch, whatever it counts. Each rank finds those that it has.
bool Kinds::countsAllRows(const Expr* bound) {
  if (assumesRows_ || !dialect_.ownStepDraws()) return false;
  const Value v = eval(bound);
  return v.isUniform() && v.kind != Kind::None && batches_.inStep(bound) > 0;
}

// The new tensors that such a loop writes, and what it reads; nothing for any other loop.
std::optional<RowLoop> Kinds::rowLoop(const ForStmt* loop) {
  const auto* start = dyn_cast_or_null<DeclStmt>(loop->getInit());
  const auto* i = start && start->isSingleDecl() ? dyn_cast<VarDecl>(start->getSingleDecl()) : nullptr;
  const auto* until = loop->getCond() ? dyn_cast<BinaryOperator>(strip(loop->getCond())) : nullptr;
  const auto* next = loop->getInc() ? dyn_cast<UnaryOperator>(strip(loop->getInc())) : nullptr;
  if (!i || !i->getInit() || !isLiteralZero(i->getInit()) || !until || (until->getOpcode() != BO_LT && until->getOpcode() != BO_NE) || !next || !next->isIncrementOp()) return std::nullopt;
  if (declOf(next->getSubExpr()) != i || !isVariable(until->getLHS(), i) || batches_.isStepLoop(loop)) return std::nullopt;
  const bool own = countsOwnRows(until->getRHS());
  RowLoop found;
  found.i = i;
  found.body = loop->getBody();
  for (const Expr* o : definitions_.origins(until->getRHS()))  // data.size(0)
    if (const Expr* counted = strip(o); calleeOf(counted) && objectOf(counted))
      if (const ValueDecl* d = declOf(strip(objectOf(counted)))) found.readFrom.insert(d);
  RowLoop all = found;
  if (!own || !worksOnRow(found.body, found) || (found.written.empty() && found.sums.empty() && found.lists.empty()) || !sumsStandApart(found)) {
    all.all = true;
    // What a step cuts has one number of rows: sample i is in one place of all of it (another number is an error of has_sample).
    const bool writes = countsAllRows(until->getRHS()) && worksOnRow(all.body, all) && !all.written.empty() && sumsStandApart(all);
    return writes ? std::optional<RowLoop>(all) : std::nullopt;
  }
  if (found.readFrom.size() > 1 && !assumesRows_ && !oneBatch()) return std::nullopt;
  const Expr* bound = strip(until->getRHS());
  if (recording_ && !assumesRows_ && eval(bound).kind == Kind::BatchSize) localSizes_.insert(bound);
  return found;
}

const Expr* countedAtEnd(const CXXForRangeStmt* loop) {
  const auto* body = dyn_cast<CompoundStmt>(loop->getBody());
  const auto* last = body && body->size() > 1 ? dyn_cast<Expr>(body->body_back()) : nullptr;
  const auto* step = last ? dyn_cast<UnaryOperator>(strip(last)) : nullptr;
  return step && step->isIncrementOp() && isa<DeclRefExpr>(strip(step->getSubExpr())) ? step->getSubExpr() : nullptr;
}

// `int i = 0; for (auto& t : batch) { target[i][t.action] = t.reward; ++i; }`: the number of the sample is counted beside the list, and nowhere else.
std::optional<RowLoop> Kinds::countedLoop(const CXXForRangeStmt* loop) {
  const Expr* counted = countedAtEnd(loop);
  const auto* i = counted ? dyn_cast_or_null<VarDecl>(declOf(strip(counted))) : nullptr;
  const DeclStmt* declared = i && i->isLocalVarDecl() && !i->isStaticLocal() ? code_.declStmt(i) : nullptr;
  if (!declared || code_.parent(declared) != code_.parent(loop) || !i->getType()->isIntegerType() || !i->getInit() || !isLiteralZero(i->getInit())) return std::nullopt;
  for (const Expr* use : definitions_.uses(i))
    if (!isWithin(code_, use, loop->getBody()) || (!isRead(code_, use) && strip(use) != strip(counted))) return std::nullopt;
  bool skips = false;  // an item without a number
  const auto look = [&](auto&& self, const Stmt* s) -> void {
    skips = skips || isa_and_nonnull<ContinueStmt>(s);
    if (s)
      for (const Stmt* c : s->children()) self(self, c);
  };
  look(look, loop->getBody());
  if (skips || !countsAllRows(loop->getRangeInit())) return std::nullopt;
  RowLoop all;
  all.i = i;
  all.all = true;
  all.body = loop->getBody();
  for (const Stmt* s : llvm::drop_end(cast<CompoundStmt>(loop->getBody())->body()))
    if (!worksOnRow(s, all)) return std::nullopt;
  return !all.written.empty() && sumsStandApart(all) ? std::optional<RowLoop>(all) : std::nullopt;
}

// The same over a list of samples, `for (auto& example : batch)`.
std::optional<RowLoop> Kinds::rowLoop(const CXXForRangeStmt* loop) {
  const Expr* list = strip(loop->getRangeInit());
  if (batches_.isStepLoop(loop)) return std::nullopt;
  if (!listsRows(list)) return countedLoop(loop);
  if (isa<DecompositionDecl>(loop->getLoopVariable())) return std::nullopt;
  RowLoop found;
  found.item = loop->getLoopVariable();
  found.itemsOf = list;
  found.body = loop->getBody();
  found.readFrom.insert(declOf(list));
  if (!worksOnRow(found.body, found) || (found.sums.empty() && found.lists.empty()) || !sumsStandApart(found)) return std::nullopt;
  if (found.readFrom.size() > 1 && !oneBatch()) return std::nullopt;
  return found;
}

// True for such a loop, of which nothing else is to be looked at.
bool Kinds::walkRowLoop(const Stmt* loop) {
  const auto* range = dyn_cast<CXXForRangeStmt>(loop);
  const auto* counting = dyn_cast<ForStmt>(loop);
  const auto found = range ? rowLoop(range) : counting ? rowLoop(counting) : std::nullopt;
  if (!found) return false;
  if (recording_ && found->all) sampleLoops_[loop] = found->rows;
  for (const ValueDecl* d : found->written) assignDecl(d, elementwise(decls_.lookup(d), found->read, range ? range->getRangeInit() : counting->getCond()));
  assignSums(*found);
  return true;
}

}  // namespace hvdize
