// SPDX-License-Identifier: Apache-2.0
#include "rewriters/program/data_draws.h"

#include "rewriters/program/collations.h"

#include "rewriters/program/host.h"

using namespace clang;

namespace hvdize {

namespace {

using Functions = DataFunctions;

}  // namespace

bool takesExamples(const Dialect& dialect, const FunctionDecl* f) {
  return llvm::any_of(f->parameters(), [&](const ParmVarDecl* p) {
    const QualType t = p->getType().getNonReferenceType();
    if (dialect.is(t, Role::Batch)) return true;
    const auto* spec = isStdRecord(t) ? dyn_cast_or_null<ClassTemplateSpecializationDecl>(t->getAsCXXRecordDecl()) : nullptr;
    return spec && spec->getTemplateArgs().size() > 0 && spec->getTemplateArgs()[0].getKind() == TemplateArgument::Type &&
           dialect.is(spec->getTemplateArgs()[0].getAsType(), Role::Batch);
  });
}

bool overridesFrameworks(const Dialect& dialect, const FunctionDecl* f) {
  const auto* m = dyn_cast<CXXMethodDecl>(f);
  if (!m || dialect.is(m->getParent(), Role::Module)) return false;
  return llvm::any_of(m->overridden_methods(), [&](const CXXMethodDecl* o) { return dialect.owns(o) || overridesFrameworks(dialect, o); });
}

void addReached(const AuthorCode& code, const FunctionDecl* f, DataFunctions& out) {
  const Function* known = code.find(f);
  if (!known || !out.insert(f->getCanonicalDecl()).second) return;
  forEachExpr(known->body, [&](const Expr* e) {
    for (const FunctionDecl* t : code.targets(e)) addReached(code, t, out);
    if (const auto* l = dyn_cast<LambdaExpr>(e)) addReached(code, l->getCallOperator(), out);
  });
}

namespace {

// Lambdas that an object of the framework's is made from which is no module, and which nobody else calls: it calls them for samples.
Functions lambdasForFramework(const AuthorCode& code, const Dialect& dialect) {
  Functions out;
  for (const Function& f : code.functions())
    forEachExpr(f.body, [&](const Expr* e) {
      const auto* made = dyn_cast<CXXConstructExpr>(e);
      if (!made || !dialect.owns(made->getConstructor()) || dialect.is(made->getType(), Role::Module)) return;
      for (const Expr* a : made->arguments())
        if (const auto* l = dyn_cast<LambdaExpr>(strip(a)); l && code.callers(l->getCallOperator()).empty()) out.insert(l->getCallOperator()->getCanonicalDecl());
    });
  return out;
}

// The same, with whatever else the framework calls: samplers, collations.
Functions dataFunctions(const AuthorCode& code, const Dialect& dialect) {
  Functions out = readersOfSamples(code, dialect);
  const Functions lambdas = lambdasForFramework(code, dialect);
  for (const Function& f : code.functions())
    if ((code.callers(f.decl).empty() && overridesFrameworks(dialect, f.decl)) || lambdas.contains(f.decl->getCanonicalDecl())) addReached(code, f.decl, out);
  return out;
}

// Does the function get a list, of samples or their numbers?
bool getsList(const FunctionDecl* f) {
  return llvm::any_of(f->parameters(), [&](const ParmVarDecl* p) {
    const CXXRecordDecl* r = p->getType().getNonReferenceType()->getAsCXXRecordDecl();
    return r && r->getDeclName().isIdentifier() && (r->getName() == "vector" || r->getName() == "ArrayRef");
  });
}

// `engine.seed(7)` gives all ranks the same state again.
bool isSeeding(const AuthorCode& code, const Expr* use) {
  const Stmt* p = code.parent(use);
  while (isa_and_nonnull<ImplicitCastExpr, ParenExpr>(p)) p = code.parent(p);
  const auto* member = dyn_cast_or_null<MemberExpr>(p);
  return member && member->getMemberDecl()->getDeclName().isIdentifier() && member->getMemberDecl()->getName() == "seed";
}

}  // namespace

DataFunctions transformsOfSamples(const AuthorCode& code, const Dialect& dialect) {
  DataFunctions out = readersOfSamples(code, dialect);
  const Functions lambdas = lambdasForFramework(code, dialect);
  for (const Function& f : code.functions()) {
    if (lambdas.contains(f.decl->getCanonicalDecl())) addReached(code, f.decl, out);
    const auto* m = dyn_cast<CXXMethodDecl>(f.decl);
    const bool changes = m && llvm::any_of(m->parameters(), [&](const ParmVarDecl* p) { return dialect.is(p->getType(), Role::Tensor); });
    if (changes && !dialect.is(m->getParent(), Role::Module) && !dialect.is(m->getParent(), Role::Optimizer) && code.callers(m).empty() && overridesFrameworks(dialect, m))
      addReached(code, f.decl, out);
  }
  return out;
}

DataFunctions readersOfSamples(const AuthorCode& code, const Dialect& dialect) {
  DataFunctions out;
  for (const Function& f : code.functions()) {
    const Entry* entry = isa<CXXMethodDecl>(f.decl) ? dialect.lookup(f.decl) : nullptr;
    const bool reads = entry && entry->role == Role::DatasetRead;
    if (reads || (code.callers(f.decl).empty() && takesExamples(dialect, f.decl))) addReached(code, f.decl, out);
  }
  return out;
}

std::vector<const FunctionDecl*> calledWithSamples(const AuthorCode& code, const Dialect& dialect) {
  std::vector<const FunctionDecl*> out;
  const Functions lambdas = lambdasForFramework(code, dialect);
  for (const Function& f : code.functions()) {
    const Entry* entry = isa<CXXMethodDecl>(f.decl) ? dialect.lookup(f.decl) : nullptr;
    const bool reads = entry && entry->role == Role::DatasetRead;
    const bool given = code.callers(f.decl).empty() && (takesExamples(dialect, f.decl) || overridesFrameworks(dialect, f.decl));
    if (!isa<CXXConstructorDecl>(f.decl) && (reads || given || lambdas.contains(f.decl->getCanonicalDecl()))) out.push_back(f.decl);
  }
  return out;
}

std::vector<SharedGenerator> generatorsSharedWithData(const AuthorCode& code, const Dialect& dialect, const Definitions& definitions, const Batches& batches) {
  std::vector<SharedGenerator> out;
  if (!batches.shareLoaders()) return out;
  const Functions data = dataFunctions(code, dialect);
  llvm::DenseSet<const ValueDecl*> engines;
  bool drawsC = false;
  for (const Function& f : code.functions()) {
    if (!data.contains(f.decl->getCanonicalDecl())) continue;
    forEachExpr(f.body, [&](const Expr* e) {
      drawsC = drawsC || hostRole(calleeOf(e)) == HostRole::DrawsC;
      const ValueDecl* d = isa<DeclRefExpr, MemberExpr>(e) ? declOf(e) : nullptr;
      const auto* v = dyn_cast_or_null<VarDecl>(d);
      const bool lives = d && (isa<FieldDecl>(d) || (v && (v->hasGlobalStorage() || !data.contains(cast<FunctionDecl>(v->getDeclContext())->getCanonicalDecl()))));
      if (lives && isRandomEngine(d->getType().getNonReferenceType())) engines.insert(d);
    });
  }
  const auto outside = [&](const Expr* e) {
    const FunctionDecl* f = code.functionOf(e);
    return f && !data.contains(f->getCanonicalDecl());
  };
  for (const ValueDecl* d : engines)
    for (const Expr* use : definitions.uses(d))
      if (outside(use) && !isSeeding(code, use)) out.push_back({use, d->getNameAsString()});
  if (!drawsC) return out;
  for (const Function& f : code.functions())
    forEachExpr(f.body, [&](const Expr* e) {
      if (hostRole(calleeOf(e)) == HostRole::DrawsC && outside(e)) out.push_back({e, calleeOf(e)->getNameAsString() + "()"});
    });
  return out;
}

std::vector<const FunctionDecl*> mixersOfBatches(const AuthorCode& code, const Dialect& dialect, const Definitions& definitions, const Batches& batches) {
  std::vector<const FunctionDecl*> out;
  if (!batches.shareLoaders()) return out;
  const Functions lambdas = lambdasForFramework(code, dialect);
  const Collations collations(definitions, dialect);
  for (const Function& f : code.functions()) {
    const bool list = getsList(f.decl);
    const bool called = overridesFrameworks(dialect, f.decl) || lambdas.contains(f.decl->getCanonicalDecl());
    if (!list || !called || isa<CXXConstructorDecl>(f.decl)) continue;
    bool mixes = collations.mayMix(f.decl);
    forEachExpr(f.body, [&](const Expr* e) {
      const FunctionDecl* callee = calleeOf(e);
      if (!callee) return;
      const Entry* entry = dialect.lookup(e);
      const bool reduces = entry && entry->role == Role::Op &&
                           (entry->op == OpKind::ReduceSum || entry->op == OpKind::ReduceMean || entry->op == OpKind::ReduceMax ||
                            entry->op == OpKind::ReduceMin || entry->op == OpKind::ReduceOther);
      const bool adds = entry && entry->role == Role::Op && entry->op == OpKind::Assign && isa<CXXOperatorCallExpr>(e) &&
                        cast<CXXOperatorCallExpr>(e)->getOperator() != OO_Equal;
      const std::string name = callee->getDeclName().isIdentifier() && isSystemDecl(callee) ? callee->getName().str() : "";
      const bool pads = dialect.owns(callee) && calleeName(e) == "pad_sequence";  // as long as the longest sample of the slice
      mixes = mixes || reduces || adds || pads || name == "max" || name == "min" || name == "max_element" || name == "min_element" || name == "sort";
    });
    if (mixes) out.push_back(f.decl);
  }
  return out;
}

std::vector<const Expr*> drawsOfData(const AuthorCode& code, const Dialect& dialect, const Batches& batches) {
  std::vector<const Expr*> out;
  if (!batches.shareLoaders()) return out;
  const Functions data = dataFunctions(code, dialect);
  llvm::DenseSet<const ValueDecl*> engines;
  for (const Function& f : code.functions()) {
    if (!data.contains(f.decl->getCanonicalDecl())) continue;
    const bool several = overridesFrameworks(dialect, f.decl) && getsList(f.decl);  // draws for a whole batch are not those of its samples
    forEachExpr(f.body, [&](const Expr* e) {
      const ValueDecl* d = isa<DeclRefExpr, MemberExpr>(e) ? declOf(e) : nullptr;
      const auto* v = dyn_cast_or_null<VarDecl>(d);
      const bool own = v && v->isLocalVarDecl() && !v->isStaticLocal() && !v->isInitCapture() && data.contains(cast<FunctionDecl>(v->getDeclContext())->getCanonicalDecl());
      const bool engine = d && !own && !isa<ParmVarDecl>(d) && isRandomEngine(d->getType().getNonReferenceType()) && engines.insert(d).second;
      const Entry* entry = calleeOf(e) && (dialect.ownStepDraws() || several) ? dialect.lookup(e) : nullptr;
      const bool drawn = entry && entry->role == Role::RandomDraw;
      if (engine || drawn || hostRole(calleeOf(e)) == HostRole::DrawsC) out.push_back(e);
    });
  }
  return out;
}

}  // namespace hvdize
