// SPDX-License-Identifier: Apache-2.0
#include "rewriters/program/data_changes.h"

#include "clang/AST/StmtCXX.h"

#include "rewriters/program/host.h"

using namespace clang;

namespace hvdize {

namespace {

// What `data[i]`, `*p`, `p->x`, `&x` and x.get() are parts of, step by step; null at the end.
const Expr* partOf(const Expr* e) {
  if (const auto* m = dyn_cast<MemberExpr>(e)) return m->getBase();
  if (const auto* a = dyn_cast<ArraySubscriptExpr>(e)) return a->getBase();
  if (const auto* u = dyn_cast<UnaryOperator>(e)) return u->getOpcode() == UO_Deref || u->getOpcode() == UO_AddrOf ? u->getSubExpr() : nullptr;
  if (const auto* o = dyn_cast<CXXOperatorCallExpr>(e)) {
    const auto op = o->getOperator();
    return op == OO_Subscript || op == OO_Star || op == OO_Arrow ? o->getArg(0) : nullptr;
  }
  const llvm::StringRef name = isa<CXXMemberCallExpr>(e) ? calleeName(e) : llvm::StringRef();
  return name == "get" || name == "at" || name == "front" || name == "back" ? objectOf(e) : nullptr;
}

bool isKeyed(QualType t) {
  const CXXRecordDecl* r = t.getNonReferenceType()->getAsCXXRecordDecl();
  return r && isStdRecord(t.getNonReferenceType()) && r->getDeclName().isIdentifier() && (r->getName().ends_with("map") || r->getName().ends_with("set"));
}

bool isAtomic(QualType t) {
  const CXXRecordDecl* r = t.getNonReferenceType()->getAsCXXRecordDecl();
  return r && isStdRecord(t.getNonReferenceType()) && r->getDeclName().isIdentifier() && r->getName().starts_with("atomic");
}

}  // namespace

const ValueDecl* DataChanges::kept(const Expr* target, const FunctionDecl* reader, unsigned depth) const {
  const ValueDecl* field = nullptr;
  for (const Expr* e = target ? strip(target) : nullptr; e && depth < 6; e = partOf(e) ? strip(partOf(e)) : nullptr) {
    if (const auto* m = dyn_cast<MemberExpr>(e); m && isa<FieldDecl>(m->getMemberDecl()) && !isSystemDecl(m->getMemberDecl())) field = m->getMemberDecl();
    if (const auto* m = dyn_cast<MemberExpr>(e); m && isa<VarDecl>(m->getMemberDecl())) return field ? field : declOf(e);  // static
    if (isa<CXXThisExpr>(e)) {
      const auto* m = dyn_cast<CXXMethodDecl>(reader);
      if (!m || !field) return nullptr;
      if (takesExamples(dialect_, m) || dialect_.is(m->getParent(), Role::Dataset) || overridesFrameworks(dialect_, m) || m->getParent()->isLambda()) return field;
      // A method of something that is kept: walk_.step(x).
      const bool ofKept = llvm::any_of(code_.callers(m), [&](const CallSite& c) {
        const FunctionDecl* by = code_.functionOf(c.call);
        const auto* call = dyn_cast<Expr>(c.call);
        return by && call && readers_.contains(by->getCanonicalDecl()) && objectOf(call) && kept(objectOf(call), by, depth + 1);
      });
      return ofKept ? field : nullptr;
    }
    if (!isa<DeclRefExpr>(e)) continue;
    const auto* part = dyn_cast<BindingDecl>(cast<DeclRefExpr>(e)->getDecl());
    const ValueDecl* d = part ? cast_or_null<VarDecl>(part->getDecomposedDecl()) : declOf(e);
    const auto* v = dyn_cast_or_null<VarDecl>(d);
    if (!v) return nullptr;
    if (v->hasGlobalStorage()) return field ? field : v;
    const bool refers = v->getType()->isReferenceType() || v->getType()->isPointerType();
    if (const auto* p = dyn_cast<ParmVarDecl>(v)) {
      if (!refers) return nullptr;
      const ValueDecl* given = nullptr;
      for (const CallSite& c : code_.callers(reader)) {
        const FunctionDecl* by = code_.functionOf(c.call);
        const auto* call = dyn_cast<Expr>(c.call);
        const auto arguments = call ? argumentsOf(call) : llvm::SmallVector<const Expr*, 4>();
        if (!given && by && readers_.contains(by->getCanonicalDecl()) && p->getFunctionScopeIndex() < arguments.size()) given = kept(arguments[p->getFunctionScopeIndex()], by, depth + 1);
      }
      return given ? (field ? field : given) : nullptr;
    }
    const auto* home = dyn_cast<FunctionDecl>(v->getDeclContext());
    if (v->isInitCapture() || (home && !readers_.contains(home->getCanonicalDecl()))) return field ? field : v;  // captured
    const ValueDecl* of = refers && v->getInit() ? kept(v->getInit(), reader, depth + 1) : nullptr;
    return of ? (field ? field : of) : nullptr;
  }
  return nullptr;
}

// Does it depend on the sample that is read: on a parameter of the reader, or on a variable made from one?
bool DataChanges::ofSample(const Stmt* value, const FunctionDecl* reader, unsigned depth) const {
  bool found = false;
  forEachExpr(value, [&](const Expr* e) {
    const auto* v = !found && isa<DeclRefExpr>(e) ? dyn_cast_or_null<VarDecl>(declOf(e)) : nullptr;
    if (!v || v->hasGlobalStorage()) return;
    found = isa<ParmVarDecl>(v) || (v->isLocalVarDecl() && v->getInit() && depth < 6 && ofSample(v->getInit(), reader, depth + 1));
  });
  return found;
}

bool DataChanges::draws(const Stmt* value) const {
  bool found = false;
  forEachExpr(value, [&](const Expr* e) {
    const Entry* entry = calleeOf(e) ? dialect_.lookup(e) : nullptr;
    const bool engine = isa<DeclRefExpr, MemberExpr>(e) && isRandomEngine(e->getType().getNonReferenceType());
    found = found || engine || (entry && entry->role == Role::RandomDraw) || hostRole(calleeOf(e)) == HostRole::DrawsC;
  });
  return found;
}

// Is it read while samples are read, at a place that comes before this one, or in another reader?
bool DataChanges::readBefore(const ValueDecl* d, const Expr* at) const {
  const SourceManager& sm = code_.context().getSourceManager();
  const FunctionDecl* here = code_.functionOf(at);
  return llvm::any_of(definitions_.uses(d), [&](const Expr* use) {
    const FunctionDecl* f = code_.functionOf(use);
    if (!f || !readers_.contains(f->getCanonicalDecl()) || isWithin(code_, use, at)) return false;
    return f != here || sm.isBeforeInTranslationUnit(use->getBeginLoc(), at->getBeginLoc());
  });
}

// `if (chunk != current) { rows = load(chunk); current = chunk; }`: what is kept says itself which sample it is for.
bool DataChanges::isGuarded(const ValueDecl* d, const Expr* at) const {
  for (const Stmt* p = code_.parent(at); p; p = code_.parent(p)) {
    const auto* branch = dyn_cast<IfStmt>(p);
    if (!branch || isWithin(code_, at, branch->getCond())) continue;
    bool asks = false;
    forEachExpr(branch->getCond(), [&](const Expr* e) { asks = asks || (isa<MemberExpr>(e) && isa<FieldDecl>(cast<MemberExpr>(e)->getMemberDecl())) || (isa<DeclRefExpr>(e) && declOf(e) == d); });
    if (asks) return true;
  }
  return false;
}

bool DataChanges::isRead(const ValueDecl* d, const Expr* at) const {
  return llvm::any_of(definitions_.uses(d), [&](const Expr* use) { return !isWithin(code_, use, at); });
}

// rows_[i], rows_.at(i), also under a name: auto& row = rows_[i];
bool DataChanges::isOfOneSample(const Expr* target, unsigned depth) const {
  for (const Expr* e = strip(target); e; e = partOf(e) ? strip(partOf(e)) : nullptr) {
    const auto* o = dyn_cast<CXXOperatorCallExpr>(e);
    if (isa<ArraySubscriptExpr>(e) || (o && o->getOperator() == OO_Subscript) || (calleeOf(e) && calleeName(e) == "at")) return true;
    const auto* v = isa<DeclRefExpr>(e) ? dyn_cast_or_null<VarDecl>(declOf(e)) : nullptr;
    if (v && v->getInit() && depth < 6 && (v->getType()->isReferenceType() || v->getType()->isPointerType()) && isOfOneSample(v->getInit(), depth + 1)) return true;
  }
  return false;
}

const ValueDecl* DataChanges::assigned(const Expr* target, const Expr* value, const Expr* at, const FunctionDecl* reader) const {
  const ValueDecl* d = kept(target, reader);
  if (!d) return nullptr;
  if (isOfOneSample(target, 0)) return draws(value) ? d : nullptr;
  return ofSample(value, reader) && readBefore(d, at) && !isGuarded(d, at) ? d : nullptr;
}

const ValueDecl* DataChanges::changed(const Expr* e, const FunctionDecl* reader) const {
  if (const auto* b = dyn_cast<BinaryOperator>(e); b && b->getOpcode() == BO_Assign) return assigned(b->getLHS(), b->getRHS(), e, reader);
  if (const auto* o = dyn_cast<CXXOperatorCallExpr>(e); o && o->getOperator() == OO_Equal && o->getNumArgs() == 2) return assigned(o->getArg(0), o->getArg(1), e, reader);
  const FunctionDecl* f = calleeOf(e);
  if (!f || !isa<CallExpr>(e) || !isSystemDecl(f) || dialect_.owns(f) || !f->getDeclName().isIdentifier()) return nullptr;
  const llvm::StringRef name = f->getName();
  const auto arguments = argumentsOf(e);
  const Expr* object = objectOf(e);
  if (!object && (name == "exchange" || name == "swap") && arguments.size() == 2) {
    const ValueDecl* first = kept(arguments[0], reader);
    return first ? first : name == "swap" ? kept(arguments[1], reader) : nullptr;
  }
  if (!object) return nullptr;
  const QualType t = object->getType()->isPointerType() ? object->getType()->getPointeeType() : object->getType();
  if (isAtomic(t) && (name.starts_with("fetch_") || name == "exchange" || name.starts_with("compare_exchange"))) return kept(object, reader);
  if (!isStdRecord(t.getNonReferenceType())) return nullptr;
  if (isKeyed(t) && (name == "emplace" || name == "try_emplace" || name == "insert" || name == "insert_or_assign")) {
    const ValueDecl* d = kept(object, reader);
    const bool counts = d && llvm::any_of(definitions_.uses(d), [&](const Expr* use) { return llvm::any_of(arguments, [&](const Expr* a) { return isWithin(code_, use, a); }); });
    return d && (counts || llvm::any_of(arguments, [&](const Expr* a) { return draws(a); })) ? d : nullptr;
  }
  const bool grows = name.starts_with("push") || name == "emplace_back" || name == "emplace_front" || name.starts_with("pop");
  const ValueDecl* d = grows ? kept(object, reader) : nullptr;
  return d && isRead(d, e) && (arguments.empty() || llvm::any_of(arguments, [&](const Expr* a) { return ofSample(a, reader); })) ? d : nullptr;
}

}  // namespace hvdize
