// SPDX-License-Identifier: Apache-2.0
#include "rewriters/passes/macros.h"

#include "clang/AST/StmtCXX.h"
#include "clang/Basic/SourceManager.h"

#include "rewriters/passes/steps.h"

using namespace clang;

namespace hvdize {

namespace {

// Break and continue count although they may belong to a loop of the macro's own, `do { } while (0)` mostly.
bool mayEndMacro(const Stmt* s) {
  if (!s || isa<LambdaExpr>(s)) return false;
  if (isa<ReturnStmt, BreakStmt, ContinueStmt, GotoStmt, CXXThrowExpr>(s)) return true;
  for (const Stmt* c : s->children())
    if (mayEndMacro(c)) return true;
  return false;
}

}  // namespace

MacroOutput macroOutput(const Model& m, const Expr* e) {
  const SourceManager& sm = m.context.ast.getSourceManager();
  if (!e->getBeginLoc().isMacroID()) return {};
  const SourceLocation use = sm.getExpansionLoc(e->getBeginLoc());
  const auto fromUse = [&](const Stmt* s) {
    return s->getBeginLoc().isMacroID() && s->getEndLoc().isMacroID() && sm.getExpansionLoc(s->getBeginLoc()) == use &&
           sm.getExpansionLoc(s->getEndLoc()) == use;
  };
  const Stmt* whole = nullptr;
  for (const Stmt* p = e; p && fromUse(p); p = m.code.parent(p)) whole = p;
  const Stmt* parent = whole ? m.code.parent(whole) : nullptr;
  if (!parent || isa<DeclStmt>(whole) || !m.context.edits.canEdit(whole->getSourceRange())) return {};
  if (const auto* x = dyn_cast<Expr>(whole); x && m.statementOf(x) != whole) return {};
  bool prints = false;
  forEachExpr(whole, [&](const Expr* x) {
    prints = prints || (isConsoleOutput(m, x) && !m.context.edits.canEdit(x->getSourceRange()));
  });
  // A macro that is nothing but its argument, or one whose body is no more than the call: the call itself is what the passes edit.
  if (const auto* x = dyn_cast<Expr>(whole); x && isConsoleOutput(m, x)) prints = true;
  if (!prints) return {};
  return {whole, mayEndMacro(whole)};
}

}  // namespace hvdize
