// SPDX-License-Identifier: Apache-2.0
#include "rewriters/program/quantities.h"

#include "rewriters/program/repeats.h"

#include "rewriters/program/host.h"
#include "rewriters/program/training_calls.h"

using namespace clang;

namespace hvdize {

bool isRead(const AuthorCode& code, const Expr* use) {
  const Stmt* below = use;
  for (const Stmt* p = code.parent(use); p; below = p, p = code.parent(p)) {
    if (isa<ParenExpr>(p)) continue;
    if (const auto* c = dyn_cast<ImplicitCastExpr>(p)) {
      if (c->getCastKind() == CK_LValueToRValue) return true;
      if (c->getCastKind() == CK_NoOp && c->getType().isConstQualified()) return true;  // bound to a reference to const
      continue;
    }
    if (const auto* b = dyn_cast<BinaryOperator>(p); b && b->isAssignmentOp()) return b->getRHS() == below;
    // std::min(kBatch, n - i): a constant is bound to a reference to const as it is.
    if (const auto* call = dyn_cast<Expr>(p); call && calleeOf(call)) {
      const auto arguments = argumentsOf(call);
      for (unsigned i = 0; i < arguments.size(); ++i)
        if (const ParmVarDecl* q = arguments[i] == below || strip(arguments[i]) == use ? parameterOf(call, i) : nullptr)
          if (const QualType t = q->getType(); t->isLValueReferenceType() && t->getPointeeType().isConstQualified() && t->getPointeeType()->isArithmeticType())
            return true;
    }
    return isa<Expr>(p) && handsOn(cast<Expr>(p));
  }
  return false;
}

bool isAddend(const AuthorCode& code, const Expr* value) {
  for (const Stmt* p = value; p; p = code.parent(p)) {
    if (const auto* b = dyn_cast<BinaryOperator>(p); b && b->isAssignmentOp()) return b->getOpcode() == BO_AddAssign || b->getOpcode() == BO_SubAssign;
    if (p != value && !isa<ParenExpr, CastExpr>(p)) return false;
  }
  return false;
}

bool isLiteralZero(const Expr* e) {
  e = strip(e);
  if (isa<ImplicitValueInitExpr, CXXScalarValueInitExpr>(e)) return true;
  if (const auto* braces = dyn_cast<InitListExpr>(e)) return braces->getNumInits() == 0 || (braces->getNumInits() == 1 && isLiteralZero(braces->getInit(0)));
  if (const auto* i = dyn_cast<IntegerLiteral>(e)) return i->getValue() == 0;
  const auto* f = dyn_cast<FloatingLiteral>(e);
  return f && f->getValue().isZero();
}

// labels.size(), itself or in a variable: as many as have been put there. What decided over that is the size.
bool Quantity::countsItems(const Expr* e, int depth) const {
  e = strip(e);
  while (const auto* cast = dyn_cast<ExplicitCastExpr>(e)) e = strip(cast->getSubExpr());
  if (const FunctionDecl* f = calleeOf(e); f && isSystemDecl(f) && (calleeName(e) == "size" || calleeName(e) == "ssize")) {
    const auto arguments = argumentsOf(e);
    const Expr* items = objectOf(e) ? objectOf(e) : arguments.size() == 1 ? arguments[0] : nullptr;
    return items && isStdRecord(items->getType().getNonReferenceType());
  }
  if (const auto* b = dyn_cast<BinaryOperator>(e); b && b->getOpcode() == BO_Mul) return countsItems(b->getLHS(), depth + 1) || countsItems(b->getRHS(), depth + 1);
  const auto* v = dyn_cast_or_null<VarDecl>(declOf(e));
  if (!v || !v->isLocalVarDecl() || depth > 4) return false;
  const auto definitions = definitions_.of(v);
  return !definitions.empty() && llvm::all_of(definitions, [&](const Definition& def) { return def.value && !def.compound && !def.through && countsItems(def.value, depth + 1); });
}

// `Batcher train(x, y, 64), held(u, v, 256);`, of a member that the constructor gets its value for: what the objects are given that steps use, where
// others are used outside of steps only. Empty where there are none of either.
static llvm::SmallVector<const Expr*, 2> givenToTrainers(const ValueDecl* field, const Definitions& definitions, const std::function<bool(const Expr*)>& training) {
  const auto given = definitions.of(field);
  const Expr* value = given.size() == 1 && !given[0].compound && !given[0].through ? given[0].value : nullptr;
  const auto* p = value && isa<DeclRefExpr>(strip(value)) ? dyn_cast_or_null<ParmVarDecl>(declOf(value)) : nullptr;
  llvm::SmallVector<const Expr*, 2> trained;
  if (!training || !p || !isa<CXXConstructorDecl>(p->getDeclContext())) return trained;
  bool others = false;
  for (const Definition& def : definitions.of(p)) {
    const Stmt* s = def.value;
    while (isa_and_nonnull<Expr>(s) && !definitions.code().variableInitialisedBy(s)) s = definitions.code().parent(s);
    const VarDecl* object = isa_and_nonnull<Expr>(s) ? definitions.code().variableInitialisedBy(s) : nullptr;
    if (!object || !object->isLocalVarDecl() || def.compound || def.through) return {};
    if (llvm::any_of(definitions.uses(object), training)) trained.push_back(def.value);
    else others = true;
  }
  return others ? trained : llvm::SmallVector<const Expr*, 2>();
}

void Quantity::trace(const Expr* sink, const std::string& label) {
  if (places_.count(sink)) {
    if (labels_.lookup(sink) != label) shared_.insert(sink);  // instantiations of a template share what does not depend on it
    return;
  }
  const Expr* e = strip(sink);
  if (changes_ == Changes::Absolute && countsItems(e)) return;
  if (changes_ == Changes::Absolute && isCounted(e)) return (void)unclear_.insert(sink);
  const ValueDecl* d = declOf(e);
  if (changes_ == Changes::Absolute && d && isa<FieldDecl>(d) && !scaled_.count(d)) {
    if (comesFromCounted(d)) {  // Trainer trainer(net, batch), where the caller counts with `batch`, too: it is scaled there
      scaled_.insert(d);
      for (const Definition& def : definitions_.of(d)) trace(def.value, label);
      return;
    }
    if (const auto given = givenToTrainers(d, definitions_, training_); !given.empty()) {
      scaled_.insert(d);
      for (const Expr* size : given) trace(size, label);
      return;
    }
    if (traceGiven(d, label)) return;
    // Loader loader(rows, kBatch), where what is read of kBatch is scaled: so is the member that keeps it.
    llvm::DenseSet<const void*> seen;
    if (takesOver(e, seen)) return (void)scaled_.insert(d);
  }
  if (!stay_ && d && !isa<FunctionDecl, EnumConstantDecl>(d) && !isSystemDecl(d)) return traceDecl(d, sink, label);
  if (traceSubscript(e, label)) return;
  if (changes_ == Changes::Relative) return (void)computed_.push_back({sink, label, stay_});
  if (const Expr* size = unclipped(e)) return trace(size, label);
  if (const auto* choice = dyn_cast<ConditionalOperator>(e); choice && traceChoice(choice, label)) return;
  if (const Expr* returned = gotten(e)) return trace(returned, label);
  if (traceChosenBy(e, label)) return;
  if (const auto sizes = countedParts(e); !sizes.empty()) {
    for (const Expr* size : sizes) trace(size, label);
    return;
  }
  if (const auto* b = dyn_cast<BinaryOperator>(e); b && b->getOpcode() == BO_Sub && !isa<IntegerLiteral>(strip(b->getRHS()))) {
    const Expr* size = lengthOf(b);
    return size ? trace(size, label) : (void)unclear_.insert(sink);
  }
  if (calls_ && calls_->isOpen(e)) unclear_.insert(sink);
  bool only = false;
  if (const Expr* size = madeFromSize(e, only)) return only ? trace(size, label) : (void)unclear_.insert(sink);
  place(sink, label);
}

// options.batch_size(): what the function returns, when it returns one thing whoever asks.
const Expr* Quantity::gotten(const Expr* e) const {
  const auto targets = isa<CallExpr>(e) ? definitions_.code().targets(e) : llvm::SmallVector<const FunctionDecl*, 2>();
  if (targets.size() != 1 || !targets[0]->parameters().empty()) return nullptr;
  const auto returns = definitions_.returns(targets[0]);
  if (returns.size() != 1) return nullptr;
  const Expr* r = strip(returns[0]);
  const ValueDecl* d = declOf(r);
  // `long n; in >> n; return n;`: another number for each caller.
  if (definitions_.code().callers(targets[0]).size() > 1 && !isSteady(e, definitions_.code(), definitions_)) return nullptr;
  return isa<IntegerLiteral>(r) || (d && !isa<FunctionDecl>(d) && !isSystemDecl(d)) ? returns[0] : nullptr;
}

// `end - begin`, where `end` is begin + size, perhaps no more than what there is: the size. Null where none is seen.
const Expr* Quantity::lengthOf(const BinaryOperator* difference) const {
  const ValueDecl* begin = declOf(difference->getRHS());
  const Expr* size = nullptr;
  const auto look = [&](auto&& self, const Expr* e, int depth) -> void {
    forEachExpr(e, [&](const Expr* x) {
      const auto* sum = dyn_cast<BinaryOperator>(x);
      if (size || !sum) return;
      if (sum->getOpcode() == BO_Add) size = declOf(sum->getLHS()) == begin ? sum->getRHS() : declOf(sum->getRHS()) == begin ? sum->getLHS() : nullptr;
    });
    const ValueDecl* d = depth < 3 && !size ? declOf(e) : nullptr;
    if (d && d != begin)
      for (const Definition& def : definitions_.of(d))
        if (def.value) self(self, def.value, depth + 1);
  };
  if (begin) look(look, difference->getLHS(), 0);
  return size;
}

// Is a place scaled from which the value comes, through parameters and members?
bool Quantity::takesOver(const Expr* e, llvm::DenseSet<const void*>& seen) const {
  bool yes = false;
  forEachExpr(e, [&](const Expr* x) {
    yes = yes || places_.count(x);
    const ValueDecl* d = !yes && isa<DeclRefExpr, MemberExpr>(x) ? declOf(x) : nullptr;
    const auto* v = dyn_cast_or_null<VarDecl>(d);
    yes = yes || (v && v->isLocalVarDeclOrParm() && scaled_.count(v));
    if (!d || !seen.insert(d).second || !(isa<FieldDecl>(d) || (v && v->isLocalVarDeclOrParm()))) return;
    for (const Definition& def : definitions_.of(d))
      if (def.value && !def.compound) yes = yes || takesOver(def.value, seen);
  });
  return yes;
}

// The number that decides how many there are: where a part begins says nothing about that.
const Expr* Quantity::sizeIn(const Expr* e) const {
  e = strip(e);
  if (const Expr* size = unclipped(e)) return strip(size);
  const auto* b = dyn_cast<BinaryOperator>(e);
  const Expr* size = b && b->getOpcode() == BO_Sub ? lengthOf(b) : nullptr;
  return size ? strip(size) : e;
}

bool Quantity::isScaled(const Expr* count, int depth) const {
  const Expr* e = sizeIn(count);
  if (places_.count(e)) return true;
  const auto* v = dyn_cast_or_null<VarDecl>(declOf(e));
  if (!v || !v->isLocalVarDecl() || depth > 4) return derived(e);
  if (scaled_.count(v)) return true;
  bool known = false, scaled = false;
  for (const Definition& def : definitions_.of(v)) {
    if (!def.value || def.compound || isLiteralZero(def.value)) continue;
    known = true;
    scaled = scaled || isScaled(def.value, depth + 1);
  }
  return known ? scaled : derived(e);
}

void Quantity::place(const Expr* e, const std::string& label) {
  if (places_.insert(e)) labels_[e] = label;
  else if (labels_.lookup(e) != label) shared_.insert(e);
}

static bool reads(const Expr* e, const ValueDecl* d) {
  bool yes = false;
  forEachExpr(e, [&](const Expr* x) { yes = yes || (isa<DeclRefExpr, MemberExpr>(x) && declOf(x) == d); });
  return yes;
}

// `drawn.size = std::min(size, memory.size());`: a field that every step sets anew, as a variable of its own would be.
bool Quantity::isSetInSteps(const ValueDecl* d) const {
  const auto given = definitions_.of(d);
  return changes_ == Changes::Absolute && training_ && isa<FieldDecl>(d) && !given.empty() &&
         llvm::all_of(given, [&](const Definition& def) { return def.value && !def.compound && !def.through && training_(def.value); });
}

void Quantity::traceDecl(const ValueDecl* d, const Expr* sink, const std::string& label) {
  if (const auto* element = dyn_cast<VarDecl>(d); element && element->isCXXForRangeDecl()) return traceElement(element, sink, label);
  if (!scaled_.insert(d).second) {
    if (declLabels_.lookup(d) != label) shared_.insert(sink);
    return;
  }
  declLabels_[d] = label;
  const auto* v = dyn_cast<VarDecl>(d);
  // `auto [rate, epochs] = choose();` names no place where a value enters: the variable behind the name is the compiler's.
  const bool local = v && !v->isImplicit() && v->isLocalVarDeclOrParm() && !v->isStaticLocal() && !v->isConstexpr() && !kept_.count(v);
  const bool restored = restored_ && restored_(d);
  if (!local && !restored && !isSetInSteps(d)) return traceChosen(d, label) ? void() : traceReads(d, sink, label);
  const auto written = definitions_.of(d);
  llvm::SmallVector<Definition, 4> definitions(written.begin(), written.end());
  // What calls leave out is given by the declaration.
  if (const auto* p = dyn_cast<ParmVarDecl>(d); p && p->hasDefaultArg() && !p->hasUninstantiatedDefaultArg() && !p->hasUnparsedDefaultArg()) {
    Definition usual;
    usual.value = p->getDefaultArg();
    definitions.push_back(usual);
  }
  bool traceable = !definitions.empty();
  for (const Definition& def : definitions) {
    if (restored && (!def.value || fromFile_(def.value))) continue;
    if (!def.value || def.through) traceable = false;  // a helper that reads one option may read all of them
    if (def.compound && changes_ == Changes::Absolute) traceable = false;
  }
  if (!traceable) {
    sparedOf(d);  // `if (!training) size *= 2;`
    if (isa<ParmVarDecl>(d) && changes_ == Changes::Relative) place(sink, label);
    else traceReads(d, sink, label);
    return;
  }
  const auto inStep = [&](const Definition& def) { return training_(def.value); };
  const bool given = isa<ParmVarDecl>(d) && definitions.size() > 1;
  const bool calledByStep = training_ && isa<ParmVarDecl>(d) && llvm::any_of(definitions, inStep);
  const bool whole = llvm::any_of(definitions, [&](const Definition& def) { return def.value && !def.compound && !isRest(def.value, true) && !isLiteralZero(def.value); });
  const bool some = given && llvm::any_of(definitions, [&](const Definition& def) { return def.value && !isSpared(def.value); });
  const auto evaluated = sparedOf(d);
  for (const Definition& def : definitions) {
    if (!def.value || (restored && fromFile_(def.value)) || (calledByStep && !inStep(def)) || (some && isSpared(def.value)) || llvm::is_contained(evaluated, def.value)) continue;
    // `if (begin + n > rows) n = rows - begin;`, and what it is before the first batch.
    if (changes_ == Changes::Absolute && whole && (isRest(def.value, true) || isLiteralZero(def.value))) continue;
    // `rate *= 0.9` keeps a scaled rate scaled; `rate -= 0.001` does with a scaled difference only.
    if (def.compound && !(changes_ == Changes::Relative && isAddend(definitions_.code(), def.value))) continue;
    // `n = std::min(size, rows - begin)` with `begin += n`: of itself it is not made.
    llvm::DenseSet<const void*> seen;
    if (changes_ == Changes::Absolute && derived(sizeIn(def.value), seen, d) && !declOf(sizeIn(def.value))) {
      if (reads(def.value, d)) computed_.push_back({def.value, label, stay_});  // batch = std::min(2 * batch, 64)
      continue;
    }
    trace(def.value, label);
  }
}

void Quantity::traceReads(const ValueDecl* d, const Expr* sink, const std::string& label) {
  bool given = false, written = false;
  for (const Definition& def : definitions_.of(d))
    if (def.value && !def.compound) (known_ && known_(def.value) ? given : written) = true;
  if (given && !written) {  // takes over what is scaled
    for (const Definition& def : definitions_.of(d))
      if (def.value && changes_ == Changes::Relative && (!def.compound || isAddend(definitions_.code(), def.value))) computed_.push_back({def.value, label, stay_});
    return;
  }
  if (given)
    for (const Expr* use : definitions_.uses(d))
      if (isRead(definitions_.code(), use)) return (void)mixed_.insert(use);
  // `rate = rate * 0.9`: what is kept stays as it was written, and is scaled where it is used.
  const auto renews = [&](const Expr* use) {
    return llvm::any_of(definitions_.of(d), [&](const Definition& def) {
      const Stmt* p = use;
      while (p && p != def.value) p = definitions_.code().parent(p);
      return p != nullptr;
    });
  };
  // `batch *= 2`, as long as `batch < 64`: what the sizes of the program are compared with are sizes of the program.
  const bool grows = changes_ == Changes::Absolute && llvm::any_of(definitions_.of(d), [](const Definition& def) { return def.compound; });
  const auto isBounded = [&](const Expr* use) {
    const Stmt* p = definitions_.code().parent(use);
    while (isa_and_nonnull<ImplicitCastExpr, ParenExpr>(p)) p = definitions_.code().parent(p);
    const auto* b = dyn_cast_or_null<BinaryOperator>(p);
    return b && b->isComparisonOp() && (isNumber(b->getLHS()) || isNumber(b->getRHS()));
  };
  std::vector<const Expr*> places;
  for (const Expr* use : definitions_.uses(d))
    if (isRead(definitions_.code(), use) && !renews(use) && !(grows && isBounded(use))) places.push_back(use);
  if (places.empty()) places.push_back(sink);
  for (const Expr* use : places) place(use, label);
  reads_.emplace_back(d, std::move(places));
}

// `Result{rate, loss}`, where `rate` turned out to be scaled: what is read of it is. Of values of both kinds neither can be said.
void Quantity::settleReads() {
  if (changes_ != Changes::Relative) return;
  for (const auto& [d, places] : reads_) {
    bool some = false, all = true;
    for (const Definition& def : definitions_.of(d)) {
      if (!def.value || isLiteralZero(def.value) || (def.compound && !isAddend(definitions_.code(), def.value))) continue;
      llvm::DenseSet<const void*> seen;
      seen.insert(d);
      const bool scaled = derived(def.value, seen, d);
      some = some || scaled;
      all = all && scaled;
    }
    if (some && !all) mixed_.insert(places.front());
    if (some && all)
      for (const Expr* e : places) places_.remove(e);
  }
}

void Quantity::settle() {
  while (!computed_.empty()) {
    // What is made from a scaled value comes first: each place that is found may make more of them so.
    auto next = llvm::find_if(computed_, [&](const Computed& c) { return derived(c.value); });
    if (next == computed_.end()) next = computed_.begin();
    const auto [e, label, stay] = *next;
    stay_ = stay;
    if (places_.count(e) && labels_.lookup(e) != label) shared_.insert(e);
    computed_.erase(next);
    const int d = degree(e);
    if (changes_ == Changes::Absolute) {
      if (d == 1) traceBounds(e, label);
      continue;
    }
    llvm::DenseSet<const void*> seen;
    if (d == 0) place(e, label);
    else if (d == 1) complete(e, label, seen);
    else mixed_.insert(e);
  }
  settleReads();
  if (changes_ == Changes::Absolute) settleParts();
  // What was scaled before something in it was found to be.
  if (changes_ == Changes::Relative)
    for (const Expr* p : places_)
      if (!isa<DeclRefExpr, MemberExpr>(strip(p)) && degree(p, 0, false) > 0) mixed_.insert(p);
}

// Does a function give a scaled value by itself? What one of the author's makes of such a value is looked at there.
bool Quantity::isKnown(const Expr* e) const { return known_ && calleeOf(e) && known_(e) && definitions_.code().targets(e).empty(); }

// The power of the factor by which the value of `e` is scaled already.
int Quantity::degree(const Expr* e, int depth, bool placed) const {
  const Expr* spelled = e;
  e = strip(e);
  if (placed && (places_.count(e) || places_.count(spelled))) return 1;
  if (isKnown(e)) return 1;
  if (const auto* b = dyn_cast<BinaryOperator>(e)) {
    const int l = degree(b->getLHS(), depth), r = degree(b->getRHS(), depth);
    if (b->getOpcode() == BO_Mul) return l + r;
    if (b->getOpcode() == BO_Div) return l - r;
    return b->isComparisonOp() || b->isLogicalOp() ? 0 : std::max(l, r);
  }
  if (const auto* c = dyn_cast<ConditionalOperator>(e)) return std::max(degree(c->getTrueExpr(), depth), degree(c->getFalseExpr(), depth));
  const auto* v = isa<DeclRefExpr>(e) ? dyn_cast_or_null<VarDecl>(declOf(e)) : nullptr;
  if (v && !scaled_.count(v) && v->isLocalVarDecl() && depth < 8) {
    int d = 0;
    for (const Definition& def : definitions_.of(v))
      if (def.value && !def.compound) d = std::max(d, degree(def.value, depth + 1));
    return d;
  }
  return placed && derived(e) ? 1 : 0;
}

// Operands of a sum, a choice or a bound, of which some are scaled: the others must be, too.
void Quantity::alike(llvm::ArrayRef<const Expr*> operands, const std::string& label, llvm::DenseSet<const void*>& seen) {
  for (const Expr* o : operands)
    if (degree(o) == 0) {
      if (!isLiteralZero(o)) trace(o, label);
    } else {
      complete(o, label, seen);
    }
}

void Quantity::complete(const Expr* e, const std::string& label, llvm::DenseSet<const void*>& seen) {
  e = strip(e);
  if (!seen.insert(e).second || places_.count(e)) return;
  if (const auto* b = dyn_cast<BinaryOperator>(e)) {
    if (b->isAdditiveOp()) return alike({b->getLHS(), b->getRHS()}, label, seen);
    if (b->isMultiplicativeOp()) return complete(degree(b->getLHS()) != 0 ? b->getLHS() : b->getRHS(), label, seen);
    return;
  }
  if (const auto* u = dyn_cast<UnaryOperator>(e)) return complete(u->getSubExpr(), label, seen);
  if (const auto* c = dyn_cast<ConditionalOperator>(e)) return alike({c->getTrueExpr(), c->getFalseExpr()}, label, seen);
  if (const ValueDecl* d = declOf(e); d && !isa<FunctionDecl>(d)) {
    if (scaled_.count(d)) return;
    if (stay_) {  // it may be made where the use cannot be named
      if (llvm::any_of(definitions_.of(d), [&](const Definition& def) { return !def.value || (!def.compound ? !isScaledAsItIs(def.value) : isAddend(definitions_.code(), def.value)); })) shared_.insert(e);
      return;
    }
    // `double best = rate; .. best = tried;`, where `tried` is scaled: what the variable or field gets otherwise must be, too.
    const auto* v = dyn_cast<VarDecl>(d);
    const bool stored = isa<FieldDecl>(d) || (v && v->hasGlobalStorage());
    for (const Definition& def : definitions_.of(d)) {
      if (!def.value || (def.compound && !isAddend(definitions_.code(), def.value))) continue;
      if (degree(def.value) != 0) complete(def.value, label, seen);
      else if ((stored || (v && v->isLocalVarDecl())) && !def.compound && !def.through && !isLiteralZero(def.value)) place(def.value, label);
    }
    return;
  }
  const FunctionDecl* f = calleeOf(e);
  if (!f) return;
  const llvm::StringRef name = f->getDeclName().isIdentifier() ? f->getName() : "";
  if (isSystemDecl(f) && (name == "max" || name == "min" || name == "fmax" || name == "fmin" || name == "clamp")) return alike(argumentsOf(e), label, seen);
  if (isKnown(e)) return;
  for (const FunctionDecl* target : definitions_.code().targets(e))
    for (const Expr* r : definitions_.returns(target))
      if (degree(r) != 0) stay_ && !isScaledAsItIs(r) ? (void)shared_.insert(e) : complete(r, label, seen);
}

// A rate that an optimizer holds, or a multiple of it: nothing in it must be scaled.
bool Quantity::isScaledAsItIs(const Expr* e) const {
  e = strip(e);
  if (isKnown(e)) return true;
  if (const auto* b = dyn_cast<BinaryOperator>(e); b && b->isMultiplicativeOp())
    return b->getOpcode() == BO_Mul && degree(b->getLHS()) == 0 ? isScaledAsItIs(b->getRHS()) : degree(b->getRHS()) == 0 && isScaledAsItIs(b->getLHS());
  return false;
}

bool Quantity::derived(const Expr* e) const {
  llvm::DenseSet<const void*> seen;
  return derived(e, seen);
}

bool Quantity::derived(const Expr* e, llvm::DenseSet<const void*>& seen, const ValueDecl* except) const {
  bool yes = false;
  forEachExpr(e, [&](const Expr* x) {
    if (const ValueDecl* d = isa<DeclRefExpr, MemberExpr>(x) ? declOf(x) : nullptr) {
      yes = yes || (d != except && scaled_.count(d));
      // A rate may come through a parameter or a member, too; a batch size that does is traced there.
      const auto* v = dyn_cast<VarDecl>(d);
      const bool follow = changes_ == Changes::Relative ? isa<VarDecl, FieldDecl>(d) : v && v->isLocalVarDecl();
      if (follow && seen.insert(d).second) {
        for (const Definition& def : definitions_.of(d))
          if (def.value) yes = yes || derived(def.value, seen, except);
        if (changes_ == Changes::Relative)
          for (const Expr* put : putInto(d)) yes = yes || derived(put, seen, except);
      }
    }
    yes = yes || places_.count(x) || (changes_ == Changes::Relative && known_ && calleeOf(x) && known_(x));
    // What an author's function returns may be made from it.
    for (const FunctionDecl* f : definitions_.code().targets(x))
      if (seen.insert(f->getCanonicalDecl()).second)
        for (const Expr* r : definitions_.returns(f)) yes = yes || derived(r, seen, except);
  });
  return yes;
}

}  // namespace hvdize
