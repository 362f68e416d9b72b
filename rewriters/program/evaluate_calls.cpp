// SPDX-License-Identifier: Apache-2.0
// Kinds of what calls return: the author's functions, the framework's, the system's.
#include "clang/AST/StmtCXX.h"

#include "rewriters/program/callables.h"
#include "rewriters/program/evaluate.h"
#include "rewriters/program/host.h"
#include "rewriters/program/selected.h"

using namespace clang;

namespace hvdize {

// What makes a text, or the parts of one, of a time.
static bool formatsTime(const FunctionDecl* f) {
  const llvm::StringRef name = f && f->getDeclName().isIdentifier() ? f->getName() : "";
  return name == "localtime_r" || name == "gmtime_r" || name == "strftime" || name == "snprintf" || name == "sprintf";
}

// The std::ostringstream at the front of `text << a << b`; null for what leads to a file or to the console, and for real numbers: how long something
// took is shown, and not decided on.
static const Expr* memoryStreamOf(const CXXOperatorCallExpr* output) {
  if (!output || output->getOperator() != OO_LessLess || output->getNumArgs() != 2 || output->getArg(1)->getType()->isRealFloatingType()) return nullptr;
  const Expr* e = strip(output->getArg(0));
  while (const auto* before = dyn_cast<CXXOperatorCallExpr>(e)) {
    if (before->getOperator() != OO_LessLess) return nullptr;
    e = strip(before->getArg(0));
  }
  const CXXRecordDecl* r = e->getType().getNonReferenceType()->getAsCXXRecordDecl();
  const llvm::StringRef name = r && r->isInStdNamespace() ? r->getName() : "";
  return name == "basic_ostringstream" || name == "basic_stringstream" ? e : nullptr;
}

namespace {

bool isStream(QualType t) {
  const CXXRecordDecl* r = t.getNonReferenceType()->getAsCXXRecordDecl();
  return r && r->isInStdNamespace() && (r->getName().contains("stream"));
}

// Braces, as a container is made from them.
bool isList(const Expr* e) { return isa<CXXStdInitializerListExpr, InitListExpr>(strip(e)); }

}  // namespace

Value Kinds::evalCall(const Expr* e) {
  const FunctionDecl* callee = calleeOf(e);
  const auto targets = code_.targets(e);
  if (targets.empty() && (!callee || Callables::isIndirect(e))) return evalUnseen(e);
  const Entry* entry = callee ? dialect_.lookup(callee) : nullptr;
  if (!targets.empty() && !(entry && entry->role != Role::Forward && entry->role != Role::DatasetRead)) return evalAuthorCall(e, targets);
  if (const auto* o = dyn_cast<CXXOperatorCallExpr>(e); recording_ && o && o->isComparisonOp() && o->getNumArgs() == 2 && !isTensor(o->getType()))
    if (const Value a = eval(o->getArg(0)), b = eval(o->getArg(1)); a.dependsOnSamples() && b.dependsOnSamples() && a.earlier != b.earlier)
      problem(e, a, "a value of an earlier batch, which had a slice of its own, goes with one of this batch");
  const auto* method = dyn_cast<CXXMethodDecl>(callee);
  const bool memberwise = method && method->isDefaulted() && (method->isCopyAssignmentOperator() || method->isMoveAssignmentOperator()) && !isSystemDecl(callee);
  if (const auto* o = dyn_cast<CXXOperatorCallExpr>(e); o && o->getOperator() == OO_Equal && o->getNumArgs() == 2 && (memberwise || dialect_.owns(callee)) && (!entry || entry->role == Role::Access)) {  // last = batch
    const Value given = eval(o->getArg(1));
    assign(o->getArg(0), given);
    return given;
  }
  if (entry) return evalRole(e, *entry);
  if (const auto* o = dyn_cast<CXXOperatorCallExpr>(e); o && o->getOperator() == OO_Equal && o->getNumArgs() == 2 && isSystemDecl(callee) && isa<DeclRefExpr, MemberExpr>(strip(o->getArg(0))) && holdsState(o->getArg(0)->getType()))
    if (const Value given = eval(o->getArg(1)); given.kind == Kind::Sharded || given.kind == Kind::Second) {  // state = {h.detach(), c.detach()}
      assign(o->getArg(0), given);
      return given;
    }
  if (dialect_.owns(callee)) {
    Value v(Kind::Uniform);
    if (const Expr* object = objectOf(e)) v = join(v, eval(object));
    const bool text = isStdRecord(e->getType()) && e->getType()->getAsCXXRecordDecl()->getName() == "basic_string";
    for (const Expr* a : argumentsOf(e)) v = join(v, text ? host(a) : eval(a));
    v = changedInPlace(e, v);
    writtenByFramework(e);
    if (v.kind == Kind::Rows || v.isUniform() || isa<CXXConstructExpr>(e)) return v;
    return v.kind == Kind::Unknown || v.kind == Kind::RankLocal ? v : Value::unknown(e, "hvdize does not know this function of the framework");
  }
  if (isOpaqueForward(callee)) {
    if (recording_) opaqueForwards_.insert(e);
    return evalForward(e, Entry{}, objectOf(e));
  }
  return evalHost(e);
}

namespace {

/// May the function write what it gets for parameter i?
bool writes(const FunctionDecl* f, size_t i) {
  const QualType t = f->getParamDecl(static_cast<unsigned>(i))->getType();
  return (t->isLValueReferenceType() || t->isPointerType()) && !t->getPointeeType().isConstQualified();
}

/// Is this mention of a parameter the target of an assignment: `p = ...`, `*p = ...`?
bool isAssigned(const AuthorCode& code, const Expr* use) {
  const Stmt* below = use;
  for (const Stmt* p = code.parent(use); p; below = p, p = code.parent(p)) {
    if (isa<ParenExpr, ImplicitCastExpr>(p)) continue;
    if (const auto* u = dyn_cast<UnaryOperator>(p); u && u->getOpcode() == UO_Deref) continue;
    if (const auto* b = dyn_cast<BinaryOperator>(p)) return b->getOpcode() == BO_Assign && b->getLHS() == below;
    const auto* o = dyn_cast<CXXOperatorCallExpr>(p);
    return o && o->getOperator() == OO_Equal && o->getArg(0) == below;
  }
  return false;
}

}  // namespace

Value Kinds::evalAuthorCall(const Expr* e, llvm::ArrayRef<const FunctionDecl*> targets) {
  if (const Expr* object = objectOf(e)) eval(object);
  const auto arguments = argumentsOf(e);
  run_[strip(e)].assign(targets.begin(), targets.end());
  Value result;
  std::vector<Value> given;
  bool anySamples = false, allUniform = true, shared = true, memory = false;
  // What it makes of the rows of the whole batch may have as many, which do not go with this rank's.
  const auto made = [&](const Value& v, const Expr* at) {
    if (!memory || !v.isUniform() || v.kind == Kind::None || !isTensor(at->getType())) return v;
    Value whole(Kind::Whole);
    whole.origin = at;
    whole.why = "it is made from the rows of the whole batch, whose memory is read, and does not go with those of this rank";
    return whole;
  };
  for (const Expr* a : arguments) {
    given.push_back(keptEntry(a, eval(a), isa<CXXConstructExpr>(e) ? outlivesStep(e) : Outlives::No));
    // What a function reads from memory, sample by sample, it gets whole.
    if (given.back().kind == Kind::Sharded && isTensor(a->getType()) && batches_.inStep(e) > 0 && llvm::any_of(targets, [&](const FunctionDecl* f) {
          const size_t i = given.size() - 1;
          const QualType t = i < f->getNumParams() ? f->getParamDecl(i)->getType() : QualType();
          const bool bindsTemporary = !t.isNull() && (!t->isLValueReferenceType() || t->getPointeeType().isConstQualified());
          return bindsTemporary && readsMemory(f, f->getParamDecl(i));
        })) {
      cross(a, given.back(), "read");
      given.back() = Kind::Uniform;
      memory = true;
    }
    const bool writtenOnly = llvm::all_of(targets, [&](const FunctionDecl* f) {
      const size_t i = given.size() - 1;
      return i < f->getNumParams() && writes(f, i) &&
             llvm::all_of(definitions_.uses(f->getParamDecl(i)), [&](const Expr* use) { return isAssigned(code_, use); });
    });
    const bool object = batches_.inStep(e) > 0 && hasSampleFields(a->getType());
    anySamples = anySamples || object || isTensor(a->getType()) || dialect_.is(a->getType(), Role::Batch);
    allUniform = allUniform && (writtenOnly || (given.back().isUniform() && (!object || holdsAlike(a))));
  }
  const bool givenAlike = allUniform && anySamples && batches_.inStep(e) > 0;
  if (const Expr* on = batches_.inStep(e) > 0 && !isa<CXXConstructExpr>(e) ? objectOf(e) : nullptr; on && hasSampleFields(on->getType()))
    anySamples = true, allUniform = allUniform && holdsAlike(on);
  // A function shared with training, here with what all ranks have alike, outside any step: so is what it computes.
  for (const FunctionDecl* f : targets) {
    const Function* known = code_.find(f);
    shared = shared && known && batches_.inStep(known->body) == 1;
  }
  const bool alike = allUniform && (((anySamples || shared) && batches_.inStep(e) == 0) || isForSingles(e));
  // note("%d of %d\n", right, rows), a function with `...`: no parameter has a name for what it gets there, so it gets what is whole.
  for (unsigned i = 0; i < arguments.size(); ++i)
    if (llvm::any_of(targets, [&](const FunctionDecl* f) { return f->isVariadic() && i >= f->getNumParams(); })) given[i] = host(arguments[i]);
  for (const FunctionDecl* f : targets) {
    for (unsigned i = 0; i < f->getNumParams(); ++i) {
      const ParmVarDecl* p = f->getParamDecl(i);
      if (i >= arguments.size()) {
        if (p->hasDefaultArg() && !p->hasUninstantiatedDefaultArg() && !p->hasUnparsedDefaultArg()) meetsParts(f, p, eval(p->getDefaultArg()), e);
        continue;
      }
      if (!takesRows(p, given[i], arguments[i])) meetsParts(f, p, given[i], arguments[i]);
      if (combinedFirst_.count(p)) given[i] = host(arguments[i]);
      assignDecl(p, given[i]);
      handed_[p].insert(arguments[i]);
      if (given[i].kind != Kind::None) atStart_[p] = join(atStart_.lookup(p), given[i]);
      if (!writes(f, i)) continue;
      const Value out = decls_.lookup(p);
      assign(arguments[i], made(alike && out.dependsOnSamples() ? Value(Kind::Uniform) : out, arguments[i]));
    }
    const Value returned = returns_.lookup(f->getCanonicalDecl());
    meet(result, returned);
    result = join(result, returned);
  }
  const auto holdsSelected = [&](const ValueDecl* d) { return decls_.lookup(d).selected; };
  const auto isMasked = [](const Value& v) { return v.selected || v.mask; };
  if (result.selected && llvm::none_of(given, isMasked) && llvm::none_of(targets, [&](const FunctionDecl* f) { return selects(code_, f, holdsSelected); })) {
    result.selected = result.severalMasks = false;  // other calls give it samples that a mask has selected
    result.mask = nullptr;
    result.joined = llvm::any_of(given, [](const Value& v) { return v.joined; });
  }
  if (const auto* m = targets.empty() ? nullptr : dyn_cast<CXXMethodDecl>(targets.front()); m && m->getDeclName().isIdentifier() && m->getName() == "forward" && allUniform && dialect_.is(m->getParent(), Role::Module))
    noteUniformForward(e, Kind::Uniform);
  // In a step as well (pictures from a fixed noise, say), when it looks at nothing else that differs between ranks.
  llvm::DenseSet<const FunctionDecl*> seen;
  const bool own = allUniform && anySamples && !alike && llvm::all_of(targets, [&](const FunctionDecl* f) { return onlyFromArguments(f, seen); });
  if (recording_ && givenAlike && !isa<CXXConstructExpr>(e))
    for (const FunctionDecl* f : targets) keepsForOthers(e, f);
  if (own && recording_ && !isa<CXXConstructExpr>(e)) uniformCalls_[e].append(targets.begin(), targets.end());
  if (isa<CXXConstructExpr>(e)) return Kind::Uniform;
  if (result.kind == Kind::None) return settled_ ? Kind::Uniform : Kind::None;  // what it returns may not have been looked at yet
  if (!result.dependsOnSamples() || alike) return made(result.dependsOnSamples() ? Value(Kind::Uniform) : result, e);
  if (own) return made(Kind::Uniform, e);
  // What it makes of the batch before is not of this one, whatever other calls give it.
  const auto isPresent = [](const Value& v) { return v.dependsOnSamples() && !v.earlier; };
  result.earlier = result.earlier || (llvm::any_of(given, [](const Value& v) { return v.earlier; }) && llvm::none_of(given, isPresent));
  return result;
}

bool Kinds::readsMemory(const FunctionDecl* f, const ParmVarDecl* p) {
  const Function* known = code_.find(f);
  if (!known) return false;
  bool reads = false;
  const bool assumed = std::exchange(assumesRows_, true);  // of its own loops over rows it gets this rank's
  llvm::DenseSet<const ValueDecl*> seen;
  const auto mentions = [&](auto&& self, const Expr* e) -> void {
    forEachExpr(e, [&](const Expr* x) {
      const ValueDecl* d = isa<DeclRefExpr>(x) ? declOf(x) : nullptr;
      reads = reads || d == p;
      if (!d || isa<ParmVarDecl, FunctionDecl>(d) || !seen.insert(d).second) return;
      for (const Definition& def : definitions_.of(d))
        if (def.value) self(self, def.value);
    });
  };
  forEachExpr(known->body, [&](const Expr* e) {
    const Entry* entry = calleeOf(e) ? dialect_.lookup(e) : nullptr;
    if (entry && entry->role == Role::Op && entry->op == OpKind::DataPointer && objectOf(e) && !isRowAccessor(e)) mentions(mentions, objectOf(e));
  });
  assumesRows_ = assumed;
  return reads;
}

// Is something combined over ranks in this tree, once the edits are made?
bool Kinds::combines(const Stmt* tree) const {
  bool any = false;
  forEachExpr(tree, [&](const Expr* x) {
    any = any || reductions_.count(x) || countedMeans_.count(x) || shares_.count(x) || rowCounts_.count(x) || localSizes_.count(x) || squeezes_.count(x) ||
          wholeDraws_.count(x);
  });
  return any;
}

// What is reduced inside a function is reduced at each of its calls: a call with what all ranks have alike would be added up too, so
// that one runs as outside of the step.
void Kinds::checkUniformCalls() {
  for (const auto& [call, targets] : uniformCalls_) {
    llvm::SmallVector<const FunctionDecl*, 4> open(targets.begin(), targets.end());
    llvm::DenseSet<const FunctionDecl*> seen;
    bool edited = false, trains = false;
    while (!open.empty()) {
      const FunctionDecl* f = open.pop_back_val();
      const Function* known = code_.find(f);
      if (!known || !seen.insert(f->getCanonicalDecl()).second) continue;
      edited = edited || combines(known->body);
      forEachExpr(known->body, [&](const Expr* x) {
        const Entry* entry = calleeOf(x) ? dialect_.lookup(x) : nullptr;
        trains = trains || (entry && (entry->role == Role::Backward || entry->role == Role::Step || entry->role == Role::GradRead));
        for (const FunctionDecl* inner : code_.targets(x)) open.push_back(inner);
      });
    }
    if (!edited) continue;
    if (!trains && !combines(call)) alikeCalls_.insert(call);
    else
      problem(call, Value::unknown(call, "a function that combines samples over ranks is called here with what all ranks have alike"),
              "called in a step with what all ranks have alike");
  }
}

// recorder.keep(net(held_out)): a member that holds what was made from this rank's samples elsewhere, and that other functions read.
void Kinds::keepsForOthers(const Expr* call, const FunctionDecl* f) {
  const Expr* object = objectOf(call);
  const auto* method = dyn_cast<CXXMethodDecl>(f);
  if (!object || !method || !declaredOutsideStep(object, call)) return;
  const auto isOfObject = [&](const ValueDecl* d) {  // and not of a struct that the function makes and returns
    const auto* field = dyn_cast<FieldDecl>(d);
    const auto* of = field ? dyn_cast<CXXRecordDecl>(field->getParent()) : nullptr;
    return of && (of->getCanonicalDecl() == method->getParent()->getCanonicalDecl() || method->getParent()->isDerivedFrom(of));
  };
  for (const auto& [d, v] : decls_) {
    if (!isOfObject(d) || !isTensor(d->getType()) || !v.dependsOnSamples()) continue;
    const auto isHere = [&](const Expr* x) { return x && code_.functionOf(x) && code_.functionOf(x)->getCanonicalDecl() == f->getCanonicalDecl(); };
    if (llvm::none_of(definitions_.of(d), [&](const Definition& def) { return isHere(def.value); })) continue;
    if (llvm::any_of(definitions_.uses(d), [&](const Expr* use) { return batches_.inStep(use) > 0 && !isHere(use); }))
      return problem(call, Value::unknown(call, "a member keeps what it is given, and other functions take it for what was made from this rank's samples"), "kept here");
  }
}

// `save(path, {{"x", batch.data}})`: the tensor is made whole, not the list.
void Kinds::crossSaved(const Expr* e) {
  e = strip(e);
  const bool parts = !isTensor(e->getType()) && isa<InitListExpr, CXXConstructExpr, CXXStdInitializerListExpr>(e);
  if (!parts) return (void)cross(e, eval(e), "saved");
  for (const Stmt* c : e->children())
    if (const auto* x = dyn_cast_or_null<Expr>(c); x && eval(x).dependsOnSamples()) crossSaved(x);
}

// The tensor of x.sizes().
static const Expr* shapeOf(const Expr* sizes) {
  const Expr* e = strip(sizes);
  return objectOf(e) ? objectOf(e) : e;
}

Value Kinds::evalRole(const Expr* e, const Entry& entry) {
  const Expr* object = objectOf(e);
  const Value self = object && entry.role != Role::RandomDraw ? eval(object) : Value();
  switch (entry.role) {
    case Role::Op: return evalOp(e, entry, self);
    case Role::Loss: return evalLoss(e, entry);
    case Role::Forward: return evalModule(e, entry, object);
    case Role::RandomDraw: return evalDraw(e, entry);
    case Role::DatasetRead:
      for (const Expr* a : argumentsOf(e))
        if (eval(a).kind == Kind::Sharded) return Kind::Sharded;
      return Kind::Uniform;
    case Role::Seed: {
      for (const Expr* a : argumentsOf(e))
        if (host(a).kind == Kind::RankLocal && recording_) localSeeds_.insert(a);
      if (recording_ && batches_.inStep(e) > 0) sharedDraws_.insert(e);  // the stream that all ranks share begins anew
      return Kind::Uniform;
    }
    case Role::GradOf: return evalGradients(e);
    case Role::OwnFunction: return evalOwnFunction(e);
    case Role::BatchSizeRead: return isSizeOfTraining(e) ? Kind::BatchSize : Kind::Uniform;
    case Role::Backward: leaves(self, e); [[fallthrough]];
    case Role::Step:
    case Role::GradHook:
    case Role::Save:
    case Role::Load:
    case Role::NoEffect:
    case Role::ArchiveWrite:
    case Role::GradRead: {
      for (const Expr* a : argumentsOf(e)) {
        const Value v = eval(a);
        if ((entry.role == Role::Save || (entry.role == Role::ArchiveWrite && isTensor(a->getType()))) && v.dependsOnSamples()) crossSaved(a);
        if (entry.role == Role::NoEffect && v.kind == Kind::Rows && isStdRecord(e->getType())) host(a);  // in a text
      }
      if (entry.role == Role::Step && !argumentsOf(e).empty()) return ofClosure(argumentsOf(e)[0]);
      return entry.role == Role::GradRead && object && isTensor(e->getType()) ? gradientOf(self) : Value(Kind::Uniform);
    }
    default: {
      if (self.kind == Kind::Shape && entry.role == Role::Access && argumentsOf(e).empty() && calleeOf(e)->getDeclName().isIdentifier()) {
        // x.sizes().size(), x.sizes().back()
        const llvm::StringRef name = calleeOf(e)->getName();
        if (name == "size" || name == "empty") return Kind::Uniform;
        if (name == "front") return Value(Kind::Rows).after(self, self);
        if (name == "back") return ranks_.atLeast(shapeOf(object)) >= 2 ? Value(Kind::Uniform) : Value::unknown(e, "the last extent may be that of the samples");
      }
      if (self.kind == Kind::Shape && entry.role == Role::Access && argumentsOf(e).size() == 1) return evalIndex(e, self, argumentsOf(e)[0]);
      if (entry.role == Role::Access && !object && argumentsOf(e).size() == 1) return eval(argumentsOf(e)[0]);
      // An example of the step's own, put together from its tensors.
      if (entry.role == Role::Access && isa<CXXConstructExpr>(e) && argumentsOf(e).size() > 1 && llvm::all_of(argumentsOf(e), [&](const Expr* a) { return isTensor(a->getType()); })) {
        Value together;
        for (const Expr* a : argumentsOf(e)) together = join(together, eval(a));
        return together;
      }
      // A weight for each row of this rank's is one more input of the loss.
      Value rows;
      for (const Expr* a : argumentsOf(e)) {
        if (entry.role == Role::ModuleOptions && isTensor(a->getType()))
          if (const Value v = eval(a); v.kind == Kind::Sharded) {
            rows = v;
            continue;
          }
        const Value v = host(a);
        if (v.kind == Kind::RankLocal) problem(a, v, "a value that only this rank has would steer the training");
      }
      if (entry.role == Role::ModuleOptions && (rows.kind == Kind::Sharded || self.kind == Kind::Sharded)) return rows.kind == Kind::Sharded ? rows : self;
      return entry.role == Role::Access && self.kind != Kind::None ? self : Value(Kind::Uniform);
    }
  }
}

// One extent out of a shape: the first is a number of rows, the others are the same on every rank.
Value Kinds::evalIndex(const Expr* e, const Value& shape, const Expr* index) {
  Expr::EvalResult r;
  if (!index->isValueDependent() && index->getType()->isIntegralOrEnumerationType() && index->EvaluateAsInt(r, code_.context()))
    return r.Val.getInt() == 0 ? Kind::Rows : Kind::Uniform;
  (void)shape;
  return Value::unknown(e, "which extent of the shape is meant is not known here");
}

Value Kinds::evalHost(const Expr* e) {
  const FunctionDecl* callee = calleeOf(e);
  if (const auto tied = tiedBy(e); !tied.empty()) {
    const auto* o = cast<CXXOperatorCallExpr>(e);
    const Value v = eval(o->getArg(1));
    assignTied(o->getArg(0), o->getArg(1), std::nullopt);
    return v;
  }
  if (const auto* m = dyn_cast_or_null<CXXMethodDecl>(callee);
      m && !m->isStatic() && !isa<CXXConstructorDecl>(m) && dialect_.is(m->getParent(), Role::Module) && !isSystemDecl(m) && isTensor(e->getType())) {
    // A layer of the author's that is only declared here: gradients pass through it, so its input cannot be gathered, and whether it
    // treats the samples one by one is not to be seen.
    for (const Expr* a : argumentsOf(e))
      if (const Value v = eval(a); v.dependsOnSamples())
        return Value::unknown(e, "its body is not in this file (include it, or its samples may depend on each other)");
  }
  const HostRole role = hostRole(callee);
  const auto arguments = argumentsOf(e);
  const Expr* object = objectOf(e);
  if (callee && callee->isInStdNamespace() && calleeName(e).starts_with("invoke"))
    for (const Expr* a : arguments)
      if (isTensor(a->getType()) && eval(a).dependsOnSamples()) return Value::unknown(e, "what std::invoke calls is not followed here; call it directly");
  if (const auto [all, i] = numberedPart(e); all) return partOf(all, i, e);
  if (object && isStdRecord(object->getType()) && arguments.size() == 1)
    if (const auto number = itemOfNumbers(e, object, arguments[0])) return *number;
  if (role == HostRole::Clock) {
    const Value now = Value::rankLocal(e, "a clock of this machine");
    for (const Expr* a : arguments)
      if (a->getType()->isPointerType() && !a->getType()->getPointeeType().isConstQualified()) assign(a, now);  // clock_gettime(CLOCK_MONOTONIC, &now)
    return now;
  }
  if (role == HostRole::Entropy || role == HostRole::Identity) return Value::rankLocal(e, "something that only this process knows");
  if (isa<CXXConstructExpr>(e) && isRandomDevice(e->getType())) return Value::rankLocal(e, "the entropy of this machine");
  if (threadProgress_.isRead(e)) return Value::rankLocal(e, ThreadProgress::kWhy);
  if (role == HostRole::FileTest) return Value::rankLocal(e, "a test of the file system");
  if (const Value v = evalChance(e); v.kind != Kind::None) return v;
  if (const auto listed = evalTransform(e)) return *listed;
  if (const auto moved = evalRearranged(e)) return *moved;
  const Value self = object ? eval(object) : Value();
  if (self.kind == Kind::Shape && arguments.size() == 1) return evalIndex(e, self, arguments[0]);
  if (self.kind == Kind::Shape && arguments.empty() && calleeName(e) == "front") return Value(Kind::Rows).after(self, self);
  const bool container = (object && isStdRecord(object->getType()) && !isStream(object->getType())) || role == HostRole::Forward ||
                         (isa<CXXConstructExpr>(e) && isStdRecord(e->getType()));
  if (countsBatch(e)) return Kind::BatchSize;
  if (callee && !object && calleeName(e) == "min" && arguments.size() == 2 && batches_.inStep(e) > 0 && isClipped(arguments[0], arguments[1])) return Kind::BatchSize;
  if (const auto listed = container ? evalList(e, self) : std::nullopt) return *listed;
  if (self.dependsOnSamples() && self.kind != Kind::Unknown && countsTensors(e) && llvm::all_of(arguments, [&](const Expr* a) { return eval(a).isUniform(); })) return Kind::Uniform;
  Value v = self.kind == Kind::None ? Value(Kind::Uniform) : self;
  Value in;
  bool open = false;  // a tensor that has not been looked at yet
  llvm::SmallDenseMap<const Expr*, Value, 4> looked;
  for (const Expr* a : arguments) {
    if (const auto* l = dyn_cast<LambdaExpr>(strip(a))) {
      evalLambda(l);
      const auto given = [&](const FunctionDecl* operation) {
        const auto it = returns_.find(operation->getCanonicalDecl());
        if (it != returns_.end()) in = join(in, it->second);
      };
      if (const FunctionTemplateDecl* generic = l->getDependentCallOperator())
        for (const FunctionDecl* operation : generic->specializations()) given(operation);
      else given(l->getCallOperator());
      continue;
    }
    const Value at = eval(a);
    // `out << a << b << c`, `"a " + to_string(a) + ", b " + to_string(b)`: looked at once in each place, or a long chain would take for ever.
    looked[a] = at;
    if (!at.dependsOnSamples()) {
      open = open || (at.kind == Kind::None && isTensor(a->getType()));
      in = join(in, at);
      continue;
    }
    open = open || (at.kind == Kind::None && isTensor(a->getType()));
    const bool shown = at.kind != Kind::Rows && at.kind != Kind::Shape && ((object && isStream(object->getType())) || isTensor(a->getType()));
    const Value x = container ? at : shown ? cross(a, at, "shown") : host(a);
    in = join(in, x.kind == Kind::Rows ? (container && isList(a) ? ofCounts(a) : host(a)) : x);
  }
  if (in.kind == Kind::None) in = Kind::Uniform;
  for (unsigned i = 0; i < arguments.size(); ++i) {
    const ParmVarDecl* p = parameterOf(e, i);
    const QualType t = p ? p->getType() : QualType();
    const bool writes = p && (t->isLValueReferenceType() || t->isPointerType()) && !t->getPointeeType().isConstQualified();
    const bool local = p && in.kind == Kind::RankLocal && t->isPointerType() && formatsTime(callee);
    if (writes && (local || t->getPointeeType()->isArithmeticType())) assign(arguments[i], local ? in : writtenNumber(in));
  }
  const auto* operation = dyn_cast<CXXOperatorCallExpr>(e);
  // `text << now`, `parts = *std::localtime(&now)`: what they hold from now on.
  const Expr* told = !operation || in.kind != Kind::RankLocal ? nullptr : operation->getOperator() == OO_Equal ? operation->getArg(0) : memoryStreamOf(operation);
  if (told && !container) assign(told, in);
  const bool item = container && object && (calleeName(e) == "at" || (operation && operation->getOperator() == OO_Subscript));
  if (item && in.kind == Kind::RankLocal && in.why == ThreadProgress::kWhy)
    problem(e, in, "which item it is depends on how far a thread of this rank has come");
  if (container && object && calleeName(e) == "reserve") return Kind::Uniform;  // room for items is none of them
  if (container) {
    // What goes into a container outlives the step: numbers are whole by then, tensors must be.
    const bool kept = object && declaredOutsideStep(object, e) && in.dependsOnSamples();
    if (kept && in.kind == Kind::Sharded && mixesBatches(e)) problem(e, in, "rows of this batch are kept beside those of earlier ones, which had slices of their own");
    if (kept && (in.kind != Kind::Sharded || collectsRows(e))) {
      for (const Expr* a : arguments) crossParts(a, "kept");
      Value losses(Kind::Uniform);  // no gradient flows through what is whole
      losses.carried = in.graded && llvm::any_of(arguments, [&](const Expr* a) { return isTensor(a->getType()); });
      if (losses.carried) assign(object, losses);
    } else if (const auto* m = dyn_cast_or_null<CXXMethodDecl>(callee); object && !(m && m->isConst())) assign(object, in);
    if (open && !object && !settled_ && in.isUniform()) return Kind::None;
    return join(v, in);
  }
  if (in.kind == Kind::RankLocal || v.kind == Kind::RankLocal) return in.kind == Kind::RankLocal ? in : v;
  if (in.kind != Kind::Whole && v.kind != Kind::Whole) return object ? Value(Kind::Uniform) : ofFunction(e, looked);
  Value whole(Kind::Whole);
  if (callee && !isSystemDecl(callee) && code_.files().contains(callee->getLocation()))
    whole.why = "the body of a function on its way is in none of the given files (give all sources of the program together)";
  return whole;
}

}  // namespace hvdize
