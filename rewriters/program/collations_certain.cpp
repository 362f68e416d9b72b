// SPDX-License-Identifier: Apache-2.0
// What mixes the samples of a batch where it is made, for certain: a value that is handed on from one sample to the next, a number of the sample's place,
// samples beside others, numbers of all of them. A rank makes the batch of its own samples only, and that would be another one.
#include "clang/AST/StmtCXX.h"

#include "rewriters/program/collations.h"
#include "rewriters/program/host.h"

using namespace clang;

namespace hvdize {

namespace {

// What the expression gives another value: the target of an assignment or an increment, or the tensor that a method changes in place.
const Expr* targetOf(const Expr* e, const Dialect& dialect) {
  if (const auto* u = dyn_cast<UnaryOperator>(e)) return u->isIncrementDecrementOp() ? u->getSubExpr() : nullptr;
  if (const auto* b = dyn_cast<BinaryOperator>(e)) return b->isAssignmentOp() ? b->getLHS() : nullptr;
  const auto* o = dyn_cast<CXXOperatorCallExpr>(e);
  if (o && (o->isAssignmentOp() || o->getOperator() == OO_PlusPlus || o->getOperator() == OO_MinusMinus)) return o->getArg(0);
  const Entry* entry = calleeOf(e) && !o ? dialect.lookup(e) : nullptr;
  return entry && entry->role == Role::Op && entry->op == OpKind::Assign ? objectOf(e) : nullptr;
}

// Is the number only the place where something is put, or found?
bool isPosition(const AuthorCode& code, const Dialect& dialect, const Expr* use) {
  for (const Stmt *below = use, *p = code.parent(use); isa_and_nonnull<Expr>(p); below = p, p = code.parent(p)) {
    const auto* e = cast<Expr>(p);
    const auto* cast = dyn_cast<CastExpr>(e);
    if (cast && cast->getCastKind() == CK_IntegralToFloating) return false;
    if (const auto* a = dyn_cast<ArraySubscriptExpr>(e)) return a->getIdx() == below;
    if (const auto* o = dyn_cast<CXXOperatorCallExpr>(e); o && o->getOperator() == OO_Subscript) return o->getNumArgs() == 2 && o->getArg(1) == below;
    if (e->getType()->isPointerType()) return true;
    const Entry* entry = isa<CallExpr>(e) ? dialect.lookup(e) : nullptr;
    if (entry && entry->role == Role::Op && (entry->op == OpKind::Select || entry->op == OpKind::Assign || entry->op == OpKind::Scatter)) return true;
    if (isa<CallExpr>(e) && calleeName(e) == "at") return true;
  }
  return false;
}

// Does the statement only give numbers of its own a value: `if (length > longest) longest = length;`?
bool onlyNumbers(const Stmt* s) {
  if (!s) return true;
  if (const auto* block = dyn_cast<CompoundStmt>(s)) return llvm::all_of(block->body(), onlyNumbers);
  const auto* e = dyn_cast<Expr>(s);
  const auto* b = e ? dyn_cast<BinaryOperator>(strip(e)) : nullptr;
  const auto* u = e ? dyn_cast<UnaryOperator>(strip(e)) : nullptr;
  return (b && b->isAssignmentOp() && b->getType()->isArithmeticType()) || (u && u->isIncrementDecrementOp());
}

}  // namespace

// Is the variable of a loop that runs once for each sample read as a number, and not to find the sample?
const Expr* Collations::placeAsNumber(const ForStmt* loop) const {
  const Expr* found = nullptr;
  if (runsOnceEach(loop, 0) && isa_and_nonnull<DeclStmt>(loop->getInit()))
    forEachExpr(loop->getBody(), [&](const Expr* e) {
      const auto* cast = dyn_cast<CastExpr>(e);
      if (found || !cast || cast->getCastKind() != CK_IntegralToFloating) return;
      const auto* v = dyn_cast<VarDecl>(llvm::cast<DeclStmt>(loop->getInit())->getSingleDecl());
      for (const Expr* use : definitions_.uses(v))
        if (isWithin(code_, use, cast) && !isPosition(code_, dialect_, use)) found = e;
    });
  return found;
}

// The use of a variable of the function by which something of one sample, or of how many came before, goes into the next one; null where there is none.
const Expr* Collations::handedFrom(const VarDecl* v, const Stmt* loop) const {
  const DeclStmt* declared = code_.declStmt(v);
  if (!v->isLocalVarDecl() || v->isStaticLocal() || v->getType()->isReferenceType() || !declared || isWithin(code_, declared, loop)) return nullptr;
  const QualType t = v->getType();
  const bool engine = isRandomEngine(t), number = t->isArithmeticType(), tensor = dialect_.is(t, Role::Tensor);
  // What remembers samples: `bool seen[3]`, std::set<int>. Asked in a condition, it decides over the next one.
  const bool remembers = t->isConstantArrayType() || (isStdRecord(t) && !isText(t) && !isDistribution(t));
  if (!engine && !number && !tensor && !remembers) return nullptr;
  bool changed = false;
  llvm::SmallVector<const Expr*, 4> reads;
  for (const Expr* use : definitions_.uses(v)) {
    if (!isWithin(code_, use, loop)) continue;
    if (engine) return use;
    bool own = false;  // of a statement that gives it another value
    for (const Stmt* p = use; isa_and_nonnull<Expr>(p); p = code_.parent(p)) {
      const Expr* target = targetOf(cast<Expr>(p), dialect_);
      if (target && isWithin(code_, use, target) && rootOf(target) == v) {
        changed = true;
        own = own || isWholeStatement(code_, cast<Expr>(p)) || !number;
      } else if (target && rootOf(target) == v) {
        own = true;  // last = cat({last, x}), longest = std::max(longest, n)
      }
      const auto* call = remembers ? dyn_cast<CXXMemberCallExpr>(p) : nullptr;
      const llvm::StringRef name = call && objectOf(call) && isWithin(code_, use, objectOf(call)) ? calleeName(call) : llvm::StringRef();
      if (name == "insert" || name == "emplace") changed = true;
    }
    if (!own) reads.push_back(use);
  }
  if (!changed) return nullptr;
  for (const Expr* use : reads) {
    const auto* branch = dyn_cast_or_null<IfStmt>(code_.parent(use));
    for (const Stmt* p = use; isa_and_nonnull<Expr>(p); p = code_.parent(p)) branch = dyn_cast_or_null<IfStmt>(code_.parent(p));
    if (branch && isWithin(code_, use, branch->getCond())) {
      // `if (first) { all = x; first = false; } else all = cat({all, x});`
      const auto givesIt = [&](const Stmt* s) {
        bool gives = false;
        if (s) forEachExpr(s, [&](const Expr* e) { if (const Expr* target = targetOf(e, dialect_)) gives = gives || rootOf(target) == v; });
        return gives;
      };
      if (givesIt(branch->getThen()) || givesIt(branch->getElse()) || (onlyNumbers(branch->getThen()) && onlyNumbers(branch->getElse()))) continue;
      return use;
    }
    if (remembers) continue;
    if (tensor && !asksShape(use)) return use;
    if (number && t->isIntegralOrEnumerationType() && !t->isBooleanType()) {
      const auto floating = [&] {
        for (const Stmt* p = code_.parent(use); isa_and_nonnull<Expr>(p); p = code_.parent(p)) {
          const auto* cast = dyn_cast<CastExpr>(p);
          if (cast && (cast->getCastKind() == CK_IntegralToFloating || cast->getCastKind() == CK_IntegralToBoolean)) return true;
          if (isa<ConditionalOperator>(p)) return true;
        }
        return false;
      };
      if (!isPosition(code_, dialect_, use) && floating()) return use;
      continue;
    }
    if (number) return use;
  }
  return nullptr;
}

// Rows of all samples that the function is given, also as the framework's own data set stacks them: `auto b = Dataset::get_batch(indices);`.
bool Collations::batchRows(const Expr* tensor, unsigned depth) const {
  const Expr* e = strip(tensor);
  if (rows(e, 0)) return true;
  const auto* m = dyn_cast<MemberExpr>(e);
  const auto* v = m && isa<DeclRefExpr>(strip(m->getBase())) ? dyn_cast_or_null<VarDecl>(declOf(strip(m->getBase()))) : nullptr;
  if (const Expr* made = v && v->getInit() ? strip(v->getInit()) : nullptr) return calleeOf(made) && dialect_.owns(calleeOf(made)) && calleeName(made) == "get_batch";
  const auto* p = isa<DeclRefExpr>(e) ? dyn_cast_or_null<ParmVarDecl>(declOf(e)) : nullptr;
  if (!p || depth > 4) {
    // t.abs(), x.to(kDouble): row by row of the same rows
    const Entry* entry = calleeOf(e) ? dialect_.lookup(e) : nullptr;
    return entry && entry->role == Role::Op && entry->op == OpKind::Elementwise && objectOf(e) && depth <= 4 && batchRows(objectOf(e), depth + 1);
  }
  const auto given = givenTo(p);
  return !given.empty() && llvm::all_of(given, [&](const Definition& by) { return by.value && !by.compound && batchRows(by.value, depth + 1); });
}

// A tensor of numbers of all samples, or one such number: x.mean(0), x.abs().max(), behind views and variables.
bool Collations::ofAllSamples(const Expr* e, unsigned depth) const {
  e = e ? strip(e) : nullptr;
  if (!e || depth > 8) return false;
  if (const auto* v = isa<DeclRefExpr>(e) ? dyn_cast_or_null<VarDecl>(declOf(e)) : nullptr)
    return v->isLocalVarDecl() && v->getInit() && definitions_.of(v).size() == 1 && ofAllSamples(v->getInit(), depth + 1);
  const Entry* entry = calleeOf(e) ? dialect_.lookup(e) : nullptr;
  if (!entry || (entry->role != Role::Op && entry->role != Role::Access)) return false;
  const Expr* object = objectOf(e) ? objectOf(e) : argumentsOf(e).empty() ? nullptr : argumentsOf(e)[0];
  switch (entry->op) {
    case OpKind::ReduceSum:
    case OpKind::ReduceMean:
    case OpKind::ReduceMax:
    case OpKind::ReduceMin:
    case OpKind::ReduceOther: {
      const auto arguments = argumentsOf(e);
      const bool named = entry->dim >= 0 && entry->dim < static_cast<int>(arguments.size()) && !isa<CXXDefaultArgExpr>(arguments[entry->dim]);
      return object && batchRows(object, 0) && (!named || dimensionOf(e, *entry, code_.context()) == 0);
    }
    default:
      return object && dialect_.is(object->getType(), Role::Tensor) && ofAllSamples(object, depth + 1);
  }
}

std::vector<Mixing> Collations::mixing() const {
  std::vector<Mixing> out;
  const auto add = [&](const Expr* at, const char* why) {
    if (llvm::none_of(out, [&](const Mixing& m) { return m.at == at; })) out.push_back({at, why});
  };
  for (const Function& f : code_.functions()) {
    if (!making_.contains(f.decl->getCanonicalDecl())) continue;
    llvm::SmallVector<const Stmt*, 4> loops;
    llvm::SetVector<const VarDecl*> variables;
    // A loop inside one over the samples is one over parts of a sample.
    const auto look = [&](auto&& self, const Stmt* s, bool inside) -> void {
      if (!s) return;
      const auto* r = dyn_cast<CXXForRangeStmt>(s);
      const auto* l = dyn_cast<ForStmt>(s);
      const bool each = !inside && ((r && depends(r->getRangeInit())) || (l && runsOnceEach(l, 0)));
      if (each) loops.push_back(s);
      if (l && each) {
        if (const Expr* at = placeAsNumber(l)) add(at, "it is the place of a sample in the batch, and on a rank its samples have other places (use the number of the sample in the data)");
      }
      if (const auto* d = dyn_cast<DeclStmt>(s))
        for (const Decl* x : d->decls())
          if (const auto* v = dyn_cast<VarDecl>(x)) variables.insert(v);
      for (const Stmt* c : s->children()) self(self, c, inside || each);
    };
    look(look, f.body, false);
    for (const Stmt* loop : loops)
      for (const VarDecl* v : variables)
        if (const Expr* use = handedFrom(v, loop)) add(use, "it goes from one sample of a batch on to the next, and a rank has some of them only (make it a function of the sample)");
    forEachExpr(f.body, [&](const Expr* e) {
      const Entry* entry = calleeOf(e) ? dialect_.lookup(e) : nullptr;
      const bool combines = entry && entry->role == Role::Op && (entry->op == OpKind::Elementwise || entry->op == OpKind::Scale || entry->op == OpKind::Assign);
      if (!combines) return;
      llvm::SmallVector<const Expr*, 4> operands;
      if (const Expr* object = objectOf(e)) operands.push_back(object);
      for (const Expr* a : argumentsOf(e)) operands.push_back(a);
      const bool each = llvm::any_of(operands, [&](const Expr* x) { return dialect_.is(x->getType(), Role::Tensor) && depends(x) && batchRows(x, 0); });
      const auto all = llvm::find_if(operands, [&](const Expr* x) { return ofAllSamples(x, 0); });
      if (each && all != operands.end()) add(*all, "it is made of all samples of a batch, and a rank has some of them only (make it in the step, where it can be combined over ranks)");
    });
  }
  for (const ValueDecl* list : lists_)
    for (const Expr* use : definitions_.uses(list)) {
      const Stmt* p = code_.parent(use);
      while (isa_and_nonnull<ImplicitCastExpr, ParenExpr>(p)) p = code_.parent(p);
      const auto* o = dyn_cast_or_null<CXXOperatorCallExpr>(p);
      if (!o || o->getOperator() != OO_Subscript || o->getNumArgs() != 2 || strip(o->getArg(0)) != strip(use) || asksShape(o)) continue;
      const Expr* at = strip(o->getArg(1));
      while (const auto* cast = dyn_cast<CastExpr>(at)) at = strip(cast->getSubExpr());
      bool next = false;  // samples[(k + 1) % samples.size()]
      if (const auto* b = dyn_cast<BinaryOperator>(at)) forEachExpr(b, [&](const Expr* x) { next = next || (isa<DeclRefExpr>(x) && inLoopOver(x, o)); });
      if (next) add(o, "it is another sample of the batch, which another rank may have");
    }
  return out;
}

// Is this the variable of a loop over the samples around `at`?
bool Collations::inLoopOver(const Expr* mention, const Stmt* at) const {
  for (const Stmt* p = at; p; p = code_.parent(p)) {
    const auto* loop = dyn_cast<ForStmt>(p);
    const auto* declared = loop ? dyn_cast_or_null<DeclStmt>(loop->getInit()) : nullptr;
    if (declared && declOf(mention) && llvm::is_contained(declared->decls(), static_cast<const Decl*>(declOf(mention)))) return loop->getCond() && depends(loop->getCond());
  }
  return false;
}

}  // namespace hvdize
