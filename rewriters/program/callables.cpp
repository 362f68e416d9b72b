// SPDX-License-Identifier: Apache-2.0
#include "rewriters/program/callables.h"

#include "rewriters/program/author.h"
#include "rewriters/program/host.h"
#include "rewriters/program/origins.h"

using namespace clang;

namespace hvdize {

namespace {

/// std::function, a pointer to a function, or a container or an array of those.
bool holdsFunctions(QualType t, unsigned depth = 0) {
  t = t.getNonReferenceType().getCanonicalType();
  if (depth > 3) return false;
  if (const auto* a = t->getAsArrayTypeUnsafe()) return holdsFunctions(a->getElementType(), depth + 1);
  if (t->isFunctionPointerType() || t->isFunctionType() || isStdFunction(t)) return true;
  const auto* r = dyn_cast_or_null<ClassTemplateSpecializationDecl>(t->getAsCXXRecordDecl());
  if (!r || !r->isInStdNamespace()) return false;
  for (const TemplateArgument& a : r->getTemplateArgs().asArray())
    if (a.getKind() == TemplateArgument::Type && holdsFunctions(a.getAsType(), depth + 1)) return true;
  return false;
}

void addLambda(const LambdaExpr* l, llvm::SetVector<const FunctionDecl*>& out) {
  if (const FunctionTemplateDecl* t = l->getDependentCallOperator()) {
    for (const FunctionDecl* s : t->specializations()) out.insert(s);
  } else {
    out.insert(l->getCallOperator());
  }
}

}  // namespace

Callables::Callables(const AuthorCode& code) : code_(code) {
  for (const Root& r : code.roots()) {
    scan(r.code, r.in);
    if (r.initialises) flow(r.initialises, cast<Expr>(r.code));
  }
}

void Callables::flow(const ValueDecl* to, const Expr* value) {
  if (to && value && holdsFunctions(to->getType())) into_[to].push_back(value);
}

void Callables::scan(const Stmt* s, const FunctionDecl* f) {
  if (!s) return;
  if (const auto* ds = dyn_cast<DeclStmt>(s))
    for (const Decl* d : ds->decls())
      if (const auto* v = dyn_cast<VarDecl>(d); v && v->getInit()) {
        flow(v, v->getInit());
        if (const auto* parts = dyn_cast<DecompositionDecl>(v))
          for (const BindingDecl* b : parts->bindings()) flow(b, v->getInit());
      }
  // for (auto& condition : conditions), for (auto& [name, condition] : conditions)
  if (const auto* range = dyn_cast<CXXForRangeStmt>(s)) {
    flow(range->getLoopVariable(), range->getRangeInit());
    if (const auto* parts = dyn_cast<DecompositionDecl>(range->getLoopVariable()))
      for (const BindingDecl* b : parts->bindings()) flow(b, range->getRangeInit());
    for (const Stmt* c : {static_cast<const Stmt*>(range->getInit()), static_cast<const Stmt*>(range->getRangeInit()), range->getBody()}) scan(c, f);
    return;
  }
  if (const auto* r = dyn_cast<ReturnStmt>(s); r && r->getRetValue() && f && holdsFunctions(f->getReturnType()))
    returned_[f->getCanonicalDecl()].push_back(r->getRetValue());
  if (const auto* e = dyn_cast<Expr>(s)) scanExpr(e);
  if (const auto* l = dyn_cast<LambdaExpr>(s)) {
    for (const Expr* init : l->capture_inits()) scan(init, f);
    return;  // its body is a function of its own
  }
  for (const Stmt* c : s->children()) scan(c, f);
}

void Callables::scanExpr(const Expr* e) {
  if (const auto* l = dyn_cast<LambdaExpr>(e)) addLambda(l, held_);
  if (const auto* named = dyn_cast<DeclRefExpr>(e))
    if (const auto* f = dyn_cast<FunctionDecl>(named->getDecl()); f && code_.find(f)) {
      const Stmt* p = code_.parent(e);
      while (isa_and_nonnull<ImplicitCastExpr, ParenExpr>(p)) p = code_.parent(p);
      const auto* call = dyn_cast_or_null<CallExpr>(p);
      if (!call || call->getCallee()->IgnoreParenImpCasts() != e) held_.insert(f);
    }
  if (const auto* b = dyn_cast<BinaryOperator>(e); b && b->getOpcode() == BO_Assign) flow(rootOf(b->getLHS()), b->getRHS());
  if (const auto* o = dyn_cast<CXXOperatorCallExpr>(e); o && o->getOperator() == OO_Equal && o->getNumArgs() == 2) flow(rootOf(o->getArg(0)), o->getArg(1));
  if (const auto* list = dyn_cast<InitListExpr>(e))
    if (const CXXRecordDecl* r = list->getType()->getAsCXXRecordDecl(); r && r->isAggregate() && !r->isInStdNamespace()) {
      unsigned i = 0;
      for (const FieldDecl* f : r->fields())
        if (i < list->getNumInits()) flow(f, list->getInit(i++));
    }
  const FunctionDecl* callee = calleeOf(e);
  const auto arguments = argumentsOf(e);
  if (const Function* known = code_.find(callee))
    for (unsigned i = 0; i < arguments.size() && i < known->decl->getNumParams(); ++i) flow(known->decl->getParamDecl(i), arguments[i]);
  // callbacks.push_back(f)
  const Expr* object = callee && isSystemDecl(callee) ? objectOf(e) : nullptr;
  if (object && !isa<CXXOperatorCallExpr>(e) && isStdRecord(object->getType()) && !isStdFunction(object->getType()))
    for (const Expr* a : arguments)
      if (const CXXRecordDecl* r = strip(a)->getType()->getAsCXXRecordDecl(); holdsFunctions(a->getType()) || (r && r->isLambda())) flow(rootOf(object), a);
}

bool Callables::isIndirect(const Expr* call) {
  const auto* c = dyn_cast<CallExpr>(call);
  if (!c) return false;
  if (isVisit(c)) return true;
  const auto* o = dyn_cast<CXXOperatorCallExpr>(c);
  if (o && o->getOperator() == OO_Call) return isStdFunction(o->getArg(0)->getType()) && isSystemDecl(o->getDirectCallee());
  return !c->getDirectCallee() && !isa<CXXMemberCallExpr>(c) && !isa<CXXPseudoDestructorExpr>(c->getCallee()->IgnoreParens());
}

llvm::SmallVector<const FunctionDecl*, 2> Callables::targets(const Expr* call) const {
  llvm::SmallVector<const FunctionDecl*, 2> out;
  if (!isIndirect(call)) return out;
  const auto* o = dyn_cast<CXXOperatorCallExpr>(call);
  const Expr* held = o || isVisit(call) ? cast<CallExpr>(call)->getArg(0) : cast<CallExpr>(call)->getCallee();
  Found found;
  llvm::DenseSet<const void*> seen;
  if (!resolve(held, seen, found)) return out;
  for (const FunctionDecl* f : found)
    if (const Function* known = code_.find(f)) out.push_back(known->decl);
    else return {};
  return out;
}

llvm::SmallVector<const FunctionDecl*, 8> Callables::candidates(QualType result) const {
  llvm::SmallVector<const FunctionDecl*, 8> out;
  for (const FunctionDecl* f : held_)
    if (code_.context().hasSameUnqualifiedType(f->getReturnType().getNonReferenceType(), result.getNonReferenceType())) out.push_back(f);
  return out;
}

bool Callables::resolveDecl(const ValueDecl* d, llvm::DenseSet<const void*>& seen, Found& out) const {
  if (const auto* f = dyn_cast<FunctionDecl>(d)) return out.insert(f), true;
  if (!seen.insert(d).second) return true;
  const auto it = into_.find(d);
  if (it == into_.end()) {
    // `auto f = [] { ... };` has a type of its own: its value is the lambda.
    const auto* v = dyn_cast<VarDecl>(d);
    return v && v->getInit() && !isa<ParmVarDecl>(v) && resolve(v->getInit(), seen, out);
  }
  return llvm::all_of(it->second, [&](const Expr* value) { return resolve(value, seen, out); });
}

// An initialiser list, a pair, a container made from them: every function in it.
bool Callables::resolveParts(const Stmt* s, llvm::DenseSet<const void*>& seen, Found& out) const {
  for (const Stmt* c : s->children()) {
    const auto* e = dyn_cast_or_null<Expr>(c);
    if (!e || isa<CXXDefaultArgExpr>(e)) continue;
    const bool part = isa<LambdaExpr>(strip(e)) || holdsFunctions(e->getType());
    if (part ? !resolve(e, seen, out) : !resolveParts(e, seen, out)) return false;
  }
  return true;
}

bool Callables::resolve(const Expr* spelled, llvm::DenseSet<const void*>& seen, Found& out) const {
  const Expr* e = strip(spelled);
  if (!e || isa<CXXNullPtrLiteralExpr, ImplicitValueInitExpr>(e)) return true;
  if (const auto* l = dyn_cast<LambdaExpr>(e)) return addLambda(l, out), true;
  if (const auto* c = dyn_cast<ConditionalOperator>(e)) return resolve(c->getTrueExpr(), seen, out) && resolve(c->getFalseExpr(), seen, out);
  if (const auto* u = dyn_cast<UnaryOperator>(e); u && (u->getOpcode() == UO_AddrOf || u->getOpcode() == UO_Deref)) return resolve(u->getSubExpr(), seen, out);
  if (const ValueDecl* d = declOf(e)) return resolveDecl(d, seen, out);
  if (const auto* a = dyn_cast<ArraySubscriptExpr>(e)) return resolve(a->getBase(), seen, out);
  if (isa<InitListExpr, CXXStdInitializerListExpr>(e)) return resolveParts(e, seen, out);
  const FunctionDecl* callee = calleeOf(e);
  if (const Function* known = code_.find(callee); known && !isa<CXXConstructExpr>(e)) {
    const auto it = returned_.find(known->decl->getCanonicalDecl());
    if (it == returned_.end()) return false;
    return !seen.insert(known->decl).second || llvm::all_of(it->second, [&](const Expr* r) { return resolve(r, seen, out); });
  }
  if (const auto* k = dyn_cast<CXXConstructExpr>(e)) return holdsFunctions(k->getType()) && resolveParts(k, seen, out);
  // table.at(name), losses[i], callbacks.back(), std::move(f)
  if (const Expr* object = callee && isSystemDecl(callee) ? objectOf(e) : nullptr; object && holdsFunctions(object->getType())) return resolve(object, seen, out);
  if (hostRole(callee) == HostRole::Forward && !argumentsOf(e).empty()) return resolve(argumentsOf(e)[0], seen, out);
  return false;
}

}  // namespace hvdize
