// SPDX-License-Identifier: Apache-2.0
#include "rewriters/program/origins.h"

#include <optional>

#include "clang/AST/StmtCXX.h"

#include "rewriters/program/host.h"

using namespace clang;

namespace hvdize {

// A global variable or a static member has one name for all of its declarations: that of its definition, where this file has it.
static const ValueDecl* asDefined(const ValueDecl* d) {
  const auto* v = dyn_cast<VarDecl>(d);
  if (!v || !v->hasGlobalStorage() || v->isStaticLocal()) return d;
  const VarDecl* defined = v->getDefinition();
  return defined ? defined : v->getCanonicalDecl();
}

const ValueDecl* declOf(const Expr* e) {
  e = strip(e);
  if (const auto* r = dyn_cast_or_null<DeclRefExpr>(e)) {
    if (const auto* b = dyn_cast<BindingDecl>(r->getDecl())) {
      if (const VarDecl* held = b->getHoldingVar()) return held;
      return b;
    }
    return asDefined(r->getDecl());
  }
  if (const auto* m = dyn_cast_or_null<MemberExpr>(e)) return asDefined(m->getMemberDecl());
  return nullptr;
}

const ValueDecl* rootOf(const Expr* e) {
  while ((e = strip(e))) {
    if (const auto* r = dyn_cast<DeclRefExpr>(e)) return declOf(r);
    if (const auto* m = dyn_cast<MemberExpr>(e)) {
      if (!isSystemDecl(m->getMemberDecl())) return asDefined(m->getMemberDecl());
      e = m->getBase();
    } else if (const auto* u = dyn_cast<UnaryOperator>(e)) {
      e = u->getSubExpr();
    } else if (const auto* a = dyn_cast<ArraySubscriptExpr>(e)) {
      e = a->getBase();
    } else if (const Expr* object = objectOf(e)) {
      e = object;
    } else {
      return nullptr;
    }
  }
  return nullptr;
}

bool handsOn(const Expr* call) {
  const FunctionDecl* f = isa<CallExpr>(call) ? calleeOf(call) : nullptr;
  if (!f || !f->getDeclName().isIdentifier() || !(isSystemDecl(f) || isa<CXXMethodDecl>(f) || hostRole(f) == HostRole::Forward)) return false;
  return f->getName().starts_with("make_") || f->getName().starts_with("emplace");
}

Definitions::Definitions(const AuthorCode& code) : code_(code) {
  for (const Root& r : code.roots()) {
    scan(r.code);
    // A default argument is an origin like what callers pass, but it is no place to change: others pass something else.
    if (r.initialises && !isa<ParmVarDecl>(r.initialises)) scanInit(r.initialises, cast<Expr>(r.code));
  }
  linkOutParameters();
}

namespace {

bool writesThrough(const ParmVarDecl* p) {
  const QualType t = p->getType();
  return (t->isLValueReferenceType() || t->isPointerType()) && !t->getPointeeType().isConstQualified();
}

}  // namespace

bool givesPart(const AuthorCode& code, const Expr* value) {
  const Stmt* p = code.parent(value);
  while (p && isa<ImplicitCastExpr, ParenExpr, MaterializeTemporaryExpr, CXXBindTemporaryExpr>(p)) p = code.parent(p);
  const auto* o = dyn_cast_or_null<CXXOperatorCallExpr>(p);
  return o && o->getOperator() == OO_Equal && o->getNumArgs() == 2 && !isa<DeclRefExpr, MemberExpr>(strip(o->getArg(0)));
}

const LambdaExpr* lambdaBehind(const Definitions& definitions, const Expr* e) {
  for (unsigned depth = 0; depth < 8; ++depth) {
    e = strip(e);
    if (const auto* l = dyn_cast_or_null<LambdaExpr>(e)) return l;
    if (const auto* k = dyn_cast_or_null<CXXConstructExpr>(e); k && argumentsOf(k).size() == 1) {
      e = argumentsOf(k)[0];
      continue;
    }
    const auto* v = e && isa<DeclRefExpr>(e) ? dyn_cast_or_null<VarDecl>(declOf(e)) : nullptr;
    const auto given = v && !isa<ParmVarDecl>(v) ? definitions.of(v) : ArrayRef<Definition>();
    if (given.size() != 1 || !given[0].value || given[0].compound || given[0].through) return nullptr;
    e = given[0].value;
  }
  return nullptr;
}

void Definitions::assigned(const ValueDecl* d, const Expr* value, bool compound) {
  definitions_[d].push_back({value, compound});
  if (const auto* p = dyn_cast<ParmVarDecl>(d); p && writesThrough(p)) written_[d].push_back({value, compound, true});
}

// `f(&x)`, `f(x)`: what f assigns through its parameter is a definition of x, also through further calls.
void Definitions::linkOutParameters() {
  for (bool changed = true; changed;) {
    changed = false;
    for (const auto& [d, p] : outs_) {
      const std::vector<Definition> written = written_.lookup(p);
      for (const Definition& w : written) {
        std::vector<Definition>& known = definitions_[d];
        if (llvm::any_of(known, [&](const Definition& k) { return k.value == w.value && k.through; })) continue;
        known.push_back(w);
        if (isa<ParmVarDecl>(d)) written_[d].push_back(w);
        changed = true;
      }
    }
  }
}

void Definitions::scanInit(const ValueDecl* d, const Expr* init) {
  if (init) definitions_[d].push_back({init, false});
}

// An aggregate of the author's, wherever one is made: its fields get the list's elements.
void Definitions::scanList(const InitListExpr* list) {
  const CXXRecordDecl* r = list->getType()->getAsCXXRecordDecl();
  if (!r || !r->isAggregate()) return;
  unsigned i = r->getNumBases();
  for (const FieldDecl* f : r->fields()) {
    if (i >= list->getNumInits()) break;
    if (f->isUnnamedBitField()) continue;
    if (!isa<ImplicitValueInitExpr, CXXDefaultInitExpr>(list->getInit(i))) definitions_[f].push_back({list->getInit(i), false});
    ++i;
  }
}

void Definitions::scan(const Stmt* s) {
  if (!s) return;
  if (const auto* ds = dyn_cast<DeclStmt>(s))
    for (const Decl* d : ds->decls())
      if (const auto* v = dyn_cast<VarDecl>(d); v && v->getInit()) {
        scanInit(v, v->getInit());
        // `auto [a, b] = pair`: a and b are variables of their own that take their part out of it.
        if (const auto* dd = dyn_cast<DecompositionDecl>(v))
          for (const BindingDecl* b : dd->bindings())
            if (const VarDecl* held = b->getHoldingVar(); held && held->getInit()) scan(held->getInit()), scanInit(held, held->getInit());
      }
  if (const auto* r = dyn_cast<ReturnStmt>(s); r && r->getRetValue())
    if (const FunctionDecl* f = code_.functionOf(s)) returns_[f->getCanonicalDecl()].push_back(r->getRetValue());
  if (const auto* e = dyn_cast<Expr>(s)) scanExpr(e);
  if (const auto* l = dyn_cast<LambdaExpr>(s)) {
    for (const LambdaCapture& c : l->captures())
      if (c.capturesVariable() && c.getCapturedVar()->isInitCapture())
        if (const auto* v = dyn_cast<VarDecl>(c.getCapturedVar())) scanInit(v, v->getInit());
    for (const Expr* init : l->capture_inits()) scan(init);
    return;  // the body is a function of its own
  }
  for (const Stmt* c : s->children()) scan(c);
}

void Definitions::scanExpr(const Expr* e) {
  for (const Expr* tied : tiedBy(e))
    if (const ValueDecl* d = declOf(tied)) assigned(d, cast<CXXOperatorCallExpr>(e)->getArg(1), false);
  if (const auto* r = dyn_cast<DeclRefExpr>(e)) {
    if (const ValueDecl* d = declOf(r); d && !isa<FunctionDecl>(d)) uses_[d].push_back(e);
  } else if (const auto* m = dyn_cast<MemberExpr>(e)) {
    if (!isa<CXXMethodDecl>(m->getMemberDecl())) uses_[declOf(m)].push_back(e);
  } else if (const auto* b = dyn_cast<BinaryOperator>(e); b && b->isAssignmentOp()) {
    if (const ValueDecl* d = rootOf(b->getLHS()))
      assigned(d, b->getRHS(), b->isCompoundAssignmentOp() || strip(b->getLHS()) != b->getLHS()->IgnoreParens());
  } else if (const auto* u = dyn_cast<UnaryOperator>(e); u && u->isIncrementDecrementOp()) {
    if (const ValueDecl* d = rootOf(u->getSubExpr())) assigned(d, nullptr, true);
  } else if (const auto* list = dyn_cast<InitListExpr>(e)) {
    scanList(list);
  } else if (isa<CallExpr, CXXConstructExpr>(e)) {
    scanCall(e);
  }
}

// std::make_unique<Trainer>(net, 0.1), hooks.emplace_back(optimizer, rate): the constructors that may get these arguments, of a class with a body.
static llvm::SmallVector<const CXXConstructorDecl*, 2> constructorsCalledBy(const Expr* call) {
  const FunctionDecl* f = isa<CallExpr>(call) ? calleeOf(call) : nullptr;
  if (!f || !isSystemDecl(f) || !f->getDeclName().isIdentifier()) return {};
  const CXXRecordDecl* made = nullptr;
  const TemplateArgumentList* given = f->getTemplateSpecializationArgs();
  if ((f->getName() == "make_unique" || f->getName() == "make_shared") && given && given->size() > 0 && given->get(0).getKind() == TemplateArgument::Type) {
    made = given->get(0).getAsType()->getAsCXXRecordDecl();
  } else if ((f->getName() == "emplace_back" || f->getName() == "emplace") && objectOf(call)) {
    const auto* list = dyn_cast_or_null<ClassTemplateSpecializationDecl>(objectOf(call)->getType().getNonReferenceType()->getAsCXXRecordDecl());
    if (list && list->isInStdNamespace() && (f->getName() == "emplace_back" || list->getName() == "optional") && list->getTemplateArgs().size() > 0 && list->getTemplateArgs()[0].getKind() == TemplateArgument::Type)
      made = list->getTemplateArgs()[0].getAsType()->getAsCXXRecordDecl();
  }
  llvm::SmallVector<const CXXConstructorDecl*, 2> out;
  if (!made || !made->hasDefinition() || isSystemDecl(made)) return out;
  const auto arguments = argumentsOf(call);
  if (arguments.empty()) return out;
  for (const CXXConstructorDecl* c : made->ctors()) {
    bool fits = !c->isImplicit() && !c->isCopyOrMoveConstructor() && arguments.size() <= c->getNumParams() && arguments.size() >= c->getMinRequiredArguments();
    for (unsigned i = 0; fits && i < arguments.size(); ++i)
      fits = arguments[i]->getType()->isArithmeticType() == c->getParamDecl(i)->getType().getNonReferenceType()->isArithmeticType();
    const auto* body = dyn_cast_or_null<CXXConstructorDecl>(c->getDefinition());
    if (fits) out.push_back(body ? body : c);
  }
  return out;
}

bool swaps(const Expr* call) {
  const FunctionDecl* f = calleeOf(call);
  return f && f->isInStdNamespace() && !objectOf(call) && calleeName(call) == "swap" && argumentsOf(call).size() == 2;
}

// x.slice(0, from, to): each bound becomes an optional, by a constructor that takes a reference to whatever it gets, and leaves it as it is.
static bool makesOptional(const Expr* call) {
  const auto* made = dyn_cast<CXXConstructExpr>(call);
  const CXXRecordDecl* r = made ? made->getConstructor()->getParent() : nullptr;
  return r && r->getIdentifier() && r->getName() == "optional" && isSystemDecl(r);
}

void Definitions::scanCall(const Expr* call) {
  const auto* op = dyn_cast<CXXOperatorCallExpr>(call);
  if (op && op->isAssignmentOp() && op->getNumArgs() == 2) {
    if (const ValueDecl* d = rootOf(op->getArg(0)))
      assigned(d, op->getArg(1), op->getOperator() != OO_Equal);
    return;
  }
  const auto arguments = argumentsOf(call);
  if (swaps(call))
    for (const unsigned i : {0u, 1u})
      if (const ValueDecl* d = rootOf(arguments[i])) assigned(d, arguments[1 - i], false);
  for (const FunctionDecl* target : code_.targets(call))
    for (unsigned i = 0; i < arguments.size() && i < target->getNumParams(); ++i) {
      const ParmVarDecl* p = target->getParamDecl(i);
      definitions_[p].push_back({arguments[i], false});
      const ValueDecl* given = writesThrough(p) ? rootOf(arguments[i]) : nullptr;
      if (given && given != p) outs_.emplace_back(given, p);
    }
  for (const CXXConstructorDecl* made : constructorsCalledBy(call))
    for (unsigned i = 0; i < arguments.size(); ++i) definitions_[made->getParamDecl(i)].push_back({arguments[i], false});
  // What an opaque function may change through a reference or pointer.
  if (!code_.targets(call).empty() || handsOn(call) || makesOptional(call)) return;
  for (unsigned i = 0; i < arguments.size(); ++i) {
    const ParmVarDecl* p = parameterOf(call, i);
    if (!p) continue;
    const QualType t = p->getType();
    const bool mutates = (t->isLValueReferenceType() || t->isPointerType()) && !t->getPointeeType().isConstQualified();
    if (!mutates) continue;
    if (const ValueDecl* d = rootOf(arguments[i]); d && d->getType()->isArithmeticType()) assigned(d, nullptr, true);
  }
}

llvm::ArrayRef<Definition> Definitions::of(const ValueDecl* d) const {
  const auto it = definitions_.find(d);
  if (it == definitions_.end()) return {};
  return it->second;
}

llvm::ArrayRef<const Expr*> Definitions::uses(const ValueDecl* d) const {
  const auto it = uses_.find(d);
  if (it == uses_.end()) return {};
  return it->second;
}

llvm::ArrayRef<const Expr*> Definitions::returns(const FunctionDecl* f) const {
  const auto it = returns_.find(f->getCanonicalDecl());
  if (it == returns_.end()) return {};
  return it->second;
}

std::vector<const Expr*> Definitions::origins(const Expr* e) const {
  std::vector<const Expr*> out;
  llvm::DenseSet<const void*> seen;
  follow(e, out, seen);
  return out;
}

// The call at the top of `options.reduction(kSum).ignore_index(1)`, `criterion->options.reduction(kSum)`, where `use` is the variable; null for what
// sets nothing.
static const Expr* setterOn(const AuthorCode& code, const Expr* use) {
  const Expr* top = nullptr;
  const Stmt* below = use;
  for (const Stmt* p = code.parent(use); p; below = p, p = code.parent(p)) {
    if (isa<ParenExpr, ImplicitCastExpr, MaterializeTemporaryExpr, ExprWithCleanups>(p)) continue;
    if (const auto* m = dyn_cast<MemberExpr>(p); m && m->getBase() == below) continue;
    if (const auto* o = dyn_cast<CXXOperatorCallExpr>(p); o && o->getNumArgs() == 1 && (o->getOperator() == OO_Arrow || o->getOperator() == OO_Star)) continue;
    const auto* call = dyn_cast<CXXMemberCallExpr>(p);
    if (!call || call->getCallee() != below || !isSystemDecl(calleeOf(call)) || isStdRecord(call->getImplicitObjectArgument()->getType())) break;
    // What sets an option gives the options back; what computes something gives that.
    const CXXMethodDecl* method = call->getMethodDecl();
    const CXXRecordDecl* given = method ? method->getReturnType()->getPointeeCXXRecordDecl() : nullptr;
    if (!given || argumentsOf(call).empty() || method->isConst()) break;
    if (given->getCanonicalDecl() != method->getParent()->getCanonicalDecl() && !given->isDerivedFrom(method->getParent())) break;
    top = call;
  }
  return top;
}

// In the block in which the variable begins, or in a constructor: under no condition, and in no loop.
bool Definitions::isCertain(const ValueDecl* d, const Expr* change) const {
  const Stmt* s = change;
  while (s && !isa_and_nonnull<CompoundStmt>(code_.parent(s))) {
    s = code_.parent(s);
    if (s && !isa<Expr>(s)) return false;
  }
  if (!s) return false;
  const auto* v = dyn_cast<VarDecl>(d);
  if (const Function* f = isa<ParmVarDecl>(d) ? code_.find(code_.functionOf(change)) : nullptr) return code_.parent(s) == f->body;
  if (v && code_.declStmt(v)) return code_.parent(code_.declStmt(v)) == code_.parent(s);
  const Function* f = code_.find(code_.functionOf(change));
  return f && isa<FieldDecl>(d) && isa<CXXConstructorDecl>(f->decl) && code_.parent(s) == f->body;
}

void Definitions::settersOn(const ValueDecl* d, bool certain, std::vector<Setting>& out, llvm::DenseSet<const ValueDecl*>& seen) const {
  if (!seen.insert(d).second) return;
  for (const Expr* use : uses(d)) {
    if (const Expr* call = setterOn(code_, use)) {
      out.push_back({call, certain && isCertain(d, call)});
      continue;
    }
    // configure(options): what the function sets through its parameter.
    const Stmt* p = code_.parent(use);
    while (isa_and_nonnull<ImplicitCastExpr, ParenExpr, UnaryOperator>(p)) p = code_.parent(p);
    const auto* call = dyn_cast_or_null<Expr>(p);
    if (!call || !calleeOf(call)) continue;
    const auto arguments = argumentsOf(call);
    for (const FunctionDecl* f : code_.targets(call))
      for (unsigned i = 0; i < arguments.size() && i < f->getNumParams(); ++i)
        if (writesThrough(f->getParamDecl(i)) && rootOf(arguments[i]) == d) settersOn(f->getParamDecl(i), certain && isCertain(d, call), out, seen);
  }
}

std::vector<Setting> Definitions::settings(const Expr* e) const {
  std::vector<const Expr*> made;
  llvm::DenseSet<const void*> through;
  follow(e, made, through);
  std::vector<Setting> out, later;
  for (const Expr* o : made) out.push_back({o, true, true});
  llvm::DenseSet<const ValueDecl*> seen;
  for (const void* p : through)
    if (const auto d = uses_.find(static_cast<const ValueDecl*>(p)); d != uses_.end()) settersOn(d->first, true, later, seen);
  llvm::sort(later, [](const Setting& a, const Setting& b) { return a.tree->getBeginLoc() < b.tree->getBeginLoc(); });
  out.insert(out.end(), later.begin(), later.end());
  return out;
}

namespace {

// An element of a pair or a tuple: `x.first`, `std::get<1>(x)`.
struct Part {
  const Expr* whole = nullptr;
  unsigned index = 0;
};

std::optional<unsigned> elementsOf(QualType t) {
  const auto* r = dyn_cast_or_null<ClassTemplateSpecializationDecl>(t.getNonReferenceType()->getAsCXXRecordDecl());
  if (!r || !r->isInStdNamespace()) return std::nullopt;
  if (r->getName() == "pair") return 2;
  if (r->getName() == "tuple") return r->getTemplateArgs()[0].pack_size();
  return std::nullopt;
}

std::optional<Part> partOf(const Expr* e) {
  if (const auto* m = dyn_cast<MemberExpr>(e)) {
    const auto* f = dyn_cast<FieldDecl>(m->getMemberDecl());
    if (!f || m->isArrow() || !elementsOf(m->getBase()->getType())) return std::nullopt;
    return Part{m->getBase(), f->getFieldIndex()};
  }
  const FunctionDecl* f = isa<CallExpr>(e) ? calleeOf(e) : nullptr;
  const auto arguments = argumentsOf(e);
  const TemplateArgumentList* given = f ? f->getTemplateSpecializationArgs() : nullptr;
  if (!given || !isSystemDecl(f) || !f->getDeclName().isIdentifier() || f->getName() != "get" || arguments.size() != 1) return std::nullopt;
  if (given->size() == 0 || given->get(0).getKind() != TemplateArgument::Integral || !elementsOf(arguments[0]->getType())) return std::nullopt;
  return Part{arguments[0], static_cast<unsigned>(given->get(0).getAsIntegral().getZExtValue())};
}

// The value that a pair or a tuple is made with, in one expression, for this element.
const Expr* elementIn(const Expr* made, unsigned index) {
  const auto count = elementsOf(made->getType());
  if (!count || index >= *count) return nullptr;
  if (const auto* k = dyn_cast<CXXConstructExpr>(made)) return k->getNumArgs() == *count ? k->getArg(index) : nullptr;
  const FunctionDecl* f = isa<CallExpr>(made) ? calleeOf(made) : nullptr;
  const auto arguments = argumentsOf(made);
  const bool makes = f && isSystemDecl(f) && f->getDeclName().isIdentifier() && (f->getName() == "make_pair" || f->getName() == "make_tuple");
  return makes && arguments.size() == *count ? arguments[index] : nullptr;
}

}  // namespace

// False: nothing is known of the element alone.
bool Definitions::followPart(const Expr* whole, unsigned index, QualType type, std::vector<const Expr*>& out, llvm::DenseSet<const void*>& seen) const {
  constexpr unsigned kDeepest = 8;  // pairs of pairs; also ends circles
  if (partsDeep_ >= kDeepest) return false;
  ++partsDeep_;
  std::vector<const Expr*> wholes, elements;
  llvm::DenseSet<const void*> through;  // its own: the same pair may be asked for its other element
  follow(whole, wholes, through);
  bool known = !wholes.empty();
  for (const Expr* w : wholes) {
    const auto* k = dyn_cast<CXXConstructExpr>(w);
    if (k && k->getNumArgs() == 0 && elementsOf(k->getType()) && wholes.size() > 1) continue;  // filled afterwards
    // `x.first = made;` is known as something that x got.
    if (const Expr* element = elementIn(w, index)) elements.push_back(element);
    else if (!elementsOf(w->getType()) && w->getType().getCanonicalType().getUnqualifiedType() == type) elements.push_back(w);
    else known = false;
  }
  known = known && !elements.empty();
  if (known) {
    for (const Expr* element : elements) follow(element, out, seen);
    seen.insert(through.begin(), through.end());
  }
  --partsDeep_;
  return known;
}

void Definitions::followDecl(const ValueDecl* d, const Expr* e, std::vector<const Expr*>& out,
                             llvm::DenseSet<const void*>& seen) const {
  if (!seen.insert(d).second) return;
  bool any = false;
  for (const Definition& def : of(d))
    if (def.value && !def.compound) {
      any = true;
      follow(def.value, out, seen);
    }
  // `auto [a, b] = made;` of a class of the author's: its fields.
  const auto* binding = dyn_cast<BindingDecl>(d);
  if (const auto* field = binding ? dyn_cast_or_null<MemberExpr>(strip(binding->getBinding())) : nullptr) return follow(field, out, seen);
  if (!any) out.push_back(e);
}

void Definitions::follow(const Expr* e, std::vector<const Expr*>& out, llvm::DenseSet<const void*>& seen) const {
  e = strip(e);
  if (!e) return;
  if (const auto part = partOf(e); part && followPart(part->whole, part->index, e->getType().getCanonicalType().getUnqualifiedType(), out, seen)) return;
  if (const ValueDecl* d = declOf(e); d && !isa<FunctionDecl>(d)) return followDecl(d, e, out, seen);
  if (const auto* c = dyn_cast<ConditionalOperator>(e)) {
    follow(c->getTrueExpr(), out, seen);
    return follow(c->getFalseExpr(), out, seen);
  }
  if (const auto* u = dyn_cast<UnaryOperator>(e); u && (u->getOpcode() == UO_Deref || u->getOpcode() == UO_AddrOf))
    return follow(u->getSubExpr(), out, seen);
  if (const auto* o = dyn_cast<CXXOperatorCallExpr>(e); o && (o->getOperator() == OO_Star || o->getOperator() == OO_Arrow))
    return follow(o->getArg(0), out, seen);
  const auto targets = code_.targets(e);
  if (!targets.empty() && !isa<CXXConstructExpr>(e)) {
    if (!seen.insert(e).second) return;  // `return scaled(rate, n - 1);` of the function itself
    bool any = false;
    for (const FunctionDecl* f : targets)
      for (const Expr* r : returns(f)) any = true, follow(r, out, seen);
    if (any) return;
  }
  const FunctionDecl* callee = calleeOf(e);
  const auto arguments = argumentsOf(e);
  if (hostRole(callee) == HostRole::Forward && !arguments.empty()) {
    // make_unique<T>(...) makes the value; move, get and casts hand it on.
    const llvm::StringRef name = callee->getDeclName().isIdentifier() ? callee->getName() : "";
    if (!name.starts_with("make_")) return follow(arguments[0], out, seen);
  }
  if (const auto* m = dyn_cast<CXXMemberCallExpr>(e); m && callee && isSystemDecl(callee)) {
    const llvm::StringRef name = callee->getDeclName().isIdentifier() ? callee->getName() : "";
    if (name == "get" || name == "value" || name == "at" || name == "front" || name == "back") return follow(objectOf(e), out, seen);
  }
  if (const auto* k = dyn_cast<CXXConstructExpr>(e); k && isStdRecord(k->getType()) && k->getNumArgs() == 1)
    return follow(k->getArg(0), out, seen);  // unique_ptr(new ...), shared_ptr(unique_ptr)
  out.push_back(e);
}

}  // namespace hvdize
