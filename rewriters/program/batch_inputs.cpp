// SPDX-License-Identifier: Apache-2.0
// From a loss back to the expressions that form its batch.
#include "clang/AST/StmtCXX.h"

#include "rewriters/program/evaluate.h"
#include "rewriters/program/batches.h"
#include "rewriters/program/host.h"

using namespace clang;

namespace hvdize {

// Looks for the batch that the loss is made from. Values that depend on themselves (x = block(x)) need more than one round: where one has a
// batch in it, what is cut out of it is none of its own.
bool Batches::formsBatch(const Expr* loss, Trace& t) {
  constexpr int kMostRounds = 8;
  llvm::SetVector<const Expr*> first;
  bool any = false;
  for (int round = 0; round < kMostRounds; ++round) {
    t.found.clear();
    t.seen.clear();
    t.unclear = nullptr;
    any = inputs(loss, t);
    if (round == 0) first = t.found;
    bool same = t.before.size() == t.seen.size();
    for (const auto& [what, yes] : t.seen) same = same && t.before.lookup(what) == yes;
    if (same) break;
    t.before = t.seen;
  }
  const llvm::SetVector<const Expr*>& found = t.found.empty() ? first : t.found;
  // A recurrent state of zeros is no batch: there must be something to share out that goes with it.
  if (!found.empty() && llvm::all_of(found, [&](const Expr* e) { return isBlank(e); })) return false;
  for (const Expr* e : found) shards_.insert(e);
  return any;
}

bool Batches::inputs(const Expr* e, Trace& t) {
  e = strip(e);
  if (!e) return false;
  const auto known = t.seen.find(e);
  if (known != t.seen.end()) return known->second;
  t.seen[e] = t.before.lookup(e);  // on a cycle, what the round before found out
  const bool any = inputsOf(e, t);
  t.seen[e] = any;
  if (t.all && !any && !t.unclear && isUnclear(e, t)) t.unclear = e;
  return any;
}

bool Batches::inputsOf(const Expr* e, Trace& t) {
  if (reads_.count(e)) return evaluatedIn(e, t) && (taken_.insert(e), true);
  if ((t.whole && readsWhole(e, t)) || (t.all && isAllData(e, t))) return t.found.insert(e), true;
  // Parts of what a container holds that the step makes of its batch: for (auto& [name, target] : targets), both[i].first.
  if (const Expr* made = dialect_.is(e->getType().getNonReferenceType(), Role::Tensor) ? containerMadeHere(e, t) : nullptr; made && inputs(made, t)) return true;
  if (const auto* m = dyn_cast<MemberExpr>(e); m && dialect_.is(m->getType(), Role::Tensor) && isElement(m->getBase()))
    return t.found.insert(e), true;  // a part of a batch that was made before
  if (isPartOfElement(e)) return !(declOf(cast<CallExpr>(e)->getArg(0)) && isOfSameItems(declOf(cast<CallExpr>(e)->getArg(0)), t)) && (t.found.insert(e), true);
  // *x of `auto* x = &batches[i];`
  if (const auto* u = dyn_cast<UnaryOperator>(e); u && u->getOpcode() == UO_Deref && dialect_.is(u->getType(), Role::Tensor) && isElement(u)) return t.found.insert(e), true;
  // for (auto& row : out.unbind()) inside the step: its items are parts of the batch that `out` comes from.
  if (const Expr* whole = isa<DeclRefExpr>(e) ? listAround(declOf(e), t) : nullptr; whole && inputs(whole, t)) return true;
  if (const ValueDecl* d = declOf(e); d && isLoopElement(d) && evaluatedIn(e, t) && !isOfSameItems(d, t) && (isStdRecord(d->getType()) || dialect_.is(d->getType(), Role::Tensor)))
    return t.found.insert(e), true;
  // auto [x, y] = *it;
  if (const auto* b = dyn_cast_or_null<BindingDecl>(declOf(e)))
    if (const auto* whole = dyn_cast<VarDecl>(b->getDecomposedDecl()); whole && whole->getInit() && reads_.count(strip(whole->getInit())))
      return inputs(whole->getInit(), t);
  // auto [x, y] = loader.next(), where the batch is a record of the program's own; of a pair or tuple, `auto [x, y] = batches[i]`, get<0> makes x.
  if (const auto* r = dyn_cast<DeclRefExpr>(e); r && isa<BindingDecl>(r->getDecl())) {
    const auto* held = dyn_cast_or_null<VarDecl>(declOf(e));
    const Expr* part = held ? strip(held->getInit()) : cast<BindingDecl>(r->getDecl())->getBinding();
    const auto* m = dyn_cast_or_null<MemberExpr>(part);
    if (part && !m && isPartOfElement(part)) return !isOfSameItems(r->getDecl(), t) && (t.found.insert(e), true);
    if (m) {
      const bool any = inputs(m, t);
      if (t.found.remove(m)) t.named.insert(m);
      if (t.named.count(m)) t.found.insert(e);
      return any;
    }
  }
  if (const ValueDecl* d = declOf(e); d && !isa<FunctionDecl>(d)) {
    if (const auto* m = dyn_cast<MemberExpr>(e); m && isSystemDecl(d)) return inputs(m->getBase(), t);  // .first, .second
    // net->forward(x).policy, where the body of forward is in another file: nobody here gives the member a value.
    if (const auto* m = dyn_cast<MemberExpr>(e); m && llvm::none_of(definitions_.of(d), [](const Definition& def) { return def.value != nullptr; }))
      if (const auto made = definitions_.origins(m->getBase()); !made.empty() && llvm::all_of(made, [&](const Expr* x) { return isa<CallExpr>(x) && calleeOf(x) && code_.targets(x).empty(); }))
        return inputs(m->getBase(), t);
    if (isGrown(e, t)) return t.found.insert(e), true;
    return inputsOfDecl(d, t);
  }
  if (const auto* c = dyn_cast<ConditionalOperator>(e)) {
    const bool a = inputs(c->getTrueExpr(), t), b = inputs(c->getFalseExpr(), t);
    return a || b;
  }
  if (const auto* a = dyn_cast<ArraySubscriptExpr>(e)) return inputs(a->getBase(), t);
  if (const auto* k = dyn_cast<CXXConstructExpr>(e); k && !carriesSamples(k->getType()) && argumentsOf(k).size() == 1)
    return inputs(argumentsOf(k)[0], t);  // an index, or an opaque value made from a tensor
  if (const auto* list = dyn_cast<CXXStdInitializerListExpr>(e)) return inputs(list->getSubExpr(), t);
  if (const auto* list = dyn_cast<InitListExpr>(e)) {
    bool any = false;
    for (const Expr* i : list->inits()) any = inputs(i, t) || any;
    return any;
  }
  if (calleeOf(e) || !code_.targets(e).empty()) return inputsOfCall(e, t);
  return false;
}

// What the loop goes through whose variable this is, if the loop lies in the step, and not around it.
const Expr* Batches::listAround(const ValueDecl* d, Trace& t) const {
  const auto* v = dyn_cast_or_null<VarDecl>(d);
  const auto* loop = v && v->isCXXForRangeDecl() && code_.declStmt(v) ? dyn_cast_or_null<CXXForRangeStmt>(code_.parent(code_.declStmt(v))) : nullptr;
  if (!loop || llvm::is_contained(t.loops, static_cast<const Stmt*>(loop)) || !evaluatedIn(loop->getRangeInit(), t)) return nullptr;
  return loop->getRangeInit();
}

// What is formed outside of every step is not a batch of one; a loop that then has none is none.
void Batches::dropIdle() {
  std::vector<const Expr*> idle;
  for (const Expr* s : shards_)
    if (inStep(s) == 0) idle.push_back(s);
  for (const Expr* s : idle) shards_.remove(s);
  if (!idle.empty() && shards_.empty() && !handLoops_.empty()) {
    for (const Site& b : sites_.of(Role::Backward)) problems_.push_back({BatchProblem::What::NoBatch, b.call});
  }
}

bool Batches::inputsOfDecl(const ValueDecl* d, Trace& t) {
  if (!carriesSamples(d->getType()) && !isa<ParmVarDecl>(d)) return false;
  if (const Expr* given = t.bound.lookup(d)) {
    // What this call gives, not what other calls of the function do (an evaluation, say).
    bool any = inputs(given, t);
    for (const Definition& def : definitions_.of(d))
      if (def.value && code_.functionOf(def.value) == cast<ParmVarDecl>(d)->getDeclContext() && evaluatedIn(def.value, t)) any = inputs(def.value, t) || any;
    return any;
  }
  const auto known = t.seen.find(d);
  if (known != t.seen.end()) return known->second;
  t.seen[d] = t.before.lookup(d);
  bool any = cutsFilled(d, t);
  if (!any)
    for (const Definition& def : definitions_.of(d))
      if (def.value && evaluatedIn(def.value, t)) any = inputs(def.value, t) || any;
  any = collectsParts(d, t) || any;
  t.seen[d] = any;
  return any;
}

// states.index({chosen}), where `states` is there before the first step and each step puts a row into it, `states[at] = state`: what is chosen
// makes the batch, and what is put there does not.
bool Batches::isStore(const Expr* taken, Trace& t) const {
  const Expr* object = objectOf(taken) ? strip(objectOf(taken)) : nullptr;
  const ValueDecl* d = object && isa<DeclRefExpr, MemberExpr>(object) ? declOf(object) : nullptr;
  if (!d || isa<ParmVarDecl, BindingDecl>(d) || !dialect_.is(d->getType().getNonReferenceType(), Role::Tensor)) return false;
  bool filled = false;
  for (const Definition& def : definitions_.of(d)) {
    const bool part = def.value && !def.compound && !def.through && givesPart(code_, def.value);
    if (!part && (def.compound || def.through || !def.value || evaluatedIn(def.value, t))) return false;
    filled = filled || part;
  }
  return filled;
}

// list.push_back(x), in which the list is mentioned here. Null for other uses.
const CXXMemberCallExpr* Batches::addsTo(const Expr* use, const ValueDecl* list) const {
  const Stmt* call = use;
  while (call && !isa<CXXMemberCallExpr, DeclStmt, CompoundStmt>(call)) call = code_.parent(call);
  const auto* add = dyn_cast_or_null<CXXMemberCallExpr>(call);
  const auto* method = add ? add->getMethodDecl() : nullptr;
  if (!method || !method->getDeclName().isIdentifier() || !addsItem(method->getName())) return nullptr;
  return objectOf(add) && declOf(objectOf(add)) == list ? add : nullptr;
}

// `outs.aux.push_back(head(h));` in the forward of a step: a list in a struct, which gets items in steps alone.
bool Batches::isFilledInSteps(const ValueDecl* list, Trace& t) const {
  if (!isStdRecord(list->getType())) return false;
  bool any = false;
  for (const Expr* use : definitions_.uses(list))
    if (const CXXMemberCallExpr* add = addsTo(use, list)) {
      if (!evaluatedIn(add, t)) return false;
      any = true;
    }
  return any;
}

// A list of what a step computes from its batch: `outs.push_back(cell(x[t]))` in a loop over the time steps. A list of samples, read one by
// one in that loop, forms a batch itself.
bool Batches::collectsParts(const ValueDecl* d, Trace& t) {
  const auto* list = dyn_cast<VarDecl>(d);
  const Stmt* home = list && isStdRecord(list->getType()) ? code_.declStmt(list) : nullptr;
  if (!(isa<FieldDecl>(d) && isFilledInSteps(d, t)) && (!home || !list->getInit() || !evaluatedIn(list->getInit(), t))) return false;
  bool any = false;
  for (const Expr* use : definitions_.uses(d)) {
    const CXXMemberCallExpr* add = addsTo(use, d);
    if (!add) continue;
    const Stmt* loop = nullptr;  // the outermost one behind the list's declaration
    for (const Stmt* p = add; home && p && p != code_.parent(home); p = code_.parent(p))
      if (isLoop(p)) loop = p;
    Trace part = t;
    part.found.clear();
    bool formed = false;  // emplace_back(x, y), insert({"x", x})
    for (const Expr* a : add->arguments())
      if (add->getNumArgs() == 1 || carriesSamples(a->getType())) formed = inputs(a, part) || formed;
    if (!formed) continue;
    llvm::DenseSet<const FunctionDecl*> called;
    if (loop) reach(loop, called);
    const bool within = loop && llvm::any_of(part.found, [&](const Expr* e) {
      if (const FunctionDecl* f = code_.functionOf(e); f && called.count(f->getCanonicalDecl())) return true;
      const Stmt* p = e;
      while (p && p != loop) p = code_.parent(p);
      return p != nullptr;
    });
    if (within) return false;
    t.found.insert(part.found.begin(), part.found.end());
    any = true;
  }
  return any;
}

bool Batches::inputsOfReturns(const FunctionDecl* f, llvm::ArrayRef<const Expr*> arguments, Trace& t) {
  const auto outer = t.bound;
  for (unsigned i = 0; i < arguments.size() && i < f->getNumParams(); ++i) t.bound[f->getParamDecl(i)] = arguments[i];
  bool any = false;
  for (const Expr* r : definitions_.returns(f)) any = inputs(r, t) || any;
  t.bound = outer;
  return any;
}

// A container that begins empty in every step: its items, `rows[j]` of `rows[j] = pad(rows[j])`, are single samples and no batch.
bool Batches::isFilledHere(const Expr* container, Trace& t) const {
  const auto* v = dyn_cast_or_null<VarDecl>(declOf(container));
  // forward({a, b}): its items are those two, which form no batch.
  const auto isListed = [&](const Expr* init) {
    init = init ? strip(init) : nullptr;
    while (const auto* k = dyn_cast_or_null<CXXConstructExpr>(init)) init = argumentsOf(k).size() == 1 ? strip(argumentsOf(k)[0]) : nullptr;
    return init && isa<CXXStdInitializerListExpr, InitListExpr>(init) && evaluatedIn(init, t);
  };
  if (v && isa<ParmVarDecl>(v)) {
    const auto given = definitions_.of(v);
    return !given.empty() && llvm::all_of(given, [&](const Definition& def) { return isListed(def.value); });
  }
  if (v && v->isLocalVarDecl() && isListed(v->getInit())) return true;
  const auto* made = v && v->isLocalVarDecl() && code_.declStmt(v) && v->getInit() ? dyn_cast<CXXConstructExpr>(strip(v->getInit())) : nullptr;
  return made && evaluatedIn(made, t) && llvm::none_of(argumentsOf(made), [&](const Expr* a) { return carriesSamples(a->getType()); });
}

// `tensor(values).view({-1, 3})`: the numbers of all rows, one behind another; they are rows from here on.
bool Batches::formsRows(const Expr* reshape, const Entry& entry, Trace& t) {
  const auto arguments = argumentsOf(reshape);
  if (calleeName(reshape) != "view" && calleeName(reshape) != "reshape") return false;
  if (entry.op != OpKind::Reshape || entry.shape < 0 || entry.shape >= static_cast<int>(arguments.size())) return false;
  const auto extents = extentsOf(arguments[entry.shape]);
  if (!extents || extents->size() < 2) return false;
  const Expr* made = objectOf(reshape) ? strip(objectOf(reshape)) : nullptr;
  const Entry* how = made && calleeOf(made) ? dialect_.lookup(made) : nullptr;
  while (how && how->role == Role::Op && how->op == OpKind::Elementwise && objectOf(made)) {  // .to(kFloat), .clone()
    made = strip(objectOf(made));
    how = calleeOf(made) ? dialect_.lookup(made) : nullptr;
  }
  if (!how || how->role != Role::Op || how->op != OpKind::Factory || how->shape >= 0 || argumentsOf(made).empty()) return false;
  const Expr* data = strip(argumentsOf(made)[0]);
  for (const auto* k = dyn_cast<CXXConstructExpr>(data); k && !isStdRecord(k->getType()) && k->getNumArgs() > 0; k = dyn_cast<CXXConstructExpr>(data))
    data = strip(k->getArg(0));
  llvm::DenseSet<const void*> seen;
  return isStdRecord(data->getType()) && varies(data, t, seen);
}

bool Batches::inputsOfCall(const Expr* e, Trace& t) {
  const FunctionDecl* callee = calleeOf(e);
  const auto arguments = argumentsOf(e);
  const Entry* entry = callee ? dialect_.lookup(callee) : nullptr;
  if (entry && entry->role == Role::Op && formsRows(e, *entry, t)) return t.found.insert(e), true;
  bool any = false;
  const auto targets = code_.targets(e);
  if (!entry && !targets.empty() && !isa<CXXConstructExpr>(e))
    for (const FunctionDecl* f : targets) any = inputsOfReturns(f, arguments, t) || any;
  // multinomial(table, batch): as many positions as are asked for, whatever the table has. That of chances that a network gives is a batch.
  const bool positions = entry && entry->role == Role::RandomDraw && calleeName(e) == "multinomial";
  if (positions && !objectOf(e) && !arguments.empty()) {
    Trace table = t;
    table.table = true;
    table.found.clear();
    if (!inputs(arguments[0], table)) return false;
  }
  for (unsigned i = 0; i < arguments.size(); ++i) {
    const Expr* a = arguments[i];
    // Weights of classes, and what else there is in a loss beside its samples, are no samples though they are kept.
    if (t.all && entry && entry->role == Role::Loss && static_cast<int>(i) != entry->input && static_cast<int>(i) != entry->target) continue;
    if (carriesSamples(a->getType()) || carriesSamples(strip(a)->getType())) any = inputs(a, t) || any;  // a list may be handed over as a view of it
    else if (const auto list = extentsOf(a); list && entry)  // {input, state}, {index, Slice()}
      for (const Expr* x : *list) any = inputs(x, t) || any;
    else if (entry && entry->shape >= 0 && entry->shape < static_cast<int>(arguments.size()) && a == arguments[entry->shape])
      any = inputs(a, t) || any;  // x.sizes()
  }
  if (entry && entry->role == Role::Forward) return any;
  // folds[f].x.index_select(0, part): the positions say which rows make the batch; the item of the list is what they are taken from.
  const auto* held = objectOf(e) ? dyn_cast<MemberExpr>(strip(objectOf(e))) : nullptr;
  const bool item = held && isa<CXXOperatorCallExpr, CXXMemberCallExpr>(strip(held->getBase())) && isElement(held->getBase());
  if ((item || isSliceOfOuterItem(e, t)) && entry && entry->role == Role::Op && entry->op == OpKind::Select && !takesColumns(e)) {
    if (any) return true;
    llvm::DenseSet<const void*> seen;
    if (llvm::any_of(arguments, [&](const Expr* a) { return varies(a, t, seen); })) return t.found.insert(e), true;
  }
  if (entry && entry->role == Role::RandomDraw && entry->shape < 0 && objectOf(e))
    if (const Expr* fresh = freshTensor(objectOf(e), dialect_); fresh && startsWithRows(fresh)) return t.found.insert(e), true;
  if (any && entry && entry->role == Role::Op && entry->op == OpKind::Select && isStore(e, t)) return true;
  if (const Expr* object = objectOf(e)) {
    if (carriesSamples(object->getType()) && inputs(object, t)) any = true;
    // Of a struct of the author's only the tensors can be cut, where they are used.
    const CXXRecordDecl* held = e->getType().getNonReferenceType()->getAsCXXRecordDecl();
    const bool pointer = held && held->isInStdNamespace() && (held->getName().ends_with("_ptr") || held->getName() == "optional");
    const bool cuttable = (isStdRecord(e->getType()) && !pointer && !isIterator(e->getType())) || dialect_.is(e->getType(), Role::Tensor) || dialect_.is(e->getType(), Role::Batch);
    const bool element = !entry && callee && isSystemDecl(callee) && callee->getOverloadedOperator() != OO_Arrow && cuttable && carriesSamples(e->getType()) && !any;
    const bool gradients = llvm::any_of(definitions_.origins(object), [&](const Expr* o) { return dialect_.is(o, Role::GradOf); });
    if (element && !gradients && isStdRecord(object->getType()) && !isFilledHere(object, t) && !isSameInEveryStep(e, t))  // batches[i], batches.at(i): a batch out of a container made before
      return t.found.insert(e), true;
  }
  if (any || !entry) return any;
  if (entry->role == Role::DatasetRead && !arguments.empty()) return t.found.insert(strip(arguments[0])), true;
  if (entry->shape >= 0 && entry->shape < static_cast<int>(arguments.size()))
    if (const auto list = extentsOf(arguments[entry->shape]); list && !list->empty())
      if (const Expr* followed = rowsOfTensor(list->front())) return inputs(followed, t);
  if (entry->role == Role::RandomDraw && entry->shape >= 0) return (t.items || !isDrawnForAll(e)) && (t.found.insert(e), true);
  if (entry->role != Role::Op) return false;
  const auto dim = dimensionOf(e, *entry, code_.context());
  if (takesColumns(e)) {  // along another dimension: no rows are chosen
    llvm::DenseSet<const void*> seen;
    return t.columns && varies(e, t, seen) && (t.found.insert(e), true);
  }
  if (entry->op == OpKind::Select && dim.value_or(0) == 0) {
    if (isRowOfInnerLoop(e, t)) return false;
    // log_softmax(net(state), 0)[action]: one number of what the model makes of a sample.
    const auto* subscript = dyn_cast<CXXOperatorCallExpr>(e);
    llvm::DenseSet<const ValueDecl*> followed;
    if (subscript && subscript->getNumArgs() == 2 && subscript->getArg(1)->getType()->isIntegerType() && sites_.reaches(subscript->getArg(0), Role::Forward) &&
        comesFromModel(subscript->getArg(0), definitions_, sites_, followed))
      return inputs(subscript->getArg(0), t);
    llvm::DenseSet<const void*> seen;
    return varies(e, t, seen) && (t.found.insert(e), true);  // the same rows in every round (of a mask, of positions) are no batch
  }
  if (entry->op == OpKind::Concat && (dim.value_or(0) == 0 || liesSecond(e))) return t.found.insert(e), true;
  if (entry->op == OpKind::Factory && entry->shape < 0 && !arguments.empty()) {
    const Expr* data = strip(arguments[0]);
    for (const auto* k = dyn_cast<CXXConstructExpr>(data); k && !isStdRecord(k->getType()) && k->getNumArgs() > 0; k = dyn_cast<CXXConstructExpr>(data))
      data = strip(k->getArg(0));
    llvm::DenseSet<const void*> seen;
    return isStdRecord(data->getType()) && varies(data, t, seen) && (t.found.insert(e), true);  // tensor(labels): numbers collected for this batch
  }
  return entry->op == OpKind::Factory && entry->shape >= 0 && startsWithRows(e) && (t.found.insert(e), true);
}

bool Batches::takesColumns(const Expr* shard) const {
  const Entry* entry = calleeOf(shard) ? dialect_.lookup(shard) : nullptr;
  if (!entry || entry->role != Role::Op || entry->op != OpKind::Select) return false;
  const auto arguments = argumentsOf(shard);
  // x.index({Slice(), Slice(i, i + n)})
  if (entry->index >= 0 && entry->index < static_cast<int>(arguments.size()))
    if (const auto list = extentsOf(arguments[entry->index]); list && !list->empty() && keepsFirstDimension(list->front())) return true;
  return dimensionOf(shard, *entry, code_.context()).value_or(0) == 1;
}

// Does the tensor go, as it is, into a layer over sequences that takes time first?
bool Batches::meetsTimeFirst(const Expr* tensor, llvm::DenseSet<const void*>& seen) const {
  if (!seen.insert(tensor).second) return false;
  const auto uses = [&](const ValueDecl* d) {
    return llvm::any_of(definitions_.uses(d), [&](const Expr* use) { return meetsTimeFirst(use, seen); });
  };
  for (const Stmt *below = tensor, *p = code_.parent(tensor);; below = p, p = code_.parent(p)) {
    if (const VarDecl* v = code_.variableInitialisedBy(below)) return uses(v);
    const auto* e = dyn_cast_or_null<Expr>(p);
    if (!e) return false;
    const FunctionDecl* f = calleeOf(e);
    if (!f || (isa<CXXConstructExpr>(e) && argumentsOf(e).size() == 1)) continue;
    const auto arguments = argumentsOf(e);
    const auto* o = dyn_cast<CXXOperatorCallExpr>(e);
    if (o && o->getOperator() == OO_Equal && o->getArg(1) == below) {
      const ValueDecl* d = declOf(o->getArg(0));
      return d && uses(d);
    }
    const bool given = !arguments.empty() && isWithin(code_, below, arguments[0]);
    if (const CXXMethodDecl* forward = given ? knownForward(dialect_, objectOf(e)) : nullptr) {
      const Entry& layer = *dialect_.lookup(forward);
      if (!layer.batchFirst.empty()) return layer.batchFirst == "never" || !hasOption(definitions_, layer.batchFirst, objectOf(e), true);
    }
    for (const FunctionDecl* target : code_.targets(e))
      for (unsigned i = 0; i < arguments.size() && i < target->getNumParams(); ++i)
        if (isWithin(code_, below, arguments[i]) && uses(target->getParamDecl(i))) return true;
    const Entry* entry = dialect_.lookup(f);
    // x.to(device)
    if (!(objectOf(e) && isWithin(code_, objectOf(e), below) && entry && (entry->role == Role::Access || entry->op == OpKind::Elementwise))) return false;
  }
}

bool Batches::liesSecond(const Expr* shard) const {
  const Entry* entry = calleeOf(shard) ? dialect_.lookup(shard) : nullptr;
  if (!entry || entry->role != Role::Op || entry->op != OpKind::Concat || dimensionOf(shard, *entry, code_.context()) != 1) return false;
  const auto arguments = argumentsOf(shard);
  if (arguments.empty() || !isStdRecord(strip(arguments[0])->getType())) return false;
  // What stack(list, 1) joins may be time steps of all samples, but not where a layer takes the result whose second dimension is that of the samples.
  llvm::DenseSet<const void*> seen;
  return calleeName(shard) == "pad_sequence" || (calleeName(shard) == "stack" && meetsTimeFirst(shard, seen));
}

// A new tensor whose first extent is no literal, nor the rows of a tensor that is there, nor a size of a layer.
bool Batches::startsWithRows(const Expr* factory) const {
  const Entry* entry = dialect_.lookup(factory);
  const auto arguments = argumentsOf(factory);
  if (!entry || entry->shape < 0 || entry->shape >= static_cast<int>(arguments.size())) return false;
  const auto list = extentsOf(arguments[entry->shape]);
  return list && !list->empty() && !isa<IntegerLiteral>(strip(list->front())) && !rowsOfTensor(list->front()) && !isLayerSize(list->front());
}

// Is this mention of a container the object of a call that may change it, v.push_back(x), or of a loop that does: for (auto& i : v) i = draw();
bool Batches::changes(const Expr* use) const {
  const Stmt* loop = use;
  while (loop && !isa<CXXForRangeStmt, CompoundStmt>(loop)) loop = code_.parent(loop);
  if (const auto* r = dyn_cast_or_null<CXXForRangeStmt>(loop); r && strip(r->getRangeInit()) == use) {
    const VarDecl* v = r->getLoopVariable();
    return v->getType()->isLValueReferenceType() && llvm::any_of(definitions_.of(v), [&](const Definition& def) { return def.value != v->getInit(); });
  }
  const Stmt* p = code_.parent(use);
  while (p && isa<ImplicitCastExpr, ParenExpr>(p)) p = code_.parent(p);
  const auto* member = dyn_cast_or_null<MemberExpr>(p);
  const auto* method = member ? dyn_cast<CXXMethodDecl>(member->getMemberDecl()) : nullptr;
  return method && !method->isConst() && !method->isStatic();
}

// `from = at; to = from + 8; at = to;`: is the number made from itself, by way of others, in a sum?
bool Batches::isSumOfItself(const Expr* value, const ValueDecl* d, bool inSum, llvm::DenseSet<const void*>& seen) const {
  value = strip(value);
  const ValueDecl* named = value && isa<DeclRefExpr, MemberExpr>(value) ? declOf(value) : nullptr;
  if (named == d) return inSum;
  if (const auto* v = dyn_cast_or_null<VarDecl>(named)) {
    if (!v->isLocalVarDecl() || !v->getType()->isIntegerType() || !seen.insert(v).second) return false;
    return llvm::any_of(definitions_.of(v), [&](const Definition& def) { return def.value && isSumOfItself(def.value, d, inSum, seen); });
  }
  if (!value || named) return false;
  const auto* b = dyn_cast<BinaryOperator>(value);
  const bool sum = inSum || (b && b->isAdditiveOp());
  return llvm::any_of(value->children(), [&](const Stmt* c) { return isSumOfItself(dyn_cast_or_null<Expr>(c), d, sum, seen); });
}

// May the expression have another value in another round of the loops? Shapes of tensors count as the same.
bool Batches::varies(const Expr* e, Trace& t, llvm::DenseSet<const void*>& seen) const {
  e = strip(e);
  if (!e || !seen.insert(e).second) return false;
  if (isa<IntegerLiteral, FloatingLiteral, CXXBoolLiteralExpr, StringLiteral, CXXNullPtrLiteralExpr, CXXThisExpr, LambdaExpr>(e)) return false;
  if (const auto* m = dyn_cast<MemberExpr>(e); m && varies(m->getBase(), t, seen)) return true;
  if (const ValueDecl* d = declOf(e); d && !isa<FunctionDecl>(d)) {
    if (isa<EnumConstantDecl>(d) || isSystemDecl(d) || dialect_.owns(d) || !seen.insert(d).second) return false;
    if (isLoopElement(d) || isa<BindingDecl>(d)) return true;
    bool given = isa<FieldDecl>(d);
    const auto movesOn = [&](const Expr* value) {  // at = at + 8
      bool itself = false;
      forEachExpr(value, [&](const Expr* x) { itself = itself || (isa<DeclRefExpr, MemberExpr>(x) && declOf(x) == d); });
      if (itself) return declOf(value) != d && d->getType()->isIntegerType();
      llvm::DenseSet<const void*> through;
      return d->getType()->isIntegerType() && isSumOfItself(value, d, false, through);
    };
    for (const Definition& def : definitions_.of(d)) {
      given = true;
      if (def.compound || !def.value || (evaluatedIn(def.value, t) && (movesOn(def.value) || varies(def.value, t, seen)))) return true;
    }
    if (isStdRecord(d->getType()) && llvm::any_of(definitions_.uses(d), [&](const Expr* use) { return changes(use) && evaluatedIn(use, t); })) return true;
    return !given;
  }
  // net->weights[0]: the object behind the pointer is the same in every round.
  if (const auto* o = dyn_cast<CXXOperatorCallExpr>(e); o && o->getNumArgs() == 1 && o->getOperator() == OO_Arrow) return varies(o->getArg(0), t, seen);
  if (const FunctionDecl* f = calleeOf(e)) {
    const Entry* entry = dialect_.lookup(f);
    if (entry && entry->role == Role::Op && (entry->op == OpKind::Size || entry->op == OpKind::ElementCount || entry->op == OpKind::ShapeOnly)) return false;
    const bool known = entry && entry->role != Role::RandomDraw && entry->role != Role::DatasetRead;
    if (!known && !isa<CXXConstructExpr>(e) && hostRole(f) != HostRole::Forward) return true;
    const Expr* object = objectOf(e);
    return (object && varies(object, t, seen)) || llvm::any_of(argumentsOf(e), [&](const Expr* a) { return varies(a, t, seen); });
  }
  if (isa<CallExpr>(e)) return true;
  for (const Stmt* c : e->children())
    if (const auto* x = dyn_cast_or_null<Expr>(c); x && varies(x, t, seen)) return true;
  return false;
}

}  // namespace hvdize
