// SPDX-License-Identifier: Apache-2.0
// Rows that a step takes by the positions of its batch from a tensor which all ranks have whole: `worth.index_select(0, arange(i, end))`. Where
// they meet samples, this rank's are cut out.
#include "clang/AST/StmtCXX.h"

#include "rewriters/program/data_draws.h"
#include "rewriters/program/evaluate.h"
#include "rewriters/program/host.h"

using namespace clang;

namespace hvdize {

// Does the variable count from step to step: that of the loop's head, or a cursor that the loop moves on?
static bool movesOn(const VarDecl* v, const Stmt* loop, const Definitions& definitions, const AuthorCode& code) {
  if (!v->getType()->isIntegerType()) return false;
  if (const auto* range = dyn_cast<CXXForRangeStmt>(loop)) return range->getLoopVariable() == v;
  const Stmt* declared = code.declStmt(v);
  if (declared && isWithin(code, declared, loopBody(loop))) return false;
  return llvm::any_of(definitions.of(v), [&](const Definition& def) { return def.compound && def.value && isWithin(code, def.value, loop); }) ||
         llvm::any_of(definitions.uses(v), [&](const Expr* use) {
           const auto* moved = dyn_cast_or_null<UnaryOperator>(code.parent(use));
           return moved && moved->isIncrementDecrementOp() && isWithin(code, moved, loop);
         });
}

// Is one row taken: `slice(0, i, i + 1)`, `narrow(0, i, 1)`? It goes with every sample.
static bool takesOneRow(llvm::ArrayRef<const Expr*> arguments, llvm::StringRef name) {
  const auto isOne = [](const Expr* e) {
    const auto* one = dyn_cast<IntegerLiteral>(strip(e));
    return one && one->getValue() == 1;
  };
  const Expr* last = arguments.empty() ? nullptr : strip(arguments.back());
  if (name == "narrow") return last && isOne(last);
  const auto* sum = dyn_cast_or_null<BinaryOperator>(last);
  return sum && sum->getOpcode() == BO_Add && isOne(sum->getRHS());
}

// `cat({x, y})` and what a network makes of it, taken apart again: chunk(2), split(x.size(0)), slice(0, 0, x.size(0)). A piece has this rank's
// rows, in their order.
bool Kinds::takesPiece(const Expr* e, const Value& v) {
  if (!v.joined || v.selected || v.pieces < 2) return false;
  const auto arguments = argumentsOf(e);
  const unsigned first = objectOf(e) ? 0 : 1;
  const auto at = [&](unsigned i) { return first + i < arguments.size() && !isa<CXXDefaultArgExpr>(arguments[first + i]) ? strip(arguments[first + i]) : nullptr; };
  const auto number = [&](const Expr* x) -> std::optional<int64_t> {
    Expr::EvalResult r;
    if (!x || x->isValueDependent() || !x->getType()->isIntegralOrEnumerationType() || !x->EvaluateAsInt(r, code_.context())) return std::nullopt;
    return r.Val.getInt().getExtValue();
  };
  const auto isRows = [&](const Expr* x) {
    if (!x) return false;
    const Value rows = eval(x);
    return rows.kind == Kind::Rows && !rows.joined;
  };
  const llvm::StringRef name = calleeName(e);
  if (name == "chunk") return number(at(0)) == v.pieces;
  if (name == "split") return isRows(at(0));
  if (name == "narrow") return isRows(at(2)) && (number(at(1)) == 0 || isRows(at(1)));
  if (name != "slice") return false;
  const bool front = number(at(1)) == 0 && isRows(at(2));
  return front || (v.pieces == 2 && isRows(at(1)) && !at(2));
}

// `x.index_select(0, order)`, where order is a permutation of the batch (mixup): this rank's part of it names rows of all ranks, which are gathered.
// Rows that a layer has made are not: no gradient flows through what is gathered.
bool Kinds::mixesRows(const Expr* e, const Value& v, const Expr* index) {
  if (!index || v.kind != Kind::Sharded || v.graded || v.joined || v.selected || v.listed || v.earlier || batches_.inStep(e) == 0) return false;
  for (const auto* k = dyn_cast<CXXConstructExpr>(strip(index)); k && argumentsOf(k).size() == 1; k = dyn_cast<CXXConstructExpr>(strip(index))) index = argumentsOf(k)[0];
  const auto made = definitions_.origins(index);
  const Expr* draw = made.size() == 1 ? strip(made[0]) : nullptr;
  if (!draw || calleeName(draw) != "randperm" || !dialect_.is(draw, Role::RandomDraw) || argumentsOf(draw).empty() || batches_.inStep(draw) == 0) return false;
  if (eval(argumentsOf(draw)[0]).kind != Kind::Rows) return false;
  if (recording_) reductions_[objectOf(e) ? objectOf(e) : argumentsOf(e)[0]] = Kind::Sharded;
  return true;
}

Value Kinds::ofOnePiece(const Value& v) {
  Value piece = v;
  piece.joined = false;
  piece.pieces = 0;
  return piece;
}

bool Kinds::isTakenInStep(const Expr* spelled, unsigned depth) const {
  const Expr* e = strip(spelled);
  const Stmt* loop = e;
  while (loop && !(isLoop(loop) && batches_.isStepLoop(loop))) loop = code_.parent(loop);
  if (!loop || !batches_.inBody(e, loop) || depth > 4) return false;
  if (isa<DeclRefExpr>(e)) {  // another name, or a variable of this step
    const auto* v = dyn_cast_or_null<VarDecl>(declOf(e));
    const Stmt* declared = v && isTensor(v->getType()) ? code_.declStmt(v) : nullptr;
    if (!declared || !isWithin(code_, declared, loopBody(loop))) return false;
    const auto definitions = definitions_.of(v);
    return !definitions.empty() && llvm::all_of(definitions, [&](const Definition& def) { return def.value && !def.compound && isTakenInStep(def.value, depth + 1); });
  }
  const Entry* entry = calleeOf(e) ? dialect_.lookup(e) : nullptr;
  if (!entry || entry->role != Role::Op) return false;
  const auto arguments = argumentsOf(e);
  if (entry->op == OpKind::Elementwise && objectOf(e)) return isTakenInStep(objectOf(e), depth + 1);
  const llvm::StringRef name = calleeName(e);
  const bool takes = entry->op == OpKind::Select && (name == "slice" || name == "narrow" || name == "index_select") && dimensionOf(e, *entry, code_.context()).value_or(-1) == 0;
  const ParmVarDecl *from = parameterOf(e, 0), *to = parameterOf(e, 1);
  const bool counts = entry->op == OpKind::Factory && name == "arange" && from && to && from->getType().getCanonicalType() == to->getType().getCanonicalType();
  if ((!takes && !counts) || takesOneRow(arguments, name) || isChangedThere(code_, dialect_, e)) return false;
  // Positions that the step loop moves on; not the extent of some other tensor.
  llvm::DenseSet<const ValueDecl*> seen;
  const auto moving = [&](auto&& self, const Stmt* tree) -> bool {
    const auto* x = dyn_cast_or_null<Expr>(tree);
    if (!tree || (x && calleeOf(x) && dialect_.lookup(x) && dialect_.lookup(x)->op == OpKind::Size)) return false;
    if (const auto* v = x && isa<DeclRefExpr>(x) ? dyn_cast_or_null<VarDecl>(declOf(x)) : nullptr; v && seen.insert(v).second) {
      if (movesOn(v, loop, definitions_, code_)) return true;
      const Stmt* declared = code_.declStmt(v);
      if (declared && isWithin(code_, declared, loopBody(loop)))
        for (const Definition& def : definitions_.of(v))
          if (def.value && self(self, def.value)) return true;
    }
    return llvm::any_of(tree->children(), [&](const Stmt* c) { return self(self, c); });
  };
  return llvm::any_of(arguments, [&](const Expr* a) { return moving(moving, a); });
}

}  // namespace hvdize
