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
  m.context.edits.insertAtStart(body, "hvd::Session " + m.freeName("hvd_session") + (arguments.empty() ? "" : "(" + arguments + ")") + ";",
                                {DiagID::SessionAdded, "session"});
}

}  // namespace hvdize
