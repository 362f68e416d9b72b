// SPDX-License-Identifier: Apache-2.0
#include "rewriters/program/origins.h"

#include "clang/AST/StmtCXX.h"

#include "rewriters/program/host.h"

using namespace clang;

namespace hvdize {

const ValueDecl* declOf(const Expr* e) {
  e = strip(e);
  if (const auto* r = dyn_cast_or_null<DeclRefExpr>(e)) {
    if (const auto* b = dyn_cast<BindingDecl>(r->getDecl())) {
      if (const VarDecl* held = b->getHoldingVar()) return held;
      return b;
    }
    return r->getDecl();
  }
  if (const auto* m = dyn_cast_or_null<MemberExpr>(e)) return m->getMemberDecl();
  return nullptr;
}

const ValueDecl* rootOf(const Expr* e) {
  while ((e = strip(e))) {
    if (const auto* r = dyn_cast<DeclRefExpr>(e)) return declOf(r);
    if (const auto* m = dyn_cast<MemberExpr>(e)) {
      if (!isSystemDecl(m->getMemberDecl())) return m->getMemberDecl();
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
  // An aggregate of the author's: its fields get the list's elements.
  const auto* list = dyn_cast_or_null<InitListExpr>(strip(init));
  const CXXRecordDecl* r = list ? list->getType()->getAsCXXRecordDecl() : nullptr;
  if (!r || !r->isAggregate()) return;
  unsigned i = 0;
  for (const FieldDecl* f : r->fields()) {
    if (i >= list->getNumInits()) break;
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
    if (!isa<CXXMethodDecl>(m->getMemberDecl())) uses_[m->getMemberDecl()].push_back(e);
  } else if (const auto* b = dyn_cast<BinaryOperator>(e); b && b->isAssignmentOp()) {
    if (const ValueDecl* d = rootOf(b->getLHS()))
      assigned(d, b->getRHS(), b->isCompoundAssignmentOp() || strip(b->getLHS()) != b->getLHS()->IgnoreParens());
  } else if (const auto* u = dyn_cast<UnaryOperator>(e); u && u->isIncrementDecrementOp()) {
    if (const ValueDecl* d = rootOf(u->getSubExpr())) assigned(d, nullptr, true);
  } else if (isa<CallExpr, CXXConstructExpr>(e)) {
    scanCall(e);
  }
}

void Definitions::scanCall(const Expr* call) {
  const auto* op = dyn_cast<CXXOperatorCallExpr>(call);
  if (op && op->isAssignmentOp() && op->getNumArgs() == 2) {
    if (const ValueDecl* d = rootOf(op->getArg(0)))
      assigned(d, op->getArg(1), op->getOperator() != OO_Equal);
    return;
  }
  const auto arguments = argumentsOf(call);
  for (const FunctionDecl* target : code_.targets(call))
    for (unsigned i = 0; i < arguments.size() && i < target->getNumParams(); ++i) {
      const ParmVarDecl* p = target->getParamDecl(i);
      definitions_[p].push_back({arguments[i], false});
      const ValueDecl* given = writesThrough(p) ? rootOf(arguments[i]) : nullptr;
      if (given && given != p) outs_.emplace_back(given, p);
    }
  // What an opaque function may change through a reference or pointer.
  if (!code_.targets(call).empty() || handsOn(call)) return;
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

void Definitions::followDecl(const ValueDecl* d, const Expr* e, std::vector<const Expr*>& out,
                             llvm::DenseSet<const void*>& seen) const {
  if (!seen.insert(d).second) return;
  bool any = false;
  for (const Definition& def : of(d))
    if (def.value && !def.compound) {
      any = true;
      follow(def.value, out, seen);
    }
  if (!any) out.push_back(e);
}

void Definitions::follow(const Expr* e, std::vector<const Expr*>& out, llvm::DenseSet<const void*>& seen) const {
  e = strip(e);
  if (!e) return;
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
