// SPDX-License-Identifier: Apache-2.0
// Functions that are only declared: whatever they write, every rank writes.
#include "clang/AST/DeclCXX.h"
#include "llvm/ADT/StringSet.h"

#include "rewriters/passes/steps.h"
#include "rewriters/program/host.h"

using namespace clang;

namespace hvdize {

// Is the body of what is called nowhere in the sources, and nothing known about it otherwise?
static bool isOpaque(const Model& m, const Expr* call, const FunctionDecl* f) {
  if (isSystemDecl(f) || m.context.dialect.owns(f) || m.context.dialect.lookup(call) || !m.code.targets(call).empty()) return false;
  if (hostRole(f) != HostRole::None || f->getBuiltinID() != 0 || f->isImplicit() || f->isDefaulted() || f->isDeleted() || communicates(f)) return false;
  const FunctionDecl* pattern = f->getTemplateInstantiationPattern();
  if (f->hasBody() || f->isDefined() || (pattern && (pattern->hasBody() || pattern->isDefined()))) return false;
  const auto* method = dyn_cast<CXXMethodDecl>(f);
  return !method || (!method->isPureVirtual() && !m.context.dialect.is(method->getParent(), Role::Module));  // a layer: AssumeIndependent
}

void noteOpaqueCalls(Model& m) {
  llvm::StringSet<> named;
  for (const Root& r : m.code.roots())
    forEachExpr(r.code, [&](const Expr* e) {
      const FunctionDecl* f = calleeOf(e);
      if (!f || !isOpaque(m, e, f)) return;
      const auto* method = dyn_cast<CXXMethodDecl>(f);
      const std::string name = method ? method->getParent()->getQualifiedNameAsString() : f->getQualifiedNameAsString();
      if (named.insert(name).second) m.context.diags.report(DiagID::OpaqueCallee, e->getSourceRange(), name);
    });
}

}  // namespace hvdize
