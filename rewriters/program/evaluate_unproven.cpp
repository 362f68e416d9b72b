// SPDX-License-Identifier: Apache-2.0
// Numbers that are made of the size of a batch in a way that says nothing of how they follow it. A loss that is multiplied with one, or divided by one,
// may be a sum or a mean: the rule for the learning rate is then not known.
#include "clang/AST/StmtCXX.h"

#include "rewriters/program/evaluate.h"
#include "rewriters/program/host.h"

using namespace clang;

namespace hvdize {

namespace {

constexpr unsigned kDeepest = 24;

bool isComparison(const Expr* e) {
  if (const auto* b = dyn_cast<BinaryOperator>(e)) return b->isComparisonOp() || b->isLogicalOp();
  const auto* o = dyn_cast<CXXOperatorCallExpr>(e);
  return o && o->isComparisonOp();
}

}  // namespace

// Does the size of the batch, or a count of its rows, go into it, whatever is done with it there? What chooses between numbers, or an item of a list, does
// not, and how far training has come is the same for every size.
bool Kinds::flowsFromBatch(const Expr* e, llvm::DenseSet<const void*>& seen, unsigned depth) {
  e = strip(e);
  if (!e || depth > kDeepest || !seen.insert(e).second) return false;
  if (batchSizes_.contains(e)) return true;
  if (isa<LambdaExpr>(e) || isComparison(e)) return false;
  if (const ValueDecl* d = declOf(e); d && !isa<FunctionDecl>(d)) {
    if (progressOf(d) != Progress::None) return false;
    const bool number = d->getType().getNonReferenceType()->isArithmeticType();
    if (const Value v = decls_.lookup(d); number && (v.kind == Kind::Rows || v.kind == Kind::BatchSize)) return true;
    if (!seen.insert(d).second) return false;
    return llvm::any_of(definitions_.of(d), [&](const Definition& def) { return def.value && flowsFromBatch(def.value, seen, depth + 1); });
  }
  if (e->getType()->isArithmeticType() && (isa<CallExpr>(e) || isa<BinaryOperator>(e))) {
    const Value v = eval(e);
    if (v.kind == Kind::Rows || v.kind == Kind::BatchSize) return true;
    if (v.dependsOnSamples()) return false;
  }
  if (const auto* c = dyn_cast<ConditionalOperator>(e)) return flowsFromBatch(c->getTrueExpr(), seen, depth + 1) || flowsFromBatch(c->getFalseExpr(), seen, depth + 1);
  if (const auto* a = dyn_cast<ArraySubscriptExpr>(e)) return flowsFromBatch(a->getBase(), seen, depth + 1);
  if (const auto* o = dyn_cast<CXXOperatorCallExpr>(e); o && o->getOperator() == OO_Subscript) return flowsFromBatch(o->getArg(0), seen, depth + 1);
  if (isTensor(e->getType()) && eval(e).dependsOnSamples()) return false;  // what samples give is reduced with them
  for (const FunctionDecl* f : code_.targets(e))
    if (llvm::any_of(definitions_.returns(f), [&](const Expr* r) { return flowsFromBatch(r, seen, depth + 1); })) return true;
  for (const Stmt* c : e->children())
    if (const auto* x = dyn_cast_or_null<Expr>(c); x && flowsFromBatch(x, seen, depth + 1)) return true;
  return false;
}

// A running total of samples, or what one was before.
bool Kinds::countsSamplesSoFar(const Expr* e) {
  for (unsigned depth = 0; depth < 3; ++depth) {
    const ValueDecl* d = declOf(strip(e));
    if (!d || isa<FunctionDecl>(d)) return false;
    if (progressOf(d) == Progress::Samples) return true;
    const Expr* next = nullptr;
    for (const Definition& def : definitions_.of(d))
      if (def.value && !def.compound && declOf(strip(def.value))) next = def.value;
    if (!next) return false;
    e = next;
  }
  return false;
}

// Is the power of this number, which is said to be zero, only what is assumed of numbers of which nothing is known? `number`: a value with a kind of its
// own where it is an operand of what is understood.
bool Kinds::isUnproven(const Expr* number, llvm::DenseSet<const void*>& seen, unsigned depth) {
  number = strip(number);
  if (!number || depth > kDeepest || !seen.insert(number).second) return false;
  const auto part = [&](const Expr* e) {
    const Value v = eval(e);
    const bool open = v.kind == Kind::Uniform && v.power == 0 && !v.mixed && !v.steps;
    return open && isUnproven(e, seen, depth + 1);
  };
  if (const auto* cast = dyn_cast<ExplicitCastExpr>(number)) return part(cast->getSubExpr());
  if (const auto* u = dyn_cast<UnaryOperator>(number); u && u->isArithmeticOp()) return part(u->getSubExpr());
  if (const auto* c = dyn_cast<ConditionalOperator>(number)) return part(c->getTrueExpr()) || part(c->getFalseExpr());
  if (const auto* b = dyn_cast<BinaryOperator>(number)) {
    if (b->getOpcode() == BO_Sub && countsSamplesSoFar(b->getLHS()) && countsSamplesSoFar(b->getRHS())) return true;  // seen - seen_before
    return !isComparison(b) && (part(b->getLHS()) || part(b->getRHS()));
  }
  if (const ValueDecl* d = declOf(number); d && !isa<FunctionDecl>(d)) {
    if (!d->getType().getNonReferenceType()->isArithmeticType() || progressOf(d) != Progress::None) return false;
    if (!seen.insert(d).second) return false;
    return llvm::any_of(definitions_.of(d), [&](const Definition& def) { return def.value && def.value->getType()->isArithmeticType() && part(def.value); });
  }
  // sizes[0] of a list that is written out: its item has been found.
  const auto* item = dyn_cast<CXXOperatorCallExpr>(number);
  const bool subscript = item && item->getOperator() == OO_Subscript && item->getNumArgs() == 2;
  if (subscript && itemOfNumbers(number, item->getArg(0), item->getArg(1))) return false;
  if (const auto* a = dyn_cast<ArraySubscriptExpr>(number); a && itemOfNumbers(number, a->getBase(), a->getIdx())) return false;
  const auto targets = code_.targets(number);
  for (const FunctionDecl* f : targets)
    if (llvm::any_of(definitions_.returns(f), part)) return true;
  if (!targets.empty()) return false;
  // yb.accessor<double, 2>().size(0)
  if (const Expr* object = objectOf(number); object && calleeName(number) == "size" && !isTensor(object->getType()))
    for (const Expr* o : definitions_.origins(object)) {
      const Entry* entry = calleeOf(o) ? dialect_.lookup(o) : nullptr;
      if (entry && entry->role == Role::Op && entry->op == OpKind::DataPointer && objectOf(o) && eval(objectOf(o)).kind == Kind::Sharded) return true;
    }
  // std::min(1.0, step / total)
  if (const FunctionDecl* f = calleeOf(number); f && isSystemDecl(f) && !dialect_.owns(f) && isa<CallExpr>(number) && !objectOf(number) && !item && keepsPower(calleeName(number)))
    return llvm::any_of(argumentsOf(number), part);
  llvm::DenseSet<const void*> followed;
  return flowsFromBatch(number, followed, depth + 1);
}

// The product or quotient `v` of a value of the batch and a number, where how that number follows the size of the batch is not proven.
Value Kinds::provenPower(Value v, llvm::ArrayRef<Value> of, llvm::ArrayRef<const Expr*> spelled) {
  if (batchSizes_.empty() || !(refining_ || settled_) || v.mixed || (v.kind != Kind::Sum && v.kind != Kind::Sharded) || of.size() != 2) return v;
  for (unsigned i : {0u, 1u}) {
    const Value& number = of[i];
    if (!of[1 - i].dependsOnSamples() || number.kind != Kind::Uniform || number.power != 0 || number.mixed || number.steps || !strip(spelled[i])->getType()->isArithmeticType()) continue;
    llvm::DenseSet<const void*> seen;
    v.mixed = isUnproven(spelled[i], seen, 0);
  }
  return v;
}

// `last - first` of iterators, std::distance(first, last): the positions in the same list, `first = order.begin() + i`.
bool Kinds::countsBetweenIterators(const Expr* end, const Expr* begin) {
  const auto position = [&](const Expr* e) -> std::pair<const ValueDecl*, const Expr*> {
    e = strip(e);
    for (unsigned depth = 0; depth < 3; ++depth) {
      const auto* v = isa<DeclRefExpr>(e) ? dyn_cast_or_null<VarDecl>(declOf(e)) : nullptr;
      const auto given = v && !isa<ParmVarDecl>(v) ? definitions_.of(v) : llvm::ArrayRef<Definition>();
      if (given.size() != 1 || !given[0].value || given[0].compound || given[0].through) break;
      e = strip(given[0].value);
    }
    const auto* sum = dyn_cast<CXXOperatorCallExpr>(e);
    if (!sum || sum->getOperator() != OO_Plus || sum->getNumArgs() != 2) return {};
    const Expr* base = strip(sum->getArg(0));
    const bool starts = objectOf(base) && isStdRecord(objectOf(base)->getType()) && (calleeName(base) == "begin" || calleeName(base) == "cbegin");
    return {starts ? declOf(objectOf(base)) : nullptr, strip(sum->getArg(1))};
  };
  const auto [list, from] = position(begin);
  const auto [same, to] = position(end);
  return list && list == same && countsBetween(to, from);
}

// The positions of a batch, `arange(i, min(i + size, n))`: how many they are.
bool Kinds::listsPositions(const Expr* tensor) {
  const auto made = definitions_.origins(tensor);
  if (made.size() != 1) return false;
  const Entry* entry = calleeOf(made[0]) ? dialect_.lookup(made[0]) : nullptr;
  const auto arguments = argumentsOf(made[0]);
  return entry && entry->role == Role::Op && entry->op == OpKind::Factory && calleeName(made[0]) == "arange" && arguments.size() >= 2 && countsBetween(strip(arguments[1]), strip(arguments[0]));
}

}  // namespace hvdize
