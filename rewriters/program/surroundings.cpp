// SPDX-License-Identifier: Apache-2.0
#include "rewriters/program/surroundings.h"

#include "rewriters/program/host.h"
#include "rewriters/program/sites.h"

using namespace clang;

namespace hvdize {

namespace {

llvm::StringRef nameOf(const FunctionDecl* f) {
  if (const auto* c = dyn_cast_or_null<CXXConstructorDecl>(f)) return c->getParent()->getName();
  return f && f->getDeclName().isIdentifier() ? f->getName() : llvm::StringRef();
}

bool isThread(QualType t) {
  const CXXRecordDecl* r = t->getAsCXXRecordDecl();
  return r && r->isInStdNamespace() && r->getIdentifier() && (r->getName() == "thread" || r->getName() == "jthread");
}

// `threads.emplace_back(work, i)` makes the thread, `threads.push_back(std::thread(work, i))` moves one.
bool makesThreadInList(const Expr* e) {
  const llvm::StringRef name = calleeName(e);
  const Expr* object = objectOf(e);
  if (!object || !name.starts_with("emplace") || argumentsOf(e).empty() || isThread(argumentsOf(e)[0]->getType())) return false;
  const auto* list = dyn_cast_or_null<ClassTemplateSpecializationDecl>(strip(object)->getType().getNonReferenceType()->getAsCXXRecordDecl());
  return list && list->isInStdNamespace() && list->getTemplateArgs().size() > 0 && list->getTemplateArgs()[0].getKind() == TemplateArgument::Type &&
         isThread(list->getTemplateArgs()[0].getAsType());
}

bool startsThread(const Expr* call, const FunctionDecl* f) {
  const llvm::StringRef n = nameOf(f);
  if (!isSystemDecl(f)) return false;
  if (n == "async" || n == "pthread_create" || makesThreadInList(call)) return true;
  if (const auto* given = n.starts_with("make_") ? f->getTemplateSpecializationArgs() : nullptr)  // make_unique<thread>(run)
    return given->size() > 0 && given->get(0).getKind() == TemplateArgument::Type && isThread(given->get(0).getAsType());
  const auto args = argumentsOf(call);
  return (n == "thread" || n == "jthread") && !args.empty() && !isThread(args[0]->getType());
}

bool handlesSignals(const FunctionDecl* f) {
  const llvm::StringRef n = nameOf(f);
  return isSystemDecl(f) && (n == "signal" || n == "sigset" || n == "bsd_signal");
}

// std::atomic and what is declared volatile may change while nobody here does anything.
bool mayBeShared(QualType t) {
  t = t.getNonReferenceType();
  const CXXRecordDecl* r = t->getAsCXXRecordDecl();
  return t.isVolatileQualified() || (r && r->isInStdNamespace() && r->getName().starts_with("atomic"));
}

}  // namespace

Surroundings::Surroundings(const Definitions& definitions) : definitions_(definitions), code_(definitions.code()) {
  for (const Root& r : code_.roots()) forEachExpr(r.code, [&](const Expr* e) { findBeside(e); });
  close(beside_);
  for (ThreadStart& s : starts_) {
    s.functions = s.direct;
    close(s.functions);
  }
  findShared();
}

// The function that is handed over: a lambda, directly or by the name of the variable that holds it, or a function's name.
void Surroundings::addRunning(const Expr* function, Functions& out) const {
  const Expr* e = strip(function);
  if (const auto* u = dyn_cast<UnaryOperator>(e); u && u->getOpcode() == UO_AddrOf) e = strip(u->getSubExpr());
  for (const Expr* o : definitions_.origins(e)) {
    const Expr* value = strip(o);
    while (const auto* k = dyn_cast<CXXConstructExpr>(value)) {
      if (k->getNumArgs() != 1) break;
      value = strip(k->getArg(0));
    }
    if (const auto* l = dyn_cast<LambdaExpr>(value)) out.insert(l->getCallOperator()->getCanonicalDecl());
    if (const auto* r = dyn_cast<DeclRefExpr>(value))
      if (const auto* f = dyn_cast<FunctionDecl>(r->getDecl())) out.insert(f->getCanonicalDecl());
  }
}

void Surroundings::findBeside(const Expr* e) {
  if (const FunctionDecl* f = calleeOf(e); f && (startsThread(e, f) || handlesSignals(f))) {
    ThreadStart start{e, {}, {}};
    const auto arguments = argumentsOf(e);
    for (unsigned i = 0; i < arguments.size(); ++i) {
      const size_t known = start.direct.size();
      addRunning(arguments[i], start.direct);
      if (known == 0 && !start.direct.empty()) start.first = i + 1;
      if (handlesSignals(f)) addRunning(arguments[i], handlers_);
    }
    beside_.insert(start.direct.begin(), start.direct.end());
    if (!handlesSignals(f) && !start.direct.empty()) starts_.push_back(std::move(start));
  }
  // action.sa_handler = on_signal;
  const auto* b = dyn_cast<BinaryOperator>(e);
  const auto* m = b && b->getOpcode() == BO_Assign ? dyn_cast<MemberExpr>(strip(b->getLHS())) : nullptr;
  if (m && m->getMemberDecl()->getName().starts_with("sa_")) addRunning(b->getRHS(), beside_), addRunning(b->getRHS(), handlers_);
}

void Surroundings::close(Functions& functions) const {
  llvm::SmallVector<const FunctionDecl*, 8> open(functions.begin(), functions.end());
  while (!open.empty()) {
    const Function* known = code_.find(open.pop_back_val());
    if (!known) continue;
    forEachExpr(known->body, [&](const Expr* e) {
      for (const FunctionDecl* f : code_.targets(e))
        if (functions.insert(f->getCanonicalDecl()).second) open.push_back(f);
    });
  }
}

void Surroundings::findShared() {
  for (const Function& f : code_.functions()) {
    if (!runsBeside(f.decl)) continue;
    const bool handler = handlers_.count(f.decl->getCanonicalDecl());
    forEachExpr(f.body, [&](const Expr* e) {
      const ValueDecl* d = isa<DeclRefExpr, MemberExpr>(e) ? declOf(e) : nullptr;
      if (!d || isa<FunctionDecl>(d)) return;
      const auto* v = dyn_cast<VarDecl>(d);
      const bool global = handler && v && v->hasGlobalStorage() && d->getType()->isArithmeticType();
      if (mayBeShared(d->getType()) || global) shared_.insert(d);
    });
  }
}

}  // namespace hvdize
