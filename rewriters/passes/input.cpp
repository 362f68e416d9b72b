// SPDX-License-Identifier: Apache-2.0
// Standard input: a launcher gives it to the root alone, which reads for all.
#include "rewriters/passes/steps.h"
#include "rewriters/program/host.h"

using namespace clang;

namespace hvdize {

namespace {

// What reads the process' input without naming a stream that could be shared.
bool readsPastStreams(const Model& m, const Expr* e) {
  if (const auto* r = dyn_cast<DeclRefExpr>(e)) return isConsoleInput(r->getDecl()) && r->getDecl()->getName() != "cin";
  if (const auto* text = dyn_cast<StringLiteral>(e)) return text->isOrdinary() && text->getString() == "/dev/stdin";
  const FunctionDecl* f = isa<CallExpr>(e) ? calleeOf(e) : nullptr;
  if (hostRole(f) == HostRole::ReadInput) return true;
  if (!f || !isSystemDecl(f) || !f->getIdentifier() || f->getName() != "read" || isa<CXXMethodDecl>(f)) return false;
  Expr::EvalResult descriptor;
  const auto arguments = argumentsOf(e);
  return !arguments.empty() && arguments[0]->EvaluateAsInt(descriptor, m.context.ast) && descriptor.Val.getInt() == 0;
}

}  // namespace

void shareInput(Model& m) {
  const auto refuse = [&](const Expr* e) { m.context.diags.report(DiagID::ReadsInput, e->getSourceRange(), m.text(e)); };
  const auto visit = [&](const Expr* e) {
    if (readsPastStreams(m, e)) return refuse(e);
    const auto* r = dyn_cast<DeclRefExpr>(e);
    if (!r || !isConsoleInput(r->getDecl())) return;
    m.context.diags.report(DiagID::InputShared, r->getSourceRange());
    m.context.edits.wrap(r, "hvd::root_input(", ")", {DiagID::InputShared, "read by one rank, for all"});
  };
  for (const Root& r : m.code.roots()) forEachExpr(r.code, visit);
}

}  // namespace hvdize
