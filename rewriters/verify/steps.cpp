// SPDX-License-Identifier: Apache-2.0
#include "rewriters/verify/steps.h"

#include "clang/AST/StmtCXX.h"

#include "rewriters/program/step_closures.h"
#include "rewriters/verify/vocabulary.h"

using namespace clang;

namespace hvdize {

namespace {

bool isReduction(const Expr* e) { return calleeName(e) == "reduce_gradients" && wordOf(e); }

// The calls in `s` that are made whenever `s` is: not in a branch, a loop, or behind `&&`.
template <typename F>
void forEachCertain(const Stmt* s, F&& f) {
  if (!s || isa<LambdaExpr, ConditionalOperator, IfStmt, SwitchStmt, CXXTryStmt>(s) || isLoop(s)) return;
  if (const auto* b = dyn_cast<BinaryOperator>(s); b && b->isLogicalOp()) return forEachCertain(b->getLHS(), f);
  if (const auto* e = dyn_cast<Expr>(s)) f(e);
  for (const Stmt* c : s->children()) forEachCertain(c, f);
}

class Steps {
 public:
  Steps(const AuthorCode& code, const Definitions& definitions, const Sites& sites) : code_(code), definitions_(definitions), sites_(sites) {}

  bool isCovered(const Site& step) const {
    const ValueDecl* optimizer = optimizerOf(step);
    if (closureReduces(step, optimizer)) return true;
    const Stmt* below = step.call;
    for (const Stmt* p = code_.parent(step.call); p; below = p, p = code_.parent(p)) {
      if (const auto* e = dyn_cast<Expr>(p); e && reduces(e, optimizer)) return true;  // (hvd::reduce_gradients(optimizer), optimizer.step())
      const auto* block = dyn_cast<CompoundStmt>(p);
      if (!block) continue;
      bool covered = false;
      for (const Stmt* s : block->body()) {
        if (s == below) break;
        if (sites_.reaches(s, Role::Backward)) covered = false;
        if (reduces(s, optimizer)) covered = true;
      }
      if (covered) return true;
      // What comes before this block is from before its backward pass.
      if (llvm::any_of(block->body(), [&](const Stmt* s) { return s != below && !isBehind(block, s, below) && sites_.reaches(s, Role::Backward); })) return false;
    }
    return false;
  }

 private:
  // The closure that the step calls back reduces what its backward pass leaves.
  bool closureReduces(const Site& step, const ValueDecl* optimizer) const {
    const LambdaExpr* closure = closureOf(step, definitions_);
    const auto* body = closure ? dyn_cast<CompoundStmt>(closure->getBody()) : nullptr;
    bool reduced = false;
    if (body)
      for (const Stmt* s : body->body()) {
        if (sites_.reaches(s, Role::Backward)) reduced = false;
        if (reduces(s, optimizer)) reduced = true;
      }
    return reduced;
  }

  static bool isBehind(const CompoundStmt* block, const Stmt* s, const Stmt* other) {
    bool seen = false;
    for (const Stmt* c : block->body()) {
      if (c == s) return seen;
      seen = seen || c == other;
    }
    return false;
  }

  // A variable that is no second name of another.
  static bool isOwnObject(const ValueDecl* d) {
    const auto* v = dyn_cast_or_null<VarDecl>(d);
    return v && !isa<ParmVarDecl>(v) && !v->getType()->isReferenceType() && !v->getType()->isPointerType();
  }

  const ValueDecl* optimizerOf(const Site& step) const {
    const auto arguments = argumentsOf(step.call);
    const int given = step.entry->optimizer;
    const Expr* e = given >= 0 && given < static_cast<int>(arguments.size()) ? arguments[given] : objectOf(step.call);
    return e ? rootOf(e) : nullptr;
  }

  bool reduces(const Stmt* s, const ValueDecl* optimizer) const {
    bool found = false;
    forEachCertain(s, [&](const Expr* e) {
      if (found || !isReduction(e) || argumentsOf(e).empty()) return;
      const ValueDecl* of = rootOf(argumentsOf(e)[0]);
      found = of == optimizer || !isOwnObject(of) || !isOwnObject(optimizer);
    });
    return found;
  }

  const AuthorCode& code_;
  const Definitions& definitions_;
  const Sites& sites_;
};

}  // namespace

std::vector<const Expr*> stepsWithoutReduction(const AuthorCode& code, const Definitions& definitions, const Sites& sites) {
  llvm::DenseSet<const FunctionDecl*> reducing;
  for (const Function& f : code.functions())
    forEachExpr(f.body, [&](const Expr* e) {
      if (const FunctionDecl* in = isReduction(e) ? code.functionOf(e) : nullptr) reducing.insert(in->getCanonicalDecl());
    });
  const Steps steps(code, definitions, sites);
  std::vector<const Expr*> out;
  for (const Site& s : sites.of(Role::Step))
    if (s.function && reducing.contains(s.function->getCanonicalDecl()) && !steps.isCovered(s)) out.push_back(s.call);
  return out;
}

}  // namespace hvdize
