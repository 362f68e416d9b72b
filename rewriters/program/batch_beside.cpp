// SPDX-License-Identifier: Apache-2.0
// Full-batch training: what stands beside the samples in operations that go row by row.
#include "rewriters/program/batches.h"
#include "rewriters/program/host.h"
#include "rewriters/program/ranks.h"

using namespace clang;

namespace hvdize {

namespace {

// What an operation makes of rows of samples that are no rows of samples any more: their mean, say.
bool joinsRows(const Expr* e, const Dialect& dialect, ASTContext& context) {
  const Entry* entry = calleeOf(e) ? dialect.lookup(e) : nullptr;
  if (!entry || entry->role != Role::Op) return false;
  const bool reduces = entry->op == OpKind::ReduceSum || entry->op == OpKind::ReduceMean || entry->op == OpKind::ReduceMax || entry->op == OpKind::ReduceMin || entry->op == OpKind::ReduceOther;
  return reduces && dimensionOf(e, *entry, context).value_or(0) == 0;
}

bool isNumber(const Expr* e, int wanted, ASTContext& context) {
  Expr::EvalResult r;
  return !e->isValueDependent() && e->getType()->isIntegralOrEnumerationType() && e->EvaluateAsInt(r, context) && r.Val.getInt() == wanted;
}

// tensor({2}), tensor({{1, 2, 3}}): one row in braces.
bool isOneRowInBraces(const Expr* e) {
  for (e = strip(e); e;) {
    if (const auto* list = dyn_cast<CXXStdInitializerListExpr>(e)) e = strip(list->getSubExpr());
    else if (const auto* k = dyn_cast<CXXConstructExpr>(e); k && argumentsOf(k).size() == 1) e = strip(argumentsOf(k)[0]);
    else break;
  }
  const auto* rows = dyn_cast_or_null<InitListExpr>(e);
  return rows && rows->getNumInits() == 1;
}

// A new tensor of one row, or of none: zeros({1}), ones({1, 8}), tensor(0.5).
bool makesOneRow(const Expr* e, const Dialect& dialect, ASTContext& context) {
  const Entry* entry = calleeOf(e) ? dialect.lookup(e) : nullptr;
  const auto arguments = argumentsOf(e);
  if (!entry || arguments.empty()) return false;
  if (entry->shape >= 0 && entry->shape < static_cast<int>(arguments.size())) {
    const auto* none = dyn_cast<CXXConstructExpr>(strip(arguments[entry->shape]));
    if (none && none->getNumArgs() == 0) return true;
    const auto extents = extentsOf(arguments[entry->shape]);
    return extents && (extents->empty() || isNumber(extents->front(), 1, context));
  }
  if (entry->role != Role::Op) return false;
  if (entry->op == OpKind::Factory) return isOneRowInBraces(arguments[0]) || arguments[0]->getType()->isArithmeticType() || strip(arguments[0])->getType()->isArithmeticType();
  return calleeName(e) == "unsqueeze" && isNumber(arguments[0], 0, context);
}

bool goesRowByRow(const Entry* entry) {
  return entry && (entry->role == Role::Access || (entry->role == Role::Op && entry->op == OpKind::Elementwise));
}

}  // namespace

// What a use of a tensor is an operand of, through casts and temporaries, and whether it is its object.
const Expr* Batches::operationOn(const Expr* use) const {
  const Stmt* p = code_.parent(use);
  while (isa_and_nonnull<ImplicitCastExpr, ParenExpr, MaterializeTemporaryExpr, CXXBindTemporaryExpr, MemberExpr>(p)) p = code_.parent(p);
  const auto* e = dyn_cast_or_null<Expr>(p);
  return e && calleeOf(e) ? e : nullptr;
}

// A part of a model, of the author's or of the framework's.
bool Batches::isModulePart(const MemberExpr* m) const {
  const QualType base = m->getBase()->getType();
  return dialect_.is(base->isPointerType() ? base->getPointeeType() : base, Role::Module);
}

// The tensors that a call computes with: the object, and the arguments.
llvm::SmallVector<const Expr*, 4> Batches::tensorsOf(const Expr* call) const {
  llvm::SmallVector<const Expr*, 4> all(argumentsOf(call));
  if (objectOf(call)) all.push_back(objectOf(call));
  llvm::erase_if(all, [&](const Expr* e) { return !dialect_.is(e->getType().getNonReferenceType(), Role::Tensor) && !dialect_.is(strip(e)->getType().getNonReferenceType(), Role::Tensor); });
  return all;
}

// Has the tensor one row, or none, as far as can be seen?
bool Batches::isOneRow(const ValueDecl* d) const {
  bool any = false, all = true;
  for (const Definition& def : definitions_.of(d)) {
    const Expr* made = def.value ? strip(def.value) : nullptr;
    const auto ends = [&] { return makesOneRow(made, dialect_, code_.context()) || joinsRows(made, dialect_, code_.context()); };
    while (made && calleeOf(made) && !ends()) {
      made = goesRowByRow(dialect_.lookup(made)) && objectOf(made) ? strip(objectOf(made)) : nullptr;
    }
    any = true;
    all = all && made && calleeOf(made);
  }
  return any && all;
}

// `x - mean`, of samples with numbers for each feature and the means of the features: it has fewer dimensions than what it is combined with.
bool Batches::isSpread(const Expr* use, unsigned depth) const {
  const Expr* call = depth < 4 ? operationOn(use) : nullptr;
  if (!call || !goesRowByRow(dialect_.lookup(call))) return false;
  auto operands = tensorsOf(call);
  llvm::erase_if(operands, [&](const Expr* o) { return isWithin(code_, use, o); });
  if (operands.empty()) return isSpread(call, depth + 1);
  const TensorRanks ranks(definitions_, dialect_);
  const int own = ranks.exactly(use);
  return own >= 0 && llvm::any_of(operands, [&](const Expr* o) { return ranks.atLeast(o) > own; });
}

// A trained tensor, or what is computed from its numbers one by one, of these extents: `mu`, `rho.exp()` with `rho = full({8}, -1.0, requires_grad())`.
bool Batches::isTrainedLike(const Expr* e, llvm::ArrayRef<const Expr*> extents, unsigned depth) const {
  e = strip(e);
  if (!e || depth > 6) return false;
  const auto again = [&](const Expr* x) { return isTrainedLike(x, extents, depth + 1); };
  if (const ValueDecl* d = isa<DeclRefExpr, MemberExpr>(e) ? declOf(e) : nullptr; d && !isa<FunctionDecl>(d)) {
    const auto made = [&](const Definition& def) {
      bool trained = false, alike = false;
      forEachExpr(def.value, [&](const Expr* x) {
        const llvm::StringRef name = calleeName(x);
        trained = trained || name == "requires_grad" || name == "requires_grad_" || name == "register_parameter";
        const Entry* entry = calleeOf(x) ? dialect_.lookup(x) : nullptr;
        const auto arguments = argumentsOf(x);
        if (!entry || entry->shape < 0 || entry->shape >= static_cast<int>(arguments.size()) || inStep(x) > 0) return;
        const auto own = extentsOf(strip(arguments[entry->shape]));
        if (!own || own->size() != extents.size() || own->empty()) return;
        const auto *a = dyn_cast<IntegerLiteral>(strip(own->front())), *b = dyn_cast<IntegerLiteral>(strip(extents.front()));
        const ValueDecl *c = declOf(strip(own->front())), *f = declOf(strip(extents.front()));
        alike = alike || (a && b && a->getValue() == b->getValue() && a->getValue() != 1) || (c && c == f);
      });
      return trained && alike;
    };
    return llvm::any_of(definitions_.of(d), [&](const Definition& def) { return def.value && !def.compound && (made(def) || again(def.value)); });
  }
  return calleeOf(e) && goesRowByRow(dialect_.lookup(e)) && llvm::any_of(tensorsOf(e), again);
}

// `mu + rho.exp() * randn({8})`: noise for what is trained, one draw for all samples of the step.
bool Batches::meetsTrained(const Expr* draw, llvm::ArrayRef<const Expr*> extents) const {
  llvm::SmallVector<const Expr*, 4> uses{draw};
  for (const Stmt* p = draw; isa_and_nonnull<Expr>(p); p = code_.parent(p))
    if (const VarDecl* v = code_.variableInitialisedBy(p); v && strip(v->getInit()) == draw) uses.append(definitions_.uses(v).begin(), definitions_.uses(v).end());
  for (const Expr* use : uses)
    for (unsigned depth = 0; depth < 6 && use; ++depth) {
      const Expr* call = operationOn(use);
      if (!call || !goesRowByRow(dialect_.lookup(call))) break;
      for (const Expr* o : tensorsOf(call))
        if (!isWithin(code_, use, o) && isTrainedLike(o, extents, 0)) return true;
      use = call;
    }
  return false;
}

// x[i] in a loop within the step, which begins anew in every one: a single sample, and no batch.
bool Batches::isRowOfInnerLoop(const Expr* row, Trace& t) const {
  const auto arguments = argumentsOf(row);
  if ((!isa<CXXOperatorCallExpr>(row) && calleeName(row) != "select") || arguments.empty()) return false;
  const Expr* index = strip(arguments.back());
  llvm::DenseSet<const void*> seen;
  if (!index->getType()->isIntegerType() || !varies(index, t, seen) || !countsAnew(index, t)) return false;
  const Expr* as = operationOn(row);  // x[i].unsqueeze(0)
  const bool alone = as && calleeName(as) == "unsqueeze" && objectOf(as) && strip(objectOf(as)) == row && argumentsOf(as).size() == 1 && isNumber(argumentsOf(as)[0], 0, code_.context());
  return alone || TensorRanks(definitions_, dialect_).exactly(row) == 1;
}

// No samples were seen in the tensor. May it have a row for each of them all the same? Samples with `dimensions` dimensions stand beside it.
bool Batches::mayHaveRows(const Expr* e, int dimensions, llvm::DenseSet<const void*>& seen) const {
  e = strip(e);
  if (!e || !dialect_.is(e->getType().getNonReferenceType(), Role::Tensor)) return false;
  if (const int own = TensorRanks(definitions_, dialect_).exactly(e); own >= 0 && own < dimensions) return false;
  if (!seen.insert(e).second) return false;  // as is found where it was asked first
  const auto may = [&](const Expr* x) { return mayHaveRows(x, dimensions, seen); };
  if (const auto* c = dyn_cast<ConditionalOperator>(e)) return may(c->getTrueExpr()) || may(c->getFalseExpr());
  if (const ValueDecl* d = isa<DeclRefExpr, MemberExpr>(e) ? declOf(e) : nullptr; d && !isa<FunctionDecl>(d)) {
    if (isSystemDecl(d) || dialect_.owns(d)) return false;  // of a layer: its sizes are those of features
    if (!seen.insert(d).second) return false;
    bool known = false, rows = false;
    for (const Definition& def : definitions_.of(d)) {
      if (def.compound || def.through) continue;  // b -= rate * b.grad(): it stays as large as it is
      known = known || def.value;
      rows = rows || !def.value || may(def.value);
    }
    return !known || rows;
  }
  if (!calleeOf(e)) return true;
  const Entry* entry = dialect_.lookup(e);
  if (!entry) {
    const auto targets = code_.targets(e);
    return targets.empty() || llvm::any_of(targets, [&](const FunctionDecl* f) { return llvm::any_of(definitions_.returns(f), may); });
  }
  if (makesOneRow(e, dialect_, code_.context()) || joinsRows(e, dialect_, code_.context())) return false;
  if (entry->shape >= 0 || entry->role == Role::RandomDraw) return true;
  if (entry->op == OpKind::Factory) return true;
  auto operands = tensorsOf(e);
  if (entry->op == OpKind::Matmul && operands.size() > 1) operands = {objectOf(e) ? objectOf(e) : operands.front()};
  return operands.empty() || llvm::any_of(operands, may);
}

// Whole tensors that stand beside samples in an operation that goes row by row: their rows are samples, too. What is trained, or of unknown size,
// may not have as many rows: a rank with a single row would not notice.
void Batches::findBesideAllData() {
  Trace t;
  t.all = true;
  t.items = sameItems_;
  for (const HandLoop& h : handLoops_) t.loops.push_back(h.loop);
  const TensorRanks ranks(definitions_, dialect_);
  const auto plain = [&](const Expr* e) {
    e = strip(e);
    while (e && calleeOf(e) && objectOf(e) && !isAllData(e, t)) {
      const Entry* entry = dialect_.lookup(e);
      if (!goesRowByRow(entry) && !(entry && entry->role == Role::Op && entry->op == OpKind::Reshape)) return static_cast<const Expr*>(nullptr);
      e = strip(objectOf(e));
    }
    return e && isAllData(e, t) ? e : nullptr;
  };
  const auto hasSamples = [&](const Expr* e) {
    Trace own = t;
    own.found.clear();
    own.seen.clear();
    inputs(e, own);
    return llvm::any_of(own.found, [&](const Expr* x) { return shards_.count(x) || (isa<DeclRefExpr, MemberExpr>(x) && allData_.count(declOf(x))); });
  };
  const auto goesBeside = [&](const Site& s, Role role) {
    if (role == Role::Loss) return true;
    if (role == Role::Op) return s.entry->op == OpKind::Elementwise || s.entry->op == OpKind::Rowwise || s.entry->op == OpKind::Assign;
    return s.entry->batchFirst.empty();  // layers, among them losses, that get several tensors; those over sequences get states and masks as well
  };
  for (const Role role : {Role::Op, Role::Loss, Role::Forward})
    for (const Site& s : sites_.of(role)) {
      if (!goesBeside(s, role) || inStep(s.call) == 0) continue;
      const auto arguments = argumentsOf(s.call);
      llvm::SmallVector<const Expr*, 4> operands, samples;
      for (const Expr* o : tensorsOf(s.call)) {
        const bool ofClasses = llvm::any_of(s.entry->countedArgs, [&](int i) { return i < static_cast<int>(arguments.size()) && arguments[i] == o; });
        const bool layer = role != Role::Op && o == objectOf(s.call);
        if (!ofClasses && !layer) (hasSamples(o) ? samples : operands).push_back(o);
      }
      int dimensions = 0;
      llvm::erase_if(samples, [&](const Expr* o) { return ranks.exactly(o) == 0; });
      if (samples.empty()) continue;
      for (const Expr* o : samples) dimensions = std::max(dimensions, ranks.atLeast(o));
      for (const Expr* o : operands) {
        if (const int own = ranks.exactly(o); own >= 0 && own < dimensions) continue;  // weights of classes, means of features
        if (const Expr* beside = plain(o); beside && isOfCutObject(beside)) allData_.insert(declOf(beside));
        else if (llvm::DenseSet<const void*> seen; mayHaveRows(o, dimensions, seen)) problems_.push_back({BatchProblem::What::Beside, o});
      }
    }
}

}  // namespace hvdize
