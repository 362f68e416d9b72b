// SPDX-License-Identifier: Apache-2.0
// Batches that come whole from elsewhere: items of containers that were filled before, and what an own loader hands out.
#include "rewriters/program/batches.h"

#include "clang/AST/StmtCXX.h"

#include "rewriters/program/host.h"

using namespace clang;

namespace hvdize {

// `while (next(batch))`: an author's function hands out a whole batch, its parts are cut where they are used.
void Batches::addFilledByHead(const Stmt* loop) {
  const Expr* head = nullptr;
  if (const auto* w = dyn_cast<WhileStmt>(loop)) head = w->getCond();
  if (const auto* f = dyn_cast<ForStmt>(loop)) head = f->getCond();
  if (!head) return;
  forEachExpr(head, [&](const Expr* call) {
    const FunctionDecl* f = calleeOf(call);
    if (!f || isSystemDecl(f) || dialect_.lookup(f)) return;
    const auto arguments = argumentsOf(call);
    for (unsigned i = 0; i < arguments.size(); ++i) {
      const ParmVarDecl* p = parameterOf(call, i);
      const QualType t = p ? p->getType() : QualType();
      if (t.isNull() || !(t->isLValueReferenceType() || t->isPointerType()) || t->getPointeeType().isConstQualified()) continue;
      const ValueDecl* d = rootOf(arguments[i]);
      if (!d || !carriesSamples(d->getType())) continue;
      filled_[loop].push_back(d);
      loopElements_.insert(d);
    }
  });
}

// Is this number the size of a tensor, `x.size(0)`, directly or through a variable? What has as many rows follows that tensor, x.
const Expr* Batches::rowsOfTensor(const Expr* extent, unsigned depth) const {
  extent = strip(extent);
  if (!extent || depth > 4) return nullptr;
  if (const Entry* entry = calleeOf(extent) ? dialect_.lookup(extent) : nullptr)
    return entry->role == Role::Op && entry->op == OpKind::Size ? objectOf(extent) : nullptr;
  if (const auto* cast = dyn_cast<CastExpr>(extent)) return rowsOfTensor(cast->getSubExpr(), depth + 1);
  const ValueDecl* d = declOf(extent);
  if (!d) return nullptr;
  for (const Definition& def : definitions_.of(d))
    if (const Expr* x = def.value ? rowsOfTensor(def.value, depth + 1) : nullptr) return x;
  return nullptr;
}

// `std::get<0>(batch)`: a tensor of a batch that was made before.
bool Batches::isPartOfElement(const Expr* e) const {
  const FunctionDecl* f = calleeOf(e);
  const auto* call = dyn_cast<CallExpr>(e);
  return f && call && call->getNumArgs() == 1 && isSystemDecl(f) && f->getDeclName().isIdentifier() && f->getName() == "get" &&
         dialect_.is(e->getType().getNonReferenceType(), Role::Tensor) && isElement(call->getArg(0));
}

// What the head of a step's loop fills is one batch: a part that only a metric reads is cut like those that the loss reads.
void Batches::addPartsOfFilled() {
  for (const HandLoop& h : handLoops_) {
    const auto filled = filled_.find(h.loop);
    if (filled == filled_.end()) continue;
    forEachExpr(loopBody(h.loop), [&](const Expr* e) {
      const auto filledBy = [&](const Expr* held) {
        const ValueDecl* d = declOf(holderOf(held));
        return d && llvm::is_contained(filled->second, loopElementOf(d));
      };
      const auto* m = dyn_cast<MemberExpr>(e);
      const bool member = m && dialect_.is(m->getType(), Role::Tensor) && filledBy(m->getBase());
      const auto* call = dyn_cast<CallExpr>(e);
      const bool got = isPartOfElement(e) && filledBy(call->getArg(0));
      const bool whole = isa<DeclRefExpr>(e) && dialect_.is(e->getType(), Role::Tensor) && filledBy(e);
      if (member || got || whole) shards_.insert(e);
    });
  }
}

// The container that `e` is an item of, or a part of one, where the step itself makes it: `both` of `for (auto& [name, t] : both)`, of both[i].first.
const Expr* Batches::containerMadeHere(const Expr* e, Trace& t, unsigned depth) const {
  e = strip(e);
  if (!e || depth > 8) return nullptr;
  const auto madeHere = [&](const Expr* container) -> const Expr* {
    if (const auto* field = dyn_cast_or_null<FieldDecl>(declOf(container))) return isFilledInSteps(field, t) ? container : nullptr;
    const auto* v = dyn_cast_or_null<VarDecl>(declOf(container));
    return v && v->isLocalVarDecl() && v->getInit() && isStdRecord(v->getType()) && evaluatedIn(v->getInit(), t) ? container : nullptr;
  };
  if (const auto* m = dyn_cast<MemberExpr>(e)) return containerMadeHere(m->getBase(), t, depth + 1);
  if (const auto* call = dyn_cast<CallExpr>(e)) {
    const FunctionDecl* f = calleeOf(call);
    if (!f || !isSystemDecl(f)) return nullptr;
    const Expr* object = objectOf(call);
    if (!object) return f->getDeclName().isIdentifier() && f->getName() == "get" && call->getNumArgs() == 1 ? containerMadeHere(call->getArg(0), t, depth + 1) : nullptr;
    const auto op = f->getOverloadedOperator();
    if (op == OO_Arrow || op == OO_Star) return containerMadeHere(object, t, depth + 1);
    const bool item = op == OO_Subscript || llvm::is_contained({"at", "front", "back", "begin", "cbegin"}, calleeName(call));
    return item && isStdRecord(object->getType()) ? madeHere(object) : nullptr;
  }
  const auto* d = dyn_cast_or_null<VarDecl>(declOf(e));
  if (const auto* b = dyn_cast<DeclRefExpr>(e); b && !d)
    if (const auto* binding = dyn_cast<BindingDecl>(b->getDecl())) d = dyn_cast<VarDecl>(binding->getDecomposedDecl());
  if (!d || isa<ParmVarDecl>(d)) return nullptr;
  if (const Expr* list = listAround(d, t)) return list;
  if (d->isCXXForRangeDecl() || !d->getInit() || !carriesSamples(d->getType())) return nullptr;
  return llvm::all_of(definitions_.of(d), [&](const Definition& def) { return def.value == d->getInit(); }) ? containerMadeHere(d->getInit(), t, depth + 1) : nullptr;
}

bool Batches::isLoopElement(const ValueDecl* d) const { return loopElementOf(d); }

// The element that this variable is, or is a part of by a structured binding; null when it is of none.
const ValueDecl* Batches::loopElementOf(const ValueDecl* d) const {
  const ValueDecl* v = d;
  if (const auto* b = dyn_cast<BindingDecl>(d)) v = b->getDecomposedDecl();
  // `for (auto& [x, y] : pairs)`: x is made by get<0> of the loop's variable.
  if (const auto* held = dyn_cast<VarDecl>(d); held && !loopElements_.count(held))
    if (const DeclStmt* ds = code_.declStmt(held); ds && ds->isSingleDecl()) {
      v = dyn_cast<ValueDecl>(ds->getSingleDecl());
      if (const auto* whole = dyn_cast_or_null<DecompositionDecl>(v); whole && whole->getInit() && declOf(whole->getInit()) && !loopElements_.count(v))
        v = declOf(whole->getInit());  // auto [x, y] = batch;
    }
  return v && loopElements_.count(v) ? v : nullptr;
}

// One item of a container that was filled before: `batches[i]`, the variable of a loop over it, or a reference to one.
bool Batches::isElement(const Expr* e, unsigned depth) const {
  e = strip(e);
  if (!e || depth > 6) return false;
  if (const auto* u = dyn_cast<UnaryOperator>(e); u && (u->getOpcode() == UO_AddrOf || u->getOpcode() == UO_Deref)) return isElement(u->getSubExpr(), depth + 1);
  if (const auto* o = dyn_cast<CXXOperatorCallExpr>(e); o && o->getOperator() == OO_Subscript && o->getNumArgs() > 0)
    return isStdRecord(o->getArg(0)->getType()) && carriesSamples(e->getType());
  if (const auto* c = dyn_cast<CXXMemberCallExpr>(e); c && calleeOf(c) && calleeOf(c)->getDeclName().isIdentifier()) {
    const llvm::StringRef name = calleeOf(c)->getName();
    if (name == "begin" || name == "cbegin") return objectOf(c) && isStdRecord(objectOf(c)->getType()) && carriesSamples(objectOf(c)->getType());  // it->x
    return objectOf(c) && isStdRecord(objectOf(c)->getType()) && (name == "at" || name == "front" || name == "back") && carriesSamples(e->getType());
  }
  if (const Expr* holder = holderOf(e); holder != e) return isElement(holder, depth + 1);
  if (const auto* c = dyn_cast<CallExpr>(e); c && calleeOf(c) && isSystemDecl(calleeOf(c)) && calleeName(c) == "move" && c->getNumArgs() == 1) return isElement(c->getArg(0), depth + 1);
  const ValueDecl* d = declOf(e);
  if (!d || isa<FunctionDecl, FieldDecl>(d)) return false;
  if (isLoopElement(d)) return true;
  for (const Definition& def : definitions_.of(d))
    if (def.value && isElement(def.value, depth + 1)) return true;
  return false;
}

}  // namespace hvdize
