// SPDX-License-Identifier: Apache-2.0
// Data that a running thread makes while the training loop reads them: what is there depends on how far the thread of each rank has come.
#include "rewriters/passes/steps.h"

using namespace clang;

namespace hvdize {

namespace {

bool isAssignedTo(const Model& m, const Expr* use) {
  const Stmt* p = m.code.parent(use);
  while (isa_and_nonnull<ParenExpr, ImplicitCastExpr>(p)) p = m.code.parent(p);
  if (const auto* b = dyn_cast_or_null<BinaryOperator>(p)) return b->isAssignmentOp() && strip(b->getLHS()) == strip(use);
  const auto* o = dyn_cast_or_null<CXXOperatorCallExpr>(p);
  return o && o->getOperator() == OO_Equal && strip(o->getArg(0)) == strip(use);
}

// Numbers, tensors and records of such; no texts, tasks or threads.
bool isData(const Model& m, QualType t, unsigned depth = 0) {
  t = t.getNonReferenceType();
  if (t->isArithmeticType() || m.context.dialect.is(t, Role::Tensor) || m.context.dialect.is(t, Role::Batch)) return true;
  const CXXRecordDecl* r = t->getAsCXXRecordDecl();
  if (!r || depth > 4 || !r->hasDefinition()) return false;
  if (const auto* made = dyn_cast<ClassTemplateSpecializationDecl>(r); made && made->isInStdNamespace()) {
    static const llvm::StringRef kKnown[] = {"vector", "deque", "list", "queue", "pair", "tuple", "array", "optional", "stack", "priority_queue"};
    if (!llvm::is_contained(kKnown, made->getName())) return false;
    for (const TemplateArgument& a : made->getTemplateArgs().asArray()) {
      if (a.getKind() == TemplateArgument::Type && isData(m, a.getAsType(), depth + 1)) return true;
      if (a.getKind() == TemplateArgument::Pack)
        for (const TemplateArgument& e : a.pack_elements())
          if (e.getKind() == TemplateArgument::Type && isData(m, e.getAsType(), depth + 1)) return true;
    }
    return false;
  }
  return m.files.contains(r->getLocation()) && llvm::any_of(r->fields(), [&](const FieldDecl* f) { return isData(m, f->getType(), depth + 1); });
}

}  // namespace

void refuseThreadData(Model& m) {
  const ThreadProgress& progress = m.kinds.threadProgress();
  llvm::DenseSet<const ValueDecl*> told;
  for (const Root& r : m.code.roots())
    forEachExpr(r.code, [&](const Expr* e) {
      if (!isa<DeclRefExpr, MemberExpr>(e) || m.batches.inStep(e) == 0 || !progress.isTimed(e) || isAssignedTo(m, e)) return;
      const ValueDecl* d = declOf(e);
      if (isData(m, d->getType()) && told.insert(d).second) m.context.diags.report(DiagID::KindUnknown, e->getSourceRange(), m.text(e), ThreadProgress::kWhy);
    });
  if (!m.context.dialect.ownStepDraws()) return;  // the framework has a generator for each thread
  for (const Site& draw : m.sites.of(Role::RandomDraw))
    if (llvm::any_of(m.sites.of(Role::Backward), [&](const Site& step) { return progress.drawsBeside(draw.call, step.call); }))
      m.context.diags.report(DiagID::KindUnknown, draw.call->getSourceRange(), m.text(draw.call), "a thread draws it beside training steps, from a generator that these use too");
}

}  // namespace hvdize
