// SPDX-License-Identifier: Apache-2.0
#include "rewriters/program/threads.h"

#include "clang/AST/StmtCXX.h"
#include "clang/AST/StmtOpenMP.h"
#include "clang/Basic/SourceManager.h"

#include "rewriters/program/origins.h"
#include "rewriters/program/sites.h"

using namespace clang;

namespace hvdize {

namespace {

/// The line before the one on which `s` begins, without spaces at its ends; continued lines are not joined.
llvm::StringRef lineBefore(const SourceManager& sm, const Stmt* s) {
  const auto [file, offset] = sm.getDecomposedExpansionLoc(s->getBeginLoc());
  const llvm::StringRef text = sm.getBufferData(file).take_front(offset);
  const llvm::StringRef above = text.rsplit('\n').first;
  return (above.contains('\n') ? above.rsplit('\n').second : above).trim();
}

/// `#pragma omp parallel for …`, `#pragma omp task`: what follows runs on several threads.
bool opensRegion(llvm::StringRef line) {
  if (!line.consume_front("#")) return false;
  line = line.ltrim();
  if (!line.consume_front("pragma")) return false;
  line = line.ltrim();
  return line.consume_front("omp") && (line.contains("parallel") || line.contains("task"));
}

bool derivesFromDataset(const CXXRecordDecl* r, const Dialect& dialect) {
  if (!r || !r->hasDefinition()) return false;
  for (const CXXBaseSpecifier& b : r->bases()) {
    if (dialect.is(b.getType(), Role::Dataset)) return true;
    if (derivesFromDataset(b.getType()->getAsCXXRecordDecl(), dialect)) return true;
  }
  return false;
}

bool isThread(const CXXRecordDecl* r) {
  return r && r->isInStdNamespace() && r->getIdentifier() && (r->getName() == "thread" || r->getName() == "jthread");
}

/// Does this call start a thread with what it is given?
bool startsThread(const Expr* e) {
  const FunctionDecl* f = calleeOf(e);
  if (!f) return false;
  if (const auto* made = dyn_cast<CXXConstructorDecl>(f)) return isThread(made->getParent());
  if (!f->getDeclName().isIdentifier()) return false;
  // threads.emplace_back(work, 1), make_unique<std::thread>(work)
  const auto* member = dyn_cast<CXXMethodDecl>(f);
  const auto* held = dyn_cast_or_null<ClassTemplateSpecializationDecl>(member ? member->getParent() : nullptr);
  const auto typeOf = [](const TemplateArgument& a) { return a.getKind() == TemplateArgument::Type ? a.getAsType()->getAsCXXRecordDecl() : nullptr; };
  if (held && f->getName().starts_with("emplace") && held->getTemplateArgs().size() > 0 && isThread(typeOf(held->getTemplateArgs()[0]))) return true;
  if (const auto* given = f->getTemplateSpecializationArgs(); given && f->isInStdNamespace() && (f->getName() == "make_unique" || f->getName() == "make_shared") && given->size() > 0)
    return isThread(typeOf(given->get(0)));
  return (f->isInStdNamespace() && f->getName() == "async") || f->getName() == "pthread_create";
}

}  // namespace

Threads::Threads(const AuthorCode& code, const Dialect& dialect) : code_(code) {
  for (const Function& f : code.functions()) {
    const auto* method = dyn_cast<CXXMethodDecl>(f.decl);
    if (method && method->size_overridden_methods() > 0 && derivesFromDataset(method->getParent(), dialect)) enter(method);
    scan(f.body);
  }
}

void Threads::scan(const Stmt* s) {
  if (!s) return;
  if (isParallel(s)) {
    regions_.insert(s);
    enterCallsOf(s);
  }
  if (const auto* e = dyn_cast<Expr>(s); e && startsThread(e))
    for (const Expr* a : argumentsOf(e)) enterCallable(a);
  if (isa<LambdaExpr>(s)) return;  // its body is a function of its own
  for (const Stmt* c : s->children()) scan(c);
}

bool Threads::isParallel(const Stmt* s) const {
  if (const auto* d = dyn_cast<OMPExecutableDirective>(s))
    return isOpenMPParallelDirective(d->getDirectiveKind()) || isOpenMPTaskingDirective(d->getDirectiveKind());
  if (!isa<CompoundStmt>(s) && !isLoop(s)) return false;
  return opensRegion(lineBefore(code_.context().getSourceManager(), s));
}

void Threads::enterCallsOf(const Stmt* s) {
  forEachExpr(s, [&](const Expr* e) {
    for (const FunctionDecl* f : code_.targets(e)) enter(f);
  });
}

void Threads::enter(const FunctionDecl* f) {
  const Function* known = code_.find(f);
  if (!known || !functions_.insert(known->decl->getCanonicalDecl()).second) return;
  enterCallsOf(known->body);
}

void Threads::enterCallable(const Expr* e) {
  forEachExpr(e, [&](const Expr* x) {
    if (const auto* l = dyn_cast<LambdaExpr>(x)) enter(l->getCallOperator());
    const ValueDecl* d = declOf(x);
    if (const auto* f = dyn_cast_or_null<FunctionDecl>(d)) enter(f);
    // A lambda that a variable holds.
    if (const auto* v = dyn_cast_or_null<VarDecl>(d); v && v->getInit())
      if (const auto* l = dyn_cast_or_null<LambdaExpr>(strip(v->getInit()))) enter(l->getCallOperator());
  });
}

bool Threads::mayRun(const Stmt* s) const {
  for (const Stmt* p = s; p; p = code_.parent(p))
    if (regions_.contains(p)) return true;
  const FunctionDecl* f = code_.functionOf(s);
  return f && functions_.contains(f->getCanonicalDecl());
}

}  // namespace hvdize
