// SPDX-License-Identifier: Apache-2.0
// Single samples of a batch that the host reads: labels[i].item() in a loop over the rows, the first prediction in a print.
#include "clang/AST/StmtCXX.h"

#include "rewriters/program/evaluate.h"
#include "rewriters/program/host.h"

using namespace clang;

namespace hvdize {

// Does a round of a training loop stand around `e`, in its function or around the function's calls? Calls outside of every step, with what all ranks
// have alike, may be there too: what combines over ranks is the identity then.
bool Kinds::inTrainingStep(const Expr* e, unsigned depth) {
  for (const Stmt* p = e; p; p = code_.parent(p)) {
    for (const LoaderLoop& l : batches_.loaderLoops())
      if (l.loop == p) return l.trains && batches_.inBody(e, p);
    for (const HandLoop& h : batches_.handLoops())
      if (h.loop == p) return batches_.inBody(e, p);
  }
  const FunctionDecl* f = code_.functionOf(e);
  const auto callers = f ? code_.callers(f) : llvm::ArrayRef<CallSite>();
  if (depth >= 6 || callers.empty()) return false;
  bool any = false;
  for (const CallSite& c : callers) {
    if (!c.caller) return false;
    if (inTrainingStep(c.call, depth + 1)) {
      any = true;
      continue;
    }
    const bool alike = isa<CallExpr>(c.call) && batches_.inStep(c.call) == 0 && llvm::all_of(argumentsOf(c.call), [&](const Expr* a) { return eval(a).isUniform(); });
    if (!alike) return false;
  }
  return any;
}

// Was the tensor computed, so that its memory is none of the batch's? What is written there changes nothing else.
bool Kinds::ownsMemory(const Expr* spelled) {
  const Expr* e = strip(spelled);
  if (!open_.insert(e).second) return true;
  bool owns = false;
  if (const auto* v = isa<DeclRefExpr>(e) ? dyn_cast_or_null<VarDecl>(declOf(e)) : nullptr) {
    bool start = false;
    const auto values = ranks_.reaching(v, e, start);
    owns = values && !start && !values->empty() && llvm::all_of(*values, [&](const Expr* x) { return ownsMemory(x); });
  } else if (const Entry* entry = calleeOf(e) ? dialect_.lookup(e) : nullptr; entry && entry->role == Role::Op) {
    const auto* o = dyn_cast<CXXOperatorCallExpr>(e);
    const llvm::StringRef name = calleeName(e);
    const bool arithmetic = o && !o->isAssignmentOp() && (o->getOperator() == OO_Plus || o->getOperator() == OO_Minus || o->getOperator() == OO_Star || o->getOperator() == OO_Slash);
    const bool named = entry->op == OpKind::Elementwise && (name == "clone" || name == "clamp" || name == "clip" || name == "mul" || name == "div" || name == "add" || name == "sub" || name == "sigmoid");
    owns = arithmetic || named || (objectOf(e) && isTensor(e->getType()) && ownsMemory(objectOf(e)));
  }
  open_.erase(e);
  return owns;
}

// std::vector<float> v(p, p + n), v.insert(v.end(), p, p + n), std::copy(p, p + n, out), std::accumulate(p, p + n, 0.0): what the range `e` begins or ends holds is copied or added up.
static bool readsRange(const Expr* call, const Expr* e) {
  const FunctionDecl* f = calleeOf(call);
  if (!f || isa<CXXOperatorCallExpr>(call)) return false;
  const llvm::StringRef name = calleeName(call);
  if (isa<CXXConstructExpr>(call)) return isStdRecord(call->getType()) && argumentsOf(call).size() >= 2;
  if (objectOf(call)) return isStdRecord(objectOf(call)->getType()) && (name == "insert" || name == "assign");
  const auto given = argumentsOf(call);
  const bool reads = f->isInStdNamespace() && (name == "copy" || name == "copy_n" || name == "accumulate");
  return reads && given.size() > 2 && (given[0] == e || (given[1] == e && name != "copy_n"));
}

// list.emplace_back(p[i], 1), make_pair(p[i], 1): a number that the library copies, though it takes a reference that could be written to.
static bool copiesNumber(const Expr* call, const Expr* e) {
  const FunctionDecl* f = e->getType()->isArithmeticType() ? calleeOf(call) : nullptr;
  if (!f || isa<CXXOperatorCallExpr>(call)) return false;
  if (isa<CXXConstructExpr>(call)) return isStdRecord(call->getType());
  const llvm::StringRef name = calleeName(call);
  if (objectOf(call)) return isStdRecord(objectOf(call)->getType()) && (name.starts_with("emplace") || name == "push_back");
  return f->isInStdNamespace() && (name == "make_pair" || name == "make_tuple");
}

// Is the memory that `e` (a pointer, an accessor, a part of one) leads to only read, here and through the variable that `e` initialises?
bool Kinds::onlyRead(const Expr* e, unsigned depth) const {
  const Stmt* p = code_.parent(e);
  if (!p || depth > 12) return false;
  if (const auto* cast = dyn_cast<ImplicitCastExpr>(p); cast && cast->getCastKind() == CK_LValueToRValue && !cast->getType()->isPointerType()) return true;
  const auto constant = [](QualType t) { return t->isPointerType() && t->getPointeeType().isConstQualified(); };
  if (const auto* x = dyn_cast<ImplicitCastExpr>(p); x && (constant(x->getType()) || (x->getType()->isArithmeticType() && x->getType().isConstQualified()))) return true;
  if (isa<ImplicitCastExpr, ParenExpr, MaterializeTemporaryExpr, ExprWithCleanups, CXXBindTemporaryExpr, ArraySubscriptExpr>(p)) return onlyRead(cast<Expr>(p), depth + 1);
  if (const auto* u = dyn_cast<UnaryOperator>(p)) return u->getOpcode() == UO_Deref && onlyRead(u, depth + 1);
  if (const auto* b = dyn_cast<BinaryOperator>(p)) return b->isAdditiveOp() && onlyRead(b, depth + 1);
  if (const auto* o = dyn_cast<CXXOperatorCallExpr>(p)) return o->getOperator() == OO_Subscript && o->getArg(0)->IgnoreImplicit() == e->IgnoreImplicit() && onlyRead(o, depth + 1);
  if (const auto* m = dyn_cast<MemberExpr>(p)) return m->getMemberDecl()->getDeclName().isIdentifier() && m->getMemberDecl()->getName().starts_with("size");
  if (isa<CallExpr, CXXConstructExpr>(p) && copiesNumber(cast<Expr>(p), e)) return true;
  if (isa<CallExpr, CXXConstructExpr>(p) && e->getType()->isPointerType()) return readsRange(cast<Expr>(p), e);
  const auto* declared = dyn_cast<DeclStmt>(p);
  if (!declared) return false;
  for (const Decl* d : declared->decls()) {
    const auto* v = dyn_cast<VarDecl>(d);
    if (!v || !v->getInit() || v->getInit()->IgnoreImplicit() != e->IgnoreImplicit()) continue;
    return constant(v->getType()) || (definitions_.of(v).size() == 1 && llvm::all_of(definitions_.uses(v), [&](const Expr* use) { return onlyRead(use, depth + 1); }));
  }
  return false;
}

// Does `e` change a tensor with samples in place: x.mul_(2), x += 1, x[0] = y, or an author's function that does so to its argument?
bool Kinds::changesSamples(const Expr* e, unsigned depth) {
  const auto holds = [&](const Expr* x) {
    const Value v = x && isTensor(x->getType()) ? eval(x) : Value(Kind::Uniform);
    return v.kind == Kind::Sharded || v.kind == Kind::Unknown;
  };
  const Entry* entry = calleeOf(e) ? dialect_.lookup(e) : nullptr;
  if (entry && entry->role == Role::Op && (entry->op == OpKind::Assign || entry->op == OpKind::Scatter)) {
    const auto* o = dyn_cast<CXXOperatorCallExpr>(e);
    const bool another = o && o->getOperator() == OO_Equal && isa<DeclRefExpr, MemberExpr>(strip(objectOf(e)));  // the variable gets another tensor
    return !another && holds(objectOf(e));
  }
  if (depth > 8) return true;
  const auto given = argumentsOf(e);
  for (const FunctionDecl* f : code_.targets(e)) {
    const Function* known = llvm::any_of(given, holds) ? code_.find(f) : nullptr;
    bool changes = false;
    if (known) forEachExpr(known->body, [&](const Expr* x) { changes = changes || changesSamples(x, depth + 1); });
    if (changes) return true;
  }
  return false;
}

// Memory that is kept in a variable follows its tensor; a copy of all ranks' rows would not. Is anything changed while it is kept?
bool Kinds::changedWhileKept(const Expr* memory) {
  const Stmt* kept = memory;
  while (kept && !isa<DeclStmt>(kept)) kept = code_.parent(kept);
  const Stmt* scope = kept ? code_.parent(kept) : nullptr;
  const auto& sm = code_.context().getSourceManager();
  bool changed = false;
  forEachExpr(scope, [&](const Expr* x) {
    changed = changed || (!sm.isBeforeInTranslationUnit(x->getBeginLoc(), kept->getEndLoc()) && changesSamples(x));
  });
  return changed;
}

// Is the variable, which would hold the rows of all ranks, used for its memory alone? A network must get this rank's, and how many there are is
// asked of those.
bool Kinds::onlyShown(const ValueDecl* d) const {
  return llvm::all_of(definitions_.uses(d), [&](const Expr* use) {
    const Stmt* p = code_.parent(use);
    while (isa_and_nonnull<ImplicitCastExpr, ParenExpr, MemberExpr>(p)) p = code_.parent(p);
    const auto* call = dyn_cast_or_null<CallExpr>(p);
    const Expr* object = call && calleeOf(call) ? objectOf(call) : nullptr;
    const Entry* entry = object && strip(object) == strip(use) ? dialect_.lookup(call) : nullptr;
    if (!entry) return false;
    if (const auto* o = dyn_cast<CXXOperatorCallExpr>(call)) return o->getOperator() == OO_Equal;
    if (entry->role != Role::Op) return entry->role == Role::Access || entry->role == Role::NoEffect || entry->role == Role::ArchiveWrite;
    if (entry->op != OpKind::Size) return entry->op == OpKind::DataPointer || entry->op == OpKind::ShapeOnly;
    const auto dim = dimensionOf(call, *entry, code_.context());
    return dim && *dim > 0;
  });
}

// The tensors with this rank's rows that `e` is computed from in a way that does not combine over ranks: a single sample, a median, a
// histogram. Gathered, they give on every rank what the program means: `labels` of labels[i].item(), of bincount(labels).max(). False
// when anything else that depends on samples goes into `e`, or when it is changed in place.
bool Kinds::computedFrom(const Expr* spelled, llvm::SmallVectorImpl<const Expr*>& rows, unsigned depth) {
  const Expr* e = strip(spelled);
  if (!e || depth > 24) return false;
  if (const auto* cast = dyn_cast<ExplicitCastExpr>(e)) return computedFrom(cast->getSubExpr(), rows, depth + 1);
  if (isa<DeclRefExpr>(e)) {
    const auto* v = dyn_cast_or_null<VarDecl>(declOf(e));
    if (!v || !v->isLocalVarDecl() || v->isStaticLocal() || !v->getInit() || !inTrainingStep(v->getInit())) return false;
    if (v->isCXXForRangeDecl()) {  // for (auto row : x.unbind())
      const auto* loop = dyn_cast_or_null<CXXForRangeStmt>(code_.declStmt(v) ? code_.parent(code_.declStmt(v)) : nullptr);
      return loop && computedFrom(loop->getRangeInit(), rows, depth + 1);
    }
    // `auto t = out[0]; t = t.permute(...); t = t * 255;`: whichever of them stands there.
    if (!open_.insert(v->getInit()).second) return true;
    const bool all = llvm::all_of(definitions_.of(v), [&](const Definition& def) {
      return def.value && !def.compound && !def.through && inTrainingStep(def.value) && (eval(def.value).isUniform() || computedFrom(def.value, rows, depth + 1));
    });
    open_.erase(v->getInit());
    return all;
  }
  const FunctionDecl* f = calleeOf(e);
  const Entry* entry = f ? dialect_.lookup(e) : nullptr;
  if (!entry || entry->role != Role::Op || !inTrainingStep(e)) return false;
  // Memory of a tensor that was computed from the samples, and lives in a variable.
  if (entry->op == OpKind::DataPointer) return objectOf(e) && isa<DeclRefExpr>(strip(objectOf(e))) && ownsMemory(objectOf(e)) && (eval(objectOf(e)).kind != Kind::Sharded || onlyShown(declOf(objectOf(e)))) && computedFrom(objectOf(e), rows, depth + 1);
  if (entry->op == OpKind::Factory || entry->op == OpKind::Assign || entry->op == OpKind::Scatter) return false;
  if (f->getDeclName().isIdentifier() && f->getName().ends_with("_")) return false;
  llvm::SmallVector<const Expr*, 4> operands = argumentsOf(e);
  if (const Expr* object = objectOf(e)) operands.insert(operands.begin(), object);
  bool any = false;
  for (const Expr* x : operands) {
    const Value v = eval(x);
    if (v.isUniform()) continue;
    any = true;
    if (v.kind == Kind::Unknown && computedFrom(x, rows, depth + 1)) continue;
    if (v.kind == Kind::Rows && strip(x)->getType()->isArithmeticType() && !v.earlier) {  // 4 * x.numel() / norm(..)
      rows.push_back(x);
      continue;
    }
    if (v.kind != Kind::Sharded || v.joined || !isTensor(x->getType())) return false;
    rows.push_back(x);
  }
  return any;
}

// kept.slice(0, i, i + n) = rows, kept.narrow(0, i, n).copy_(rows), kept.slice(..) += rows: what lives on after the step, and is the same on all ranks,
// gets the rows of all of them. Nothing for any other assignment.
std::optional<Value> Kinds::writtenRows(const Expr* e) {
  const Expr* object = objectOf(e);
  if (!object || batches_.inStep(e) == 0) return std::nullopt;
  llvm::SmallVector<const Expr*, 2> parts;
  const Expr* root = strip(object);
  for (; calleeOf(root) && objectOf(root); root = strip(objectOf(root))) {
    const Entry* entry = dialect_.lookup(root);
    if (!entry || entry->role != Role::Op || (entry->op != OpKind::Select && entry->op != OpKind::Assign)) return std::nullopt;
    if (entry->op == OpKind::Select) parts.push_back(root);
  }
  const auto arguments = argumentsOf(e);
  if (parts.empty() || !isa<DeclRefExpr, MemberExpr>(root) || !isTensor(root->getType()) || !changesOutside(object, e)) return std::nullopt;
  const Value before = eval(root);
  if (!before.isUniform()) return std::nullopt;
  if (llvm::none_of(arguments, [&](const Expr* a) { return isTensor(a->getType()) && eval(a).kind == Kind::Sharded; })) return std::nullopt;
  const Expr* graded = nullptr;
  const auto give = [&](const Expr* x) {
    const Value v = eval(x);
    if (v.dependsOnSamples() && v.graded && !withoutGradients(e)) graded = x;
    if (isTensor(x->getType())) cross(x, v, "written");
    else if (v.kind != Kind::BatchSize) host(x);
  };
  for (const Expr* part : parts) {
    const Entry& takes = *dialect_.lookup(part);
    const auto positions = argumentsOf(part);
    for (unsigned i = 0; i < positions.size(); ++i) {
      const auto list = static_cast<int>(i) == takes.index ? extentsOf(positions[i]) : std::nullopt;
      if (!list) give(positions[i]);
      for (const Expr* x : list ? llvm::ArrayRef<const Expr*>(*list) : llvm::ArrayRef<const Expr*>()) give(x);
    }
  }
  for (const Expr* x : arguments) give(x);
  if (!graded) return before.kind == Kind::None ? Value(Kind::Uniform) : before;
  const Value whole = gatheredWithGradients(graded);
  assign(root, whole);
  return whole;
}

// What other ranks have put there has no gradient here: no loss can be made from it.
Value Kinds::gatheredWithGradients(const Expr* graded) {
  Value whole(Kind::Whole);
  whole.origin = graded;
  whole.why = "numbers of all ranks' samples are put into one tensor, and no gradient flows from there to those of other ranks";
  return whole;
}

// x.index_put_({i}, v), x.scatter_(dim, i, v), x.index_add_(dim, i, v): the indices say where x changes.
Value Kinds::evalScatter(const Expr* e, const Entry& entry, const Value& self) {
  llvm::SmallVector<const Expr*, 6> given;
  const auto arguments = argumentsOf(e);
  std::optional<llvm::SmallVector<const Expr*, 4>> indices;
  for (unsigned i = 0; i < arguments.size(); ++i) {
    if (static_cast<int>(i) == entry.index) indices = extentsOf(arguments[i]);
    if (static_cast<int>(i) == entry.index && indices) given.append(indices->begin(), indices->end());
    else given.push_back(arguments[i]);
  }
  if (self.isUniform()) {
    // A histogram, the same on all ranks: it takes the samples of all of them.
    const Expr* graded = nullptr;
    for (const Expr* x : given) {
      const Value v = eval(x);
      if (v.dependsOnSamples() && v.graded) graded = x;
      if (isTensor(x->getType())) cross(x, v, "written");
      else if (v.kind != Kind::BatchSize) host(x);
    }
    if (!graded) return self;
    const Value whole = gatheredWithGradients(graded);
    if (const Expr* object = objectOf(e)) assign(object, whole);
    return whole;
  }
  const auto dim = dimensionOf(e, entry, code_.context());
  const bool keepsRows = entry.index >= 0 ? indices && !indices->empty() && (keepsFirstDimension(indices->front()) || eval(indices->front()).kind == Kind::Sharded)
                                          : dim && *dim != 0;
  if (self.kind == Kind::Unknown || !keepsRows)
    problem(e, self.kind == Kind::Unknown ? self : Value::unknown(e, "single samples of the batch are changed"), "single samples of the batch are changed");
  Value result = self;
  for (const Expr* x : given) result = elementwise(result, eval(x), e);
  if (result.kind == Kind::Sharded && !self.selected) result.selected = false, result.joined = self.joined, result.pieces = self.pieces;  // it has all its rows still
  if (const Expr* object = objectOf(e)) assign(object, result);
  return result;
}

}  // namespace hvdize
