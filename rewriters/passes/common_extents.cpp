// SPDX-License-Identifier: Apache-2.0
// Extents of a batch, other than its samples, that say how often ranks meet: `for (t = 0; t < batch.data.size(1); t += window)` with a step in each, or
// `chunks = batch.data.split(window, 1); for (i = 0; i < chunks.size(); ++i)`.
// The samples of one rank can't tell that those of the others are as long: the ranks compare when the program runs.
#include <set>

#include "clang/AST/StmtCXX.h"

#include "rewriters/passes/steps.h"

using namespace clang;

namespace hvdize {

namespace {

constexpr unsigned kDeepest = 4;

// The condition of a loop or a branch that holds `child`, if it is one.
bool isCondition(const Stmt* parent, const Stmt* child) {
  if (const auto* f = dyn_cast<ForStmt>(parent)) return child == f->getCond();
  if (const auto* w = dyn_cast<WhileStmt>(parent)) return child == w->getCond();
  if (const auto* d = dyn_cast<DoStmt>(parent)) return child == d->getCond();
  const auto* i = dyn_cast<IfStmt>(parent);
  return i && child == i->getCond();
}

// The variable that a declaration makes from `value`.
const VarDecl* madeFrom(const Stmt* declaration, const Stmt* value) {
  const auto* made = dyn_cast<DeclStmt>(declaration);
  if (!made) return nullptr;
  for (const Decl* d : made->decls())
    if (const auto* v = dyn_cast<VarDecl>(d); v && v->getInit() == value) return v;
  return nullptr;
}

// Does a backward pass depend on `e`, by itself or through variables that are made from it?
bool decides(const Model& m, const Expr* e, unsigned depth) {
  const Stmt* child = e;
  for (const Stmt* p = m.code.parent(child); p; child = p, p = m.code.parent(p)) {
    if (isCondition(p, child)) return m.sites.reaches(p, Role::Backward);
    const VarDecl* v = madeFrom(p, child);
    if (v && depth < kDeepest && v->getType().getNonReferenceType()->isIntegerType())
      return llvm::any_of(m.definitions.uses(v), [&](const Expr* use) { return decides(m, use, depth + 1); });
    if (!isa<Expr>(p) || isa<LambdaExpr>(p)) return false;
  }
  return false;
}

}  // namespace

void agreeOnExtents(Model& m) {
  std::set<std::string> done;  // the instantiations of a template share their text
  for (const Function& f : m.code.functions())
    forEachExpr(f.body, [&](const Expr* e) {
      const Entry* entry = calleeOf(e) ? m.context.dialect.lookup(e) : nullptr;
      const bool extent = (entry && entry->role == Role::Op && entry->op == OpKind::Size) || m.kinds.countsTensors(e);
      const Expr* tensor = extent ? objectOf(e) : nullptr;
      if (!tensor || !e->getType().getNonReferenceType()->isIntegerType() || !m.kinds.of(e).isUniform()) return;
      const Kind kind = m.kinds.of(tensor).kind;
      if ((kind != Kind::Sharded && kind != Kind::Second) || !decides(m, e, 0) || !m.context.edits.canEdit(e->getSourceRange())) return;
      if (!done.insert(e->getBeginLoc().printToString(m.context.ast.getSourceManager())).second) return;
      m.context.diags.report(DiagID::ExtentCompared, e->getSourceRange(), m.text(e));
      m.context.edits.wrap(e, "hvd::batch_common(", ")", {DiagID::ExtentCompared, "ranks take the same number of steps"});
    });
}

}  // namespace hvdize
