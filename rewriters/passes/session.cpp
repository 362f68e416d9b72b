// SPDX-License-Identifier: Apache-2.0
#include "clang/AST/StmtCXX.h"

#include "rewriters/passes/steps.h"

using namespace clang;

namespace hvdize {

std::string policyOf(const Model& m) {
  const RewriteOptions& o = m.context.options;
  const bool onlyGlobal = m.unknownBatch != nullptr;
  if (isDefaultPolicy(o) && !onlyGlobal) return "";
  std::string text = "hvd::Policy()";
  if (onlyGlobal) text += ".batch(hvd::Batch::global_only)";
  else if (o.batch == BatchPolicy::Global) text += ".batch(hvd::Batch::global)";
  if (o.lrScaling == LrScaling::Linear) text += ".lr_scaling(hvd::LrRule::linear)";
  if (o.lrScaling == LrScaling::Sqrt) text += ".lr_scaling(hvd::LrRule::sqrt)";
  if (o.lrScaling == LrScaling::None) text += ".lr_scaling(hvd::LrRule::none)";
  if (o.warmup.steps > 0) text += ".warmup_steps(" + std::to_string(o.warmup.steps) + ")";
  if (o.warmup.epochs > 0) text += ".warmup_epochs(" + std::to_string(o.warmup.epochs) + ")";
  if (o.steps == StepPolicy::Divide) text += ".divide_steps(true)";
  return text;
}

namespace {

// A choice within what is printed, without effects: `printf("%s", seconds > 60 ? "slow" : "fast")`.
bool isShownOnly(const Model& m, const Stmt* choice) {
  const auto* c = dyn_cast<ConditionalOperator>(choice);
  if (!c || !m.effectFree(c->getTrueExpr()) || !m.effectFree(c->getFalseExpr())) return false;
  for (const Stmt* p = c; p && isa<Expr>(p); p = m.code.parent(p))
    if (isConsoleOutput(m, cast<Expr>(p))) return true;
  return false;
}

}  // namespace

void addSession(Model& m) {
  const Function* main = m.code.find(m.main);
  std::string arguments;
  if (m.main->getNumParams() >= 2 && !m.main->getParamDecl(0)->getName().empty() && !m.main->getParamDecl(1)->getName().empty() &&
      m.main->getParamDecl(1)->getType().getAsString() == "char **")
    arguments = m.main->getParamDecl(0)->getNameAsString() + ", " + m.main->getParamDecl(1)->getNameAsString();
  const std::string policy = policyOf(m);
  if (!policy.empty()) arguments += (arguments.empty() ? "" : ", ") + policy;
  m.context.diags.report(DiagID::SessionAdded, m.main->getLocation());
  const Stmt* body = main->body;
  if (const auto* tried = dyn_cast<CXXTryStmt>(body)) body = tried->getTryBlock();  // int main() try { ... }
  m.context.edits.insertAtStart(body, "hvd::Session hvd_session" + (arguments.empty() ? "" : "(" + arguments + ")") + ";",
                                {DiagID::SessionAdded, "session"});
}

void agreeDecisions(Model& m) {
  for (const Expr* s : m.kinds.localSeeds()) {
    m.context.diags.report(DiagID::SeedShared, s->getSourceRange());
    m.context.edits.wrap(s, "hvd::shared_seed(", ")", {DiagID::SeedShared, "the root's seed"});
  }
  for (const auto& [condition, controlled] : m.kinds.localConditions()) {
    if (m.threads.mayRun(condition)) continue;  // ranks do not meet there: each decides about its own items
    // A branch that only prints or ends the job may differ between ranks.
    bool matters = false;
    const auto visit = [&](auto&& self, const Stmt* s) -> void {
      if (!s || matters) return;
      if (isa<BreakStmt, ContinueStmt, ReturnStmt, GotoStmt>(s) || isLoop(s)) matters = true;
      if (const auto* e = dyn_cast<Expr>(s)) {
        if (!isConsoleOutput(m, e) && !isa<CXXThrowExpr>(e) && !m.effectFree(e)) matters = true;
        return;
      }
      for (const Stmt* c : s->children()) self(self, c);
    };
    if (const auto* i = dyn_cast<IfStmt>(controlled)) visit(visit, i->getThen()), visit(visit, i->getElse());
    else matters = !isShownOnly(m, controlled);
    if (!matters) continue;
    const Value v = m.kinds.of(condition);
    m.context.diags.report(DiagID::DecisionAgreed, condition->getSourceRange(), v.why ? v.why : "what only this rank knows");
    m.context.edits.wrap(condition, "hvd::agree(", ")", {DiagID::DecisionAgreed, "the root decides"});
  }
}

}  // namespace hvdize
