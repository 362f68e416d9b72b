// SPDX-License-Identifier: Apache-2.0
// Kinds of gradients that the program asks for itself: a penalty on the gradients of a critic, the derivatives of an equation.
#include "llvm/ADT/StringSwitch.h"

#include "rewriters/program/evaluate.h"
#include "rewriters/program/host.h"
#include "rewriters/program/own_functions.h"

using namespace clang;

namespace hvdize {

// What has no derivative, or cuts it off.
bool stopsGradient(const Expr* e) {
  if (const auto* o = dyn_cast<CXXOperatorCallExpr>(e)) return o->isComparisonOp();
  const FunctionDecl* f = calleeOf(e);
  return f && f->getDeclName().isIdentifier() &&
         llvm::StringSwitch<bool>(f->getName())
             .Cases("detach", "detach_", "argmax", "argmin", "argsort", "one_hot", true)
             .Cases("eq", "ne", "lt", "le", "gt", "ge", "any", "all", true)
             .Cases("isnan", "isinf", "isfinite", "logical_and", "logical_or", "logical_not", "logical_xor", "isclose", true)
             .Cases("zeros_like", "ones_like", "full_like", "empty_like", "sign", "floor", "ceil", "round", true)
             .Default(false);
}

// `{ NoGradGuard guard; mean.mul_(0.9).add_(x.mean(0), 0.1); }`: no gradient flows through what stands behind the guard in its block. A guard that is given
// a number may be one that switches gradients on.
bool Kinds::withoutGradients(const Expr* e) const {
  const Stmt* below = e;
  for (const Stmt* p = code_.parent(e); p && !isa<LambdaExpr>(p); below = p, p = code_.parent(p)) {
    const auto* block = dyn_cast<CompoundStmt>(p);
    if (!block) continue;
    std::optional<bool> off;
    for (const Stmt* s : block->body()) {
      if (s == below) break;
      const auto* ds = dyn_cast<DeclStmt>(s);
      const auto* v = ds && ds->isSingleDecl() ? dyn_cast<VarDecl>(ds->getSingleDecl()) : nullptr;
      const CXXRecordDecl* type = v ? v->getType()->getAsCXXRecordDecl() : nullptr;
      const Entry* entry = type ? dialect_.lookup(type) : nullptr;
      if (!entry || entry->role != Role::NoGrad) continue;
      const auto* made = v->getInit() ? dyn_cast<CXXConstructExpr>(strip(v->getInit())) : nullptr;
      off = made && llvm::all_of(made->arguments(), [](const Expr* a) { return isa<CXXDefaultArgExpr>(a); });
    }
    if (off) return *off;
  }
  return false;
}

// `p.mutable_grad().div_(tokens)`: gradients of sums that are divided by what grows with the batch, where they are used, are those of a mean.
bool Kinds::dividesGradients(const Expr* e, bool divides) {
  const auto* o = dyn_cast<CXXOperatorCallExpr>(e);
  const auto arguments = argumentsOf(e);
  const Expr* by = o && o->getNumArgs() == 2 ? o->getArg(1) : !o && arguments.size() == 1 ? arguments[0] : nullptr;
  const Expr* of = o ? o->getArg(0) : objectOf(e);
  if (!by || !of || llvm::none_of(definitions_.origins(of), [&](const Expr* x) { return dialect_.is(strip(x), Role::GradRead); })) return false;
  const Value v = eval(by);
  const int power = v.power + (v.kind == Kind::BatchSize || v.kind == Kind::Rows ? 1 : 0);
  return divides ? power > 0 : power < 0;
}

// `p.mutable_grad() = p.grad() / rows`: the new tensor takes the place of the gradient.
bool Kinds::replacesGradient(const Expr* e) const {
  const Stmt* child = e;
  for (const Stmt* p = code_.parent(e); isa_and_nonnull<Expr>(p); child = p, p = code_.parent(p)) {
    const auto* o = dyn_cast<CXXOperatorCallExpr>(p);
    if (!o) {
      if (isa<ImplicitCastExpr, MaterializeTemporaryExpr, CXXBindTemporaryExpr, ParenExpr>(p)) continue;
      return false;
    }
    return o->getOperator() == OO_Equal && o->getNumArgs() == 2 && child == o->getArg(1) &&
           llvm::any_of(definitions_.origins(o->getArg(0)), [&](const Expr* x) { return dialect_.is(strip(x), Role::GradRead); });
  }
  return false;
}

// x.grad() of what is made from the samples, x.grad() of a parameter: the gradients of samples are theirs alone, and weighted as the loss is.
Value Kinds::gradientOf(const Value& tensor) {
  if (!tensor.dependsOnSamples()) return Kind::Uniform;
  Value v = tensor;
  v.graded = v.gradedDivisor = false;
  return v;
}

// Clipped::apply(x, 2.0): passes of the author's, forward and backward.
Value Kinds::evalOwnFunction(const Expr* e) {
  llvm::SmallVector<bool, 4> rows;
  Value v(Kind::Uniform);
  for (const Expr* a : argumentsOf(e)) {
    const Value given = eval(a);
    if (given.kind == Kind::Unknown || given.kind == Kind::RankLocal) return given;
    const bool alike = given.kind == Kind::None || given.kind == Kind::Zero || given.kind == Kind::Uniform;
    const bool plain = alike || (given.kind == Kind::Sharded && !given.joined && !given.selected && !given.listed);
    if (!plain) return Value::unknown(e, "a function with a backward pass of its own is given a value of the whole batch");
    rows.push_back(given.kind == Kind::Sharded);
    v = addValues(v, given, e);
  }
  if (!llvm::is_contained(rows, true) && !settled_) return Kind::None;  // what it is given may not have been looked at yet
  const bool flat = v.flat || v.thin;
  const OwnFunctionResult made = applyOwnFunction(code_, dialect_, e, rows, flat);
  if (!llvm::is_contained(rows, true) && batches_.inStep(e) == 0) return Kind::Uniform;
  if (made.why) return Value::unknown(made.where, made.why);
  if (!made.rows) return Kind::Uniform;
  v.kind = Kind::Sharded;
  v.flat = v.flat && !made.fewer;
  v.thin = v.thin || made.fewer;
  v.graded = true;
  return v;
}

// autograd::grad(outputs, inputs, grad_outputs, ..): with respect to the samples. The output of a sample depends on that sample alone, so a sum
// over them gives each its own gradient, whatever other ranks hold. A mean would give gradients that shrink with the size of the slice.
Value Kinds::evalGradients(const Expr* e) {
  const auto given = argumentsOf(e);
  for (const Expr* a : given) eval(a);
  if (given.size() < 2) return Kind::Uniform;
  const Value outputs = eval(given[0]), inputs = eval(given[1]), factors = given.size() > 2 ? eval(given[2]) : Value();
  if (outputs.isUniform() && factors.isUniform()) {
    if (!inputs.dependsOnSamples()) return Kind::Uniform;
    if (!settled_) return {};  // what a function of the author's returns may come later
    return Value::unknown(e, "what is differentiated does not depend on the samples");
  }
  // The derivative of one of several parts that have a kind of their own is not looked at.
  if (outputs.kind == Kind::Unknown) return outputs;
  if (inputs.isUniform() && !settled_) return {};  // nor are the callers of a helper all known yet
  if (inputs.kind != Kind::Sharded || inputs.selected)
    return Value::unknown(e, "gradients of what depends on the samples, with respect to what all ranks have alike, would stay those of one rank's samples");
  const bool rows = outputs.kind == Kind::Sharded && (factors.isUniform() || factors.kind == Kind::Sharded);
  const bool sum = outputs.kind == Kind::Sum && outputs.power == 0 && factors.isUniform();
  if (!rows && !sum) return Value::unknown(e, "the gradients of a mean over this rank's samples grow as its slice shrinks (differentiate the sum, or give ones as grad_outputs)");
  Value v = inputs;
  v.graded = true;
  return v;
}

// Is a list of gradients, or one of them, only asked for its signs here, maybe by way of another variable? Tensors are changed by constant functions, too.
bool Kinds::isOnlyLookedAt(const Expr* use, unsigned depth) const {
  const Stmt* s = use;
  for (; s; s = code_.parent(s)) {
    if (const VarDecl* v = code_.variableInitialisedBy(s)) return isOnlyRead(v, depth + 1);
    const Stmt* p = code_.parent(s);
    const auto* copy = dyn_cast_or_null<CXXConstructExpr>(p);
    if (!isa_and_nonnull<ImplicitCastExpr, ParenExpr, MemberExpr, MaterializeTemporaryExpr, CXXBindTemporaryExpr, ExprWithCleanups>(p) && !(copy && copy->getNumArgs() == 1)) break;
  }
  const auto* by = s ? dyn_cast_or_null<Expr>(code_.parent(s)) : nullptr;
  if (!by || !calleeOf(by) || !objectOf(by) || strip(objectOf(by)) != strip(use)) return by && takesSigns(by);
  if (takesSigns(by) || calleeName(by) == "size" || calleeName(by) == "empty") return true;
  const bool entry = !isTensor(objectOf(by)->getType()) && isTensor(by->getType());
  return depth < 8 && (entry || keepsTensor(by)) && isOnlyLookedAt(by, depth + 1);
}

bool Kinds::isOnlyRead(const VarDecl* v, unsigned depth) const {
  return depth < 8 && v->isLocalVarDecl() && !v->isStaticLocal() && llvm::all_of(definitions_.uses(v), [&](const Expr* use) { return isOnlyLookedAt(use, depth); });
}

bool Kinds::takesSigns(const Expr* e) const { return calleeName(e) == "sign" || calleeName(e) == "sgn"; }

// autograd::grad(..)[0], also by way of local variables: the call that gives the gradients. Null for anything else.
const Expr* Kinds::gradientsBehind(const Expr* spelled) const {
  const Expr* e = strip(spelled);
  if (!e) return nullptr;
  if (const auto* r = dyn_cast<DeclRefExpr>(e)) {
    const auto* v = dyn_cast_or_null<VarDecl>(declOf(r));
    const bool once = v && v->isLocalVarDecl() && !v->isStaticLocal() && v->getInit() &&
                      llvm::none_of(definitions_.of(v), [&](const Definition& d) { return d.value != v->getInit(); });
    return once && isOnlyRead(v, 0) ? gradientsBehind(v->getInit()) : nullptr;
  }
  if (!calleeOf(e)) return nullptr;
  if (dialect_.is(e, Role::GradOf)) return e;
  const Expr* object = objectOf(e);
  const bool entry = object && !isTensor(object->getType()) && isTensor(e->getType());  // gradients[0], gradients.front()
  return object && (entry || keepsTensor(e)) ? gradientsBehind(object) : nullptr;
}

// autograd::grad({loss}, {x})[0].sign(): a mean over this rank's samples gives each its own gradient, times one positive number. Their signs are those
// of the whole batch.
std::optional<Value> Kinds::evalSigns(const Expr* e, const Expr* of) {
  const Expr* call = takesSigns(e) ? gradientsBehind(of) : nullptr;
  const auto given = call ? argumentsOf(call) : llvm::SmallVector<const Expr*, 4>();
  if (given.size() < 2) return std::nullopt;
  const Value outputs = eval(given[0]), inputs = eval(given[1]), factors = given.size() > 2 ? eval(given[2]) : Value();
  const bool number = outputs.kind == Kind::Mean || outputs.kind == Kind::CountMean || outputs.kind == Kind::Sum;
  if (!number || outputs.gradedDivisor || outputs.earlier || !factors.isUniform()) return std::nullopt;
  if (inputs.kind != Kind::Sharded || inputs.selected || inputs.joined || inputs.listed || inputs.earlier) return std::nullopt;
  Value signs = inputs;
  signs.graded = false, signs.gradedDivisor = false;
  return signs;
}

}  // namespace hvdize
