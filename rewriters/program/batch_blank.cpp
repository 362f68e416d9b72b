// SPDX-License-Identifier: Apache-2.0
// New tensors of one number (zeros, say) that nothing is ever written into: no samples are in them.
#include "rewriters/program/batches.h"
#include "rewriters/program/data_draws.h"
#include "rewriters/program/host.h"

using namespace clang;

namespace hvdize {

const Expr* freshTensor(const Expr* e, const Dialect& dialect) {
  for (e = strip(e); e && calleeOf(e); e = objectOf(e) ? strip(objectOf(e)) : nullptr) {
    const Entry* entry = dialect.lookup(e);
    if (!entry) return nullptr;
    if (entry->role == Role::Op && entry->op == OpKind::Factory) return e;
    const llvm::StringRef name = calleeName(e);
    if (entry->role != Role::Access && name != "to" && name != "cuda" && name != "cpu") return nullptr;
  }
  return nullptr;
}

// In zeros({n, 8}).to(device), zeros({n, 8}).
static const Expr* moved(const Expr* e, const Dialect& dialect) {
  for (e = strip(e); calleeOf(e) && objectOf(e) && dialect.lookup(e); e = strip(objectOf(e)))
    if (const llvm::StringRef name = calleeName(e); name != "to" && name != "cuda" && name != "cpu") break;
  return e;
}

// What an expression of a chain or a container's method is called on: the call around `e` that has it as its object, or null.
static const Expr* callOnObject(const AuthorCode& code, const Expr* e) {
  const Stmt* p = code.parent(e);
  while (p && isa<ImplicitCastExpr, ParenExpr, MaterializeTemporaryExpr, CXXBindTemporaryExpr, ExprWithCleanups, MemberExpr>(p)) p = code.parent(p);
  const auto* call = dyn_cast_or_null<CallExpr>(p);
  if (!call || !calleeOf(call)) return nullptr;
  const Expr* object = objectOf(call);
  return object && strip(object) == strip(e) ? call : nullptr;
}

// Are the rows that this operation chooses new ones, which nobody writes back, unlike those of x[i] and x.slice(0, i)?
static bool copiesRows(llvm::StringRef name) {
  return name == "index_select" || name == "gather" || name == "take" || name == "take_along_dim" || name == "masked_select" || name == "index";
}

// Is the tensor `use` written into here: x[i] = y, x.copy_(y), x.uniform_(), through its memory, or by a function that may change it?
bool Batches::givesContents(const Expr* use) const {
  if (const Expr* call = callOnObject(code_, use)) {
    if (const auto* o = dyn_cast<CXXOperatorCallExpr>(call); o && o->getOperator() == OO_Equal) return false;  // names another tensor from here on
    const Entry* entry = dialect_.lookup(call);
    if (!entry) return true;
    if (entry->role == Role::RandomDraw) return true;
    if (entry->role != Role::Op) return false;
    if (entry->op == OpKind::Select && copiesRows(calleeName(call))) return false;
    if (entry->op == OpKind::Assign) return !argumentsOf(call).empty();  // detach_() writes nothing
    return entry->op == OpKind::Select || entry->op == OpKind::Scatter || entry->op == OpKind::DataPointer || entry->op == OpKind::ReduceOther;
  }
  const Stmt* p = code_.parent(use);
  while (p && isa<ParenExpr, UnaryOperator>(p)) p = code_.parent(p);
  const auto* call = dyn_cast_or_null<CallExpr>(p);  // an argument as it is, not converted: taken by reference or address
  const FunctionDecl* f = call ? calleeOf(call) : nullptr;
  return f && !dialect_.lookup(f) && !isSystemDecl(f);
}

// x.slice(1, 0, 4), of all rows, where nobody writes into it: the tensor is read here.
bool Batches::readsColumns(const Expr* use) const {
  const Expr* part = callOnObject(code_, use);
  const Entry* entry = part ? dialect_.lookup(part) : nullptr;
  if (!entry || entry->role != Role::Op || entry->op != OpKind::Select || dimensionOf(part, *entry, code_.context()).value_or(0) <= 0) return false;
  for (const Stmt* s = part; isa_and_nonnull<Expr>(s); s = code_.parent(s)) {
    if (const VarDecl* v = code_.variableInitialisedBy(s)) return v->isLocalVarDecl() && !getsContents(v);
    if (!isa_and_nonnull<ImplicitCastExpr, ParenExpr, MaterializeTemporaryExpr, CXXBindTemporaryExpr, ExprWithCleanups, CXXConstructExpr>(code_.parent(s)) && !code_.variableInitialisedBy(code_.parent(s))) break;
  }
  return !givesContents(part) || readsColumns(part);
}

bool Batches::getsContents(const ValueDecl* d) const {
  for (const Definition& def : definitions_.of(d))
    if (def.compound || def.through) return true;
  return llvm::any_of(definitions_.uses(d), [&](const Expr* use) { return givesContents(use); });
}

// In zeros_like(x) of a tensor made here, x; null for anything else.
static const Expr* patternOf(const Expr* made, const Dialect& dialect) {
  const Entry* entry = calleeOf(made) ? dialect.lookup(made) : nullptr;
  const bool like = entry && entry->role == Role::Op && entry->op == OpKind::Factory && !objectOf(made) && calleeName(made).ends_with("_like");
  return like && !argumentsOf(made).empty() ? strip(argumentsOf(made)[0]) : nullptr;
}

// Is this empty({n, 8}), or zeros_like(x) where x is such a tensor?
bool Batches::hasShapeOfRows(const Expr* fresh, unsigned depth) const {
  const Expr* pattern = patternOf(fresh, dialect_);
  if (!pattern || depth > 3) return !pattern && startsWithRows(fresh);
  const auto* v = isa<DeclRefExpr>(pattern) ? dyn_cast_or_null<VarDecl>(declOf(pattern)) : nullptr;
  const Expr* init = v && v->isLocalVarDecl() && v->getInit() ? strip(v->getInit()) : nullptr;
  return init && freshTensor(init, dialect_) == init && hasShapeOfRows(init, depth + 1);
}

// Does `use` only give its shape to another new tensor that the step fills for the whole batch?
bool Batches::isPatternOfFilled(const Expr* use) const {
  const Stmt* p = code_.parent(use);
  while (p && isa<ImplicitCastExpr, ParenExpr>(p)) p = code_.parent(p);
  const auto* call = dyn_cast_or_null<CallExpr>(p);
  if (!call || patternOf(call, dialect_) != strip(use)) return false;
  for (const Stmt* s = call; s && isa<Expr>(s); s = code_.parent(s))
    if (const VarDecl* v = code_.variableInitialisedBy(s)) return getsContents(v);
  return false;
}

// `x = x.to(device);`, behind what fills x and in the same block: from there on the variable holds what is made of the filled tensor.
bool Batches::goesOnAsAnother(const VarDecl* v, const Expr* value) const {
  const Stmt* call = value;
  while (call && isa<Expr>(call) && !(isa<CXXOperatorCallExpr>(call) && cast<CXXOperatorCallExpr>(call)->getOperator() == OO_Equal && declOf(cast<CXXOperatorCallExpr>(call)->getArg(0)) == v)) call = code_.parent(call);
  const Stmt* block = call && isa<CXXOperatorCallExpr>(call) ? code_.parent(call) : nullptr;
  while (block && isa<Expr>(block)) block = code_.parent(block);
  if (!isa_and_nonnull<CompoundStmt>(block) || !code_.declStmt(v) || code_.parent(code_.declStmt(v)) != block) return false;
  bool itself = false;
  forEachExpr(value, [&](const Expr* x) { itself = itself || (isa<DeclRefExpr>(x) && declOf(x) == v); });
  const SourceManager& sm = code_.context().getSourceManager();
  return itself && llvm::none_of(definitions_.uses(v), [&](const Expr* use) { return givesContents(use) && !readsColumns(use) && !sm.isBeforeInTranslationUnit(use->getBeginLoc(), call->getBeginLoc()); });
}

// `x.slice(0, at, at + 8).clone()`, also on another device: rows of what all ranks have, cut out here and of the step's own from here on.
bool Batches::copiesCutRows(const Expr* made, const Trace& t) {
  bool copied = false;
  for (const Expr* e = strip(made); e && calleeOf(e) && objectOf(e); e = strip(objectOf(e))) {
    const llvm::StringRef name = calleeName(e);
    copied = copied || (name == "clone" && dialect_.lookup(e));
    if (name != "clone" && name != "to" && name != "cuda" && name != "cpu" && name != "contiguous" && name != "detach") break;
  }
  if (!copied) return false;
  Trace inner = t;
  inner.found.clear();
  if (!inputs(made, inner) || inner.found.empty() || !llvm::all_of(inner.found, [&](const Expr* cut) { return isWithin(code_, cut, made) && !reads_.count(cut); })) return false;
  copiedCuts_.insert(inner.found.begin(), inner.found.end());
  return true;
}

// x[i] = y, x[i].copy_(y), `auto row = x[i]; row.mul_(2);`: is one of the rows written here, or by a function of the program that gets the tensor?
bool Batches::writesRow(const Expr* use, unsigned depth) const {
  const Expr* row = callOnObject(code_, use);
  if (!row && depth < 3)
    if (const Stmt* p = code_.parent(use); isa_and_nonnull<CallExpr>(p))
      for (const FunctionDecl* f : code_.targets(cast<CallExpr>(p))) {
        const auto arguments = argumentsOf(cast<CallExpr>(p));
        for (unsigned i = 0; i < arguments.size() && i < f->getNumParams(); ++i)
          if (arguments[i] == use && llvm::any_of(definitions_.uses(f->getParamDecl(i)), [&](const Expr* inner) { return writesRow(inner, depth + 1); })) return true;
      }
  const auto* o = dyn_cast_or_null<CXXOperatorCallExpr>(row);
  const bool one = (o && o->getOperator() == OO_Subscript) || (row && calleeName(row) == "select" && dialect_.lookup(row) && dimensionOf(row, *dialect_.lookup(row), code_.context()) == 0);
  if (!one) return false;
  for (const Stmt* s = row; isa_and_nonnull<Expr>(s); s = code_.parent(s))
    if (const VarDecl* v = code_.variableInitialisedBy(s)) return strip(v->getInit()) == row && llvm::any_of(definitions_.uses(v), [&](const Expr* x) { return isChangedThere(code_, dialect_, x) || givesContents(x); });
  return isChangedThere(code_, dialect_, row) || givesContents(row);
}

// `next.index_put_({alive}, values)`, `sums.add_(rewards)`, all of it at once, with what comes from the batch: it is made beside this rank's rows, and not
// filled with those of all.
bool Batches::meetsBatch(const Expr* change, const Entry& entry, Trace& t) {
  if (entry.op != OpKind::Assign && entry.op != OpKind::Scatter) return false;
  const auto arguments = argumentsOf(change);
  llvm::SmallVector<const Expr*, 4> with(arguments);
  if (entry.op == OpKind::Scatter) {
    const auto list = entry.index >= 0 && entry.index < static_cast<int>(arguments.size()) ? extentsOf(arguments[entry.index]) : std::nullopt;
    with.clear();
    if (list) with.append(list->begin(), list->end());
    // priority.index_put_({drawn}, errors): of a table that was there before the step, and is there after it.
    const ValueDecl* d = objectOf(change) ? declOf(strip(objectOf(change))) : nullptr;
    const bool byTensor = !with.empty() && dialect_.is(strip(with.front())->getType().getNonReferenceType(), Role::Tensor);
    if (byTensor && d && llvm::none_of(definitions_.of(d), [&](const Definition& def) { return def.value && evaluatedIn(def.value, t); })) return true;
  }
  return llvm::any_of(with, [&](const Expr* a) {
    Trace own = t;
    own.found.clear();
    return dialect_.is(strip(a)->getType().getNonReferenceType(), Role::Tensor) && inputs(a, own) && !own.found.empty();
  });
}

// `auto rows = empty({n, 8}); for (j) rows[j] = ...; net(rows)`: a new tensor that the step fills for the whole batch. It is cut where it is read.
bool Batches::cutsFilled(const ValueDecl* d, Trace& t) {
  // A member, too: batch.x = zeros({n, 8}); batch.x[j] = ...; net(batch.x).
  const auto* v = dyn_cast<VarDecl>(d);
  const auto* field = dyn_cast<FieldDecl>(d);
  if (!(v || (field && !dialect_.is(cast<CXXRecordDecl>(field->getParent()), Role::Module))) || t.table || isa<ParmVarDecl>(d) || !dialect_.is(d->getType().getNonReferenceType(), Role::Tensor)) return false;
  const Expr *made = nullptr, *later = nullptr;
  for (const Definition& def : definitions_.of(d)) {
    if (!def.value || def.compound || givesPart(code_, def.value)) continue;
    const auto* empty = field ? dyn_cast<CXXConstructExpr>(strip(def.value)) : nullptr;
    if (empty && empty->getNumArgs() == 0) continue;  // Tensor x = {};
    if (field && !evaluatedIn(def.value, t)) return false;
    const bool anew = made && v && v->isLocalVarDecl() && def.value != v->getInit();
    if (made && (later || !anew || !goesOnAsAnother(v, def.value))) return false;  // another tensor
    (made ? later : made) = def.value;
  }
  const SourceManager& sm = code_.context().getSourceManager();
  const Expr* fresh = made ? freshTensor(made, dialect_) : nullptr;
  const bool anew = fresh && fresh == moved(made, dialect_) && hasShapeOfRows(fresh);
  // Or rows that are copied, and then changed one by one: all ranks do that for all of them.
  if (!anew && !(made && v && llvm::any_of(definitions_.uses(d), [&](const Expr* use) { return evaluatedIn(use, t) && writesRow(use); }) && copiesCutRows(made, t))) return false;
  bool filled = false;
  llvm::SmallVector<const Expr*, 4> reads;
  for (const Expr* use : definitions_.uses(d)) {
    if (!evaluatedIn(use, t)) continue;
    if (later && sm.isBeforeInTranslationUnit(later->getEndLoc(), use->getBeginLoc())) continue;  // of what it is made into
    const Expr* call = callOnObject(code_, use);
    if (const auto* o = dyn_cast_or_null<CXXOperatorCallExpr>(call); field && o && o->getOperator() == OO_Equal && strip(o->getArg(0)) == strip(use)) continue;
    if (const auto* o = dyn_cast_or_null<CXXOperatorCallExpr>(call); later && o && o->getOperator() == OO_Equal && isWithin(code_, later, o)) continue;
    const Entry* entry = call ? dialect_.lookup(call) : nullptr;
    const bool asks = entry && entry->role == Role::Op && (entry->op == OpKind::Size || entry->op == OpKind::ElementCount || entry->op == OpKind::ShapeOnly);
    if (!readsColumns(use) && givesContents(use)) {
      // A draw into all of it is none of the program's own.
      if (entry && (entry->role == Role::RandomDraw || (entry->role == Role::Op && meetsBatch(call, *entry, t)))) return false;
      filled = true;
    } else if (!asks && !isPatternOfFilled(use)) {
      reads.push_back(use);
    }
  }
  if (!filled || reads.empty()) return false;
  for (const Expr* use : reads) t.found.insert(use);
  t.seen[d] = true;
  if (later) inputs(later, t);  // what else goes into it
  return true;
}

// Is this a new tensor whose elements are all the same, and stay so?
bool Batches::isBlank(const Expr* e) const {
  const Entry* entry = calleeOf(e) ? dialect_.lookup(e) : nullptr;
  if (!entry || entry->op != OpKind::Factory || entry->shape != 0) return false;
  for (const Stmt* p = e; p; p = code_.parent(p)) {
    if (const auto* ds = dyn_cast<DeclStmt>(p)) {
      const auto* v = ds->isSingleDecl() ? dyn_cast<VarDecl>(ds->getSingleDecl()) : nullptr;
      return v && !getsContents(v);
    }
    const auto* x = dyn_cast<Expr>(p);
    if (!x) return true;
    if (const auto* o = dyn_cast<CXXOperatorCallExpr>(x); o && o->getOperator() == OO_Equal) {
      const ValueDecl* d = rootOf(o->getArg(0));
      return d && declOf(o->getArg(0)) == d && !getsContents(d);
    }
    if (givesContents(x)) return false;
  }
  return true;
}

}  // namespace hvdize
