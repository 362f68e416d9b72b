// SPDX-License-Identifier: Apache-2.0
// Lists with an entry for each sample: the batches of a loader that stacks nothing, and what a step collects from them sample by sample; and lists of
// numbers with a count of samples among them.
#include "clang/AST/StmtCXX.h"

#include "rewriters/program/evaluate.h"
#include "rewriters/program/host.h"

using namespace clang;

namespace hvdize {

// What the variable of a loop over a loader is: tensors with one row for each sample, or a list of samples.
Value Kinds::batchOf(const LoaderLoop& loop) const {
  Value v(loop.sharded() ? Kind::Sharded : Kind::Uniform);
  const auto* c = dyn_cast_or_null<ClassTemplateSpecializationDecl>(dialect_.recordOf(loop.variable->getType().getNonReferenceType()));
  const bool vector = c && isStdRecord(loop.variable->getType().getNonReferenceType()) && c->getName() == "vector";
  v.listed = v.kind == Kind::Sharded && vector;
  return v;
}

// `for (i < batch.size())` over a list of samples: the list; null for other loops.
const Expr* Kinds::listOf(const ForStmt* loop) {
  const auto* until = loop->getCond() ? dyn_cast<BinaryOperator>(strip(loop->getCond())) : nullptr;
  if (!until || batches_.isStepLoop(loop)) return nullptr;
  const Expr* bound = strip(until->getRHS());
  while (const auto* cast = dyn_cast<ExplicitCastExpr>(bound)) bound = strip(cast->getSubExpr());
  const Expr* list = isSizeOfList(bound) ? objectOf(bound) : nullptr;
  return list && eval(list).listed ? list : nullptr;
}

// Does the loop over this rank's samples nothing but add one item of each to lists, with variables of its own? Whatever else it does would be
// done for the samples of this rank only.
bool Kinds::collectsOnly(const Stmt* loop) {
  const Stmt* body = loopBody(loop);
  const auto own = [&](const Expr* target) {
    const auto* v = dyn_cast_or_null<VarDecl>(rootOf(target));
    const DeclStmt* ds = v ? code_.declStmt(v) : nullptr;
    return ds && isWithin(code_, ds, body);
  };
  const auto harmless = [&](auto&& self, const Stmt* s) -> bool {
    if (const auto* block = dyn_cast<CompoundStmt>(s)) return llvm::all_of(block->body(), [&](const Stmt* c) { return self(self, c); });
    if (isa<DeclStmt, NullStmt>(s)) return true;
    const auto* e = isa<Expr>(s) ? strip(cast<Expr>(s)) : nullptr;
    if (!e) return false;
    if (const auto* b = dyn_cast<BinaryOperator>(e); b && b->getOpcode() == BO_Comma) return self(self, b->getLHS()) && self(self, b->getRHS());
    if (const auto* b = dyn_cast<BinaryOperator>(e)) return b->isAssignmentOp() && own(b->getLHS());
    if (const auto* o = dyn_cast<CXXOperatorCallExpr>(e)) return o->isAssignmentOp() && own(o->getArg(0));
    const auto arguments = argumentsOf(e);
    return objectOf(e) && isStdRecord(objectOf(e)->getType()) && (calleeName(e) == "push_back" || calleeName(e) == "emplace_back") && arguments.size() == 1 &&
           eval(arguments[0]).item;
  };
  return harmless(harmless, body);
}

// A loop over a list of samples: reported when it does more than collect. True for such a loop.
bool Kinds::walkList(const Stmt* loop) {
  const auto* f = dyn_cast<ForStmt>(loop);
  const auto* r = dyn_cast<CXXForRangeStmt>(loop);
  const Expr* list = f ? listOf(f) : r && eval(r->getRangeInit()).listed ? r->getRangeInit() : nullptr;
  if (!list) return false;
  const bool only = collectsOnly(loop);
  if (r && !only && rowLoop(r)) return true;  // see walk()
  if (recording_ && !only)
    problem(list, Value::unknown(list, "its samples are gone through one by one, and more is done than collecting each of them"), "its samples are gone through one by one");
  return true;
}

// Does this statement run once for each of this rank's samples: in a loop over all of them, from the first on, under no condition?
bool Kinds::runsForEachSample(const Stmt* s) {
  const Stmt* p = code_.parent(s);
  while (p && (isa<Expr>(p) || isa<CompoundStmt>(p))) p = code_.parent(p);
  if (!p || !isLoop(p) || batches_.isStepLoop(p) || leavesEarly(loopBody(p), true)) return false;
  if (const auto* r = dyn_cast<CXXForRangeStmt>(p)) return eval(r->getRangeInit()).listed;
  const auto* f = dyn_cast<ForStmt>(p);
  const auto* until = f && listOf(f) ? dyn_cast<BinaryOperator>(strip(f->getCond())) : nullptr;
  if (!until || (until->getOpcode() != BO_LT && until->getOpcode() != BO_NE)) return false;
  const auto* start = dyn_cast_or_null<DeclStmt>(f->getInit());
  const auto* i = start && start->isSingleDecl() ? dyn_cast<VarDecl>(start->getSingleDecl()) : nullptr;
  const auto* next = f->getInc() ? dyn_cast<UnaryOperator>(strip(f->getInc())) : nullptr;
  return i && i->getInit() && eval(i->getInit()).kind == Kind::Zero && next && next->isIncrementOp() && declOf(next->getSubExpr()) == i && declOf(until->getLHS()) == i &&
         llvm::none_of(definitions_.of(i), [&](const Definition& def) { return def.value && def.value != i->getInit(); });
}

// Is the list, or the variable that it fills, nothing that the framework could take for a shape?
bool Kinds::isNoShape(const InitListExpr* list) const {
  const auto callAround = [&](const Stmt* s) -> const Expr* {
    for (const Stmt* p = code_.parent(s); p && isa<Expr>(p); p = code_.parent(p))
      if (calleeOf(cast<Expr>(p)) && !isa<CXXConstructExpr>(p)) return cast<Expr>(p);
    return nullptr;
  };
  if (const Expr* call = callAround(list)) return isSystemDecl(calleeOf(call)) && !dialect_.owns(calleeOf(call));
  const Stmt* p = list;
  const VarDecl* v = nullptr;
  for (; p && isa<Expr>(p) && !v; p = code_.parent(p)) v = code_.variableInitialisedBy(p);
  return v && v->isLocalVarDecl() && llvm::all_of(definitions_.uses(v), [&](const Expr* use) {
    const Expr* call = callAround(use);
    return !call || (isSystemDecl(calleeOf(call)) && !dialect_.owns(calleeOf(call)));
  });
}

// `{step, loss, x.size(0)}`: a count of rows among other numbers, and no shape. Shapes hold whole numbers.
bool Kinds::countsBeside(const InitListExpr* list, const Expr* element) {
  if (!list->getType()->isArrayType() || !element->getType()->isArithmeticType() || list->getNumInits() < 2) return false;
  if (element->getType()->isIntegerType() && !isNoShape(list)) return false;
  return eval(element).kind == Kind::Rows;
}

bool Kinds::isSizeOfList(const Expr* e) const {
  const FunctionDecl* f = calleeOf(e);
  return f && isSystemDecl(f) && calleeName(e) == "size" && objectOf(e) && isStdRecord(objectOf(e)->getType());
}

// `outs.size()` of a list of tensors: how many a model or a step has made, and nothing of what stands in them. (Lists of single samples: evalList.)
bool Kinds::countsTensors(const Expr* e) const {
  const bool asks = objectOf(e) && isStdRecord(objectOf(e)->getType()) && llvm::is_contained({"empty", "count", "contains"}, calleeName(e));  // is there one of this name?
  if (!isSizeOfList(e) && !asks) return false;
  const auto* list = dyn_cast_or_null<ClassTemplateSpecializationDecl>(objectOf(e)->getType().getNonReferenceType()->getAsCXXRecordDecl());
  if (!list) return false;
  const auto holdsTensor = [&](auto&& self, QualType t, unsigned depth) -> bool {
    if (isTensor(t)) return true;
    const CXXRecordDecl* r = depth < 3 ? t->getAsCXXRecordDecl() : nullptr;
    const auto* s = dyn_cast_or_null<ClassTemplateSpecializationDecl>(r);
    if (s && s->isInStdNamespace() && (s->getName() == "pair" || s->getName() == "tuple"))
      return llvm::any_of(s->getTemplateArgs().asArray(), [&](const TemplateArgument& a) {
        if (a.getKind() == TemplateArgument::Pack) return llvm::any_of(a.getPackAsArray(), [&](const TemplateArgument& x) { return x.getKind() == TemplateArgument::Type && self(self, x.getAsType(), depth + 1); });
        return a.getKind() == TemplateArgument::Type && self(self, a.getAsType(), depth + 1);
      });
    return r && r->hasDefinition() && !isSystemDecl(r) && !dialect_.owns(r) && llvm::any_of(r->fields(), [&](const FieldDecl* f) { return self(self, f->getType(), depth + 1); });
  };
  return llvm::any_of(list->getTemplateArgs().asArray().take_front(2), [&](const TemplateArgument& of) {  // of a map the second
    return of.getKind() == TemplateArgument::Type && holdsTensor(holdsTensor, of.getAsType(), 0);
  });
}

// `centers.size()` of numbers that tensor(centers) makes a batch of: as many as the batch has.
bool Kinds::countsBatch(const Expr* e) const {
  if (batches_.inStep(e) == 0 || !isSizeOfList(e)) return false;
  const ValueDecl* list = declOf(objectOf(e));
  return list && llvm::any_of(batches_.shards(), [&](const Expr* s) {
           const Entry* entry = calleeOf(s) ? dialect_.lookup(s) : nullptr;
           bool made = false;
           if (entry && entry->op == OpKind::Factory && entry->shape < 0) forEachExpr(s, [&](const Expr* x) { made = made || (isa<DeclRefExpr>(x) && declOf(x) == list); });
           return made;
         });
}

// `loader->options().batch_size()`, of a loader that is made with the size of the batches that train.
bool Kinds::isSizeOfTraining(const Expr* read) {
  const auto* member = dyn_cast<MemberExpr>(read);
  const Expr* options = member ? member->getBase() : objectOf(read);
  const Expr* loader = options && isa<CXXMemberCallExpr>(strip(options)) ? objectOf(strip(options)) : nullptr;
  if (!loader) return false;
  const auto origins = definitions_.origins(loader);
  return !origins.empty() && llvm::all_of(origins, [&](const Expr* o) {
    const Entry* made = calleeOf(o) ? dialect_.lookup(o) : nullptr;
    const auto arguments = argumentsOf(o);
    if (!made || made->role != Role::MakeLoader || made->options < 0 || made->options >= static_cast<int>(arguments.size())) return false;
    bool size = false;
    const auto look = [&](const Expr* given) {
      forEachExpr(given, [&](const Expr* x) { size = size || (x->getType()->isIntegerType() && eval(x).kind == Kind::BatchSize); });
    };
    look(arguments[made->options]);
    for (const Expr* given : definitions_.origins(arguments[made->options])) look(given);
    return size;
  });
}

// A container of the standard library that holds samples one by one, or gets one of them. Nothing for all others.
std::optional<Value> Kinds::evalList(const Expr* e, const Value& self) {
  const Expr* object = objectOf(e);
  const auto* o = dyn_cast<CXXOperatorCallExpr>(e);
  const auto arguments = argumentsOf(e);
  const llvm::StringRef name = calleeName(e);
  if (object && self.listed) {
    const bool element = (o && o->getOperator() == OO_Subscript) || name == "at" || name == "front" || name == "back";
    if (element) {
      for (const Expr* a : arguments) host(a);
      return itemOf(e);
    }
    if (name == "size" && arguments.empty()) return Value(Kind::Rows).after(self, self);
    if (name == "empty" || name == "reserve" || name == "clear") return Value(Kind::Uniform);
    const auto* around = dyn_cast_or_null<CallExpr>(code_.parent(e));
    if (around && transformed(around) == object) return Value(Kind::Uniform);  // one of its ends
    if (name != "push_back" && name != "emplace_back") return Value::unknown(e, "single samples of the batch are read, by a way of their own");
  }
  const bool adds = object && (name == "push_back" || name == "emplace_back") && arguments.size() == 1;
  if (!adds || isa<LambdaExpr>(strip(arguments[0]))) return std::nullopt;
  const Value given = eval(arguments[0]);
  if (!given.item) return std::nullopt;
  collect(object, e, runsForEachSample(e));
  return Value(Kind::Uniform);
}

// What a step adds to the list `object` for each of its samples (`each`): a list of them, where it is the step's own.
void Kinds::collect(const Expr* object, const Expr* e, bool each) {
  const auto* list = dyn_cast_or_null<VarDecl>(declOf(object));
  bool fresh = false;  // made anew in every step
  for (const Stmt* p = list ? code_.declStmt(list) : nullptr; p && !fresh; p = code_.parent(p)) fresh = isLoop(p) && batches_.isStepLoop(p);
  const FunctionDecl* home = code_.functionOf(e);
  const bool own = list && list->isLocalVarDecl() && !list->isStaticLocal() && home && dyn_cast<FunctionDecl>(list->getDeclContext()) &&
                   cast<FunctionDecl>(list->getDeclContext())->getCanonicalDecl() == home->getCanonicalDecl();
  // In a function that is called in a step a local variable is as new.
  Value all(Kind::Sharded);
  all.listed = true;
  if (!own || (!fresh && batches_.inStep(e) != 2) || !each) all = Value::unknown(e, "some of the samples of a batch are collected");
  assign(object, all);
}

// transform(batch.begin(), batch.end(), back_inserter(list), f)
const Expr* Kinds::transformed(const Expr* call) const {
  const auto arguments = argumentsOf(call);
  if (!calleeOf(call) || !isSystemDecl(calleeOf(call)) || calleeName(call) != "transform" || arguments.size() != 4) return nullptr;
  const Expr *from = strip(arguments[0]), *to = strip(arguments[1]), *into = strip(arguments[2]);
  const bool whole = objectOf(from) && objectOf(to) && (calleeName(from) == "begin" || calleeName(from) == "cbegin") && (calleeName(to) == "end" || calleeName(to) == "cend") &&
                     isa<DeclRefExpr>(strip(objectOf(from))) && declOf(objectOf(from)) == declOf(objectOf(to));
  const bool adds = isa<CallExpr>(into) && calleeOf(into) && calleeName(into) == "back_inserter" && isa<LambdaExpr>(strip(arguments[3]));
  return whole && adds ? objectOf(from) : nullptr;
}

// The same as a loop that adds what `f` gives for each sample, where `f` does nothing else.
std::optional<Value> Kinds::evalTransform(const Expr* e) {
  const Expr* source = transformed(e);
  if (!source || !eval(source).listed) return std::nullopt;
  const auto arguments = argumentsOf(e);
  const auto* f = cast<LambdaExpr>(strip(arguments[3]));
  llvm::SmallVector<const FunctionDecl*, 2> operations;
  if (const FunctionTemplateDecl* generic = f->getDependentCallOperator()) operations.append(generic->spec_begin(), generic->spec_end());
  else operations.push_back(f->getCallOperator());
  bool collects = !operations.empty();
  for (const FunctionDecl* operation : operations) {
    const auto* body = dyn_cast_or_null<CompoundStmt>(operation->getBody());
    const auto* result = body && body->size() == 1 ? dyn_cast<ReturnStmt>(body->body_front()) : nullptr;
    collects = collects && operation->getNumParams() == 1 && result && result->getRetValue();
    if (!collects) break;
    assignDecl(operation->getParamDecl(0), itemOf(source));
    collects = eval(result->getRetValue()).item;
  }
  if (!collects) return Value::unknown(e, "its samples are gone through one by one, and more is done than collecting each of them");
  const Expr* into = argumentsOf(strip(arguments[2]))[0];
  const auto* list = dyn_cast_or_null<VarDecl>(declOf(into));
  const Stmt* block = code_.parent(e);
  while (isa_and_nonnull<Expr>(block)) block = code_.parent(block);
  collect(into, e, list && code_.declStmt(list) && isa_and_nonnull<CompoundStmt>(block) && block == code_.parent(code_.declStmt(list)));
  return Value(Kind::Uniform);
}

// x.unsqueeze(0), x.view({1, -1}): one sample, with a dimension in front for the samples.
bool Kinds::keepsRow(const Expr* e, unsigned depth) const {
  e = strip(e);
  for (const auto* k = dyn_cast<CXXConstructExpr>(e); k && argumentsOf(k).size() == 1; k = dyn_cast<CXXConstructExpr>(e)) e = strip(argumentsOf(k)[0]);
  if (const auto* v = isa<DeclRefExpr>(e) ? dyn_cast_or_null<VarDecl>(declOf(e)) : nullptr) {
    const auto given = definitions_.of(v);
    return depth < 4 && given.size() == 1 && given[0].value && !given[0].compound && keepsRow(given[0].value, depth + 1);
  }
  const Entry* entry = calleeOf(e) && objectOf(e) ? dialect_.lookup(e) : nullptr;
  const auto arguments = argumentsOf(e);
  if (!entry || entry->role != Role::Op || entry->op != OpKind::Reshape || arguments.empty()) return false;
  const auto is = [&](const Expr* x, uint64_t n) { return isa<IntegerLiteral>(strip(x)) && cast<IntegerLiteral>(strip(x))->getValue() == n; };
  if (calleeName(e) == "unsqueeze") return is(arguments[0], 0);
  const auto shape = calleeName(e) == "view" || calleeName(e) == "reshape" ? extentsOf(arguments[0]) : std::nullopt;
  return shape && shape->size() > 1 && is(shape->front(), 1);
}

// Is every item that the list gets such a row?
bool Kinds::holdsRows(const Expr* list) const {
  const auto* d = dyn_cast_or_null<VarDecl>(rootOf(list));
  unsigned rows = 0;
  for (const Expr* use : d ? definitions_.uses(d) : llvm::ArrayRef<const Expr*>()) {
    const Stmt* p = code_.parent(use);
    while (isa_and_nonnull<ImplicitCastExpr, ParenExpr, MemberExpr>(p)) p = code_.parent(p);
    const auto* call = dyn_cast_or_null<CXXMemberCallExpr>(p);
    if (!call || !objectOf(call) || strip(objectOf(call)) != strip(use) || (calleeName(call) != "push_back" && calleeName(call) != "emplace_back")) continue;
    if (argumentsOf(call).size() != 1 || !keepsRow(argumentsOf(call)[0])) return false;
    ++rows;
  }
  return rows > 0;
}

// An operation on a list of samples: stacked they are a tensor with one row for each; anything else may mix them.
std::optional<Value> Kinds::evalListed(const Expr* e, const Entry& entry) {
  const auto arguments = argumentsOf(e);
  const auto listed = [&](const Expr* a) { return !isTensor(a->getType()) && eval(a).listed; };
  if (llvm::none_of(arguments, listed)) return std::nullopt;
  const auto dim = alongOf(e, entry);
  const Value list = eval(arguments[0]);
  const bool joins = calleeName(e) == "stack" || (calleeName(e) != "vstack" && holdsRows(arguments[0]));
  if (entry.op == OpKind::Concat && joins && list.listed && dim && *dim == 0) {
    Value rows = Value(Kind::Sharded).after(list, list);
    rows.listed = false;
    return rows;
  }
  return Value::unknown(e, "samples are taken from a list, and they may be mixed here (a stack along the first dimension keeps them apart)");
}

}  // namespace hvdize
