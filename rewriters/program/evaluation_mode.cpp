// SPDX-License-Identifier: Apache-2.0
#include "rewriters/program/evaluation_mode.h"

#include "clang/AST/StmtCXX.h"

using namespace clang;

namespace hvdize {

namespace {

// Functions that call each other in longer chains prove nothing.
constexpr unsigned kDeepestCall = 6;

// `net` of net->eval(), the field of model_->eval(), null for the object itself.
const ValueDecl* receiver(const Expr* call) {
  const Expr* object = objectOf(call);
  object = object ? pointed(object) : nullptr;
  return object && !isa<CXXThisExpr>(object) ? declOf(object) : nullptr;
}

// Does the call leave the model in evaluation mode: eval(), train(false)?
bool switchesToEvaluation(const Entry& entry, const Expr* call, const ASTContext& ast) {
  const auto arguments = argumentsOf(call);
  if (entry.role == Role::EvalMode) return arguments.empty();
  bool value = true;
  return entry.role == Role::TrainMode && arguments.size() == 1 && !arguments[0]->isValueDependent() &&
         arguments[0]->EvaluateAsBooleanCondition(value, ast) && !value;
}

}  // namespace

bool EvaluationMode::matters() const {
  bool yes = false;
  const auto is = [&](QualType t) { return dialect_.is(t, Role::BatchNorm) || dialect_.is(t, Role::Dropout); };
  for (const Root& r : code_.roots())
    forEachExpr(r.code, [&](const Expr* e) {
      if (isa<CXXConstructExpr, CallExpr>(e)) yes = yes || is(e->getType());
    });
  for (const FieldDecl* f : code_.fields()) yes = yes || is(f->getType());
  // A draw in a model's own function may be dropout that asks for the mode.
  for (const Site& s : sites_.of(Role::RandomDraw)) {
    const auto* m = dyn_cast_or_null<CXXMethodDecl>(s.function);
    yes = yes || (m && dialect_.is(m->getParent(), Role::Module) && !isa<CXXConstructorDecl>(m));
  }
  return yes || !sites_.of(Role::Buffers).empty();
}

// Is there one module that is no part of another, whatever its names in functions that get it?
bool EvaluationMode::oneModel() const {
  llvm::DenseSet<const ValueDecl*> models;
  for (const Function& f : code_.functions())
    forEachExpr(f.body, [&](const Expr* e) {
      const ValueDecl* d = isa<DeclRefExpr, MemberExpr>(e) ? declOf(e) : nullptr;
      if (!d || isa<ParmVarDecl, FunctionDecl>(d) || !dialect_.is(d->getType(), Role::Module)) return;
      if (dialect_.is(d->getType(), Role::LossModule)) return;
      const auto* field = dyn_cast<FieldDecl>(d);
      const auto* parent = field ? dyn_cast<CXXRecordDecl>(field->getParent()) : nullptr;
      if (!parent || !dialect_.is(parent, Role::Module)) models.insert(cast<ValueDecl>(d->getCanonicalDecl()));
    });
  return models.size() <= 1;
}

// The models that the body calls itself. Empty: helpers call them.
EvaluationMode::Models EvaluationMode::modelsIn(const Stmt* body) const {
  Models models;
  forEachExpr(body, [&](const Expr* e) {
    const FunctionDecl* callee = calleeOf(e);
    const Expr* object = callee ? objectOf(e) : nullptr;
    if (!object || !dialect_.is(object->getType().getNonReferenceType(), Role::Module)) return;
    if (dialect_.is(object->getType(), Role::LossModule)) return;
    const bool forward = callee->getOverloadedOperator() == OO_Call ||
                         (callee->getDeclName().isIdentifier() && callee->getName().contains_insensitive("forward"));
    // A part of a model is in the mode of the whole.
    const Expr* named = pointed(object);
    while (const auto* part = dyn_cast_or_null<MemberExpr>(named)) {
      const Expr* whole = pointed(part->getBase());
      if (!whole || !dialect_.is(whole->getType().getNonReferenceType(), Role::Module)) break;
      named = whole;
    }
    const ValueDecl* model = named && !isa<CXXThisExpr>(named) ? declOf(named) : nullptr;
    if (forward && !llvm::is_contained(models, model)) models.push_back(model);
  });
  return models;
}

// May running `s` put a model into training mode?
bool EvaluationMode::trains(const Stmt* s) const {
  bool yes = false;
  forEachExpr(s, [&](const Expr* e) {
    const Entry* entry = calleeOf(e) ? dialect_.lookup(calleeOf(e)) : nullptr;
    if (entry && entry->role == Role::TrainMode) yes = yes || !switchesToEvaluation(*entry, e, code_.context());
    for (const FunctionDecl* f : code_.targets(e)) yes = yes || sites_.functionReaches(f, Role::TrainMode);
    if (const auto* l = dyn_cast<LambdaExpr>(e)) yes = yes || sites_.functionReaches(l->getCallOperator(), Role::TrainMode);
  });
  return yes;
}

// May running `s` call a module?
bool EvaluationMode::callsModel(const Stmt* s, llvm::DenseSet<const FunctionDecl*>& seen) const {
  bool yes = sites_.reaches(s, Role::Forward);
  forEachExpr(s, [&](const Expr* e) {
    if (yes) return;
    const auto* m = dyn_cast_or_null<CXXMethodDecl>(calleeOf(e));
    yes = m && !isa<CXXConstructorDecl>(m) && dialect_.is(m->getParent(), Role::Module) && !dialect_.is(m->getParent(), Role::LossModule);
    // What a std::function or a pointer leads to is not seen.
    yes = yes || (isa<CallExpr>(e) && !calleeOf(e));
    for (const FunctionDecl* f : code_.targets(e)) {
      const Function* known = code_.find(f);
      if (known && seen.insert(f->getCanonicalDecl()).second) yes = yes || callsModel(known->body, seen);
    }
  });
  return yes;
}

bool EvaluationMode::certainBefore(const Stmt* loop) const {
  llvm::DenseSet<const FunctionDecl*> seen;
  if (!callsModel(loopBody(loop), seen)) return true;
  const Models models = modelsIn(loopBody(loop));
  if (models.empty() && !oneModel()) return false;
  return proven(loop, models, 0);
}

// A statement that runs before: does it prove what is open? False when it puts a model back into training mode.
bool EvaluationMode::certain(const Stmt* before, Models& open) const {
  const Expr* e = dyn_cast<Expr>(before) ? strip(cast<Expr>(before)) : nullptr;
  const Entry* entry = e && calleeOf(e) ? dialect_.lookup(calleeOf(e)) : nullptr;
  if (entry && switchesToEvaluation(*entry, e, code_.context())) {
    const ValueDecl* model = receiver(e);
    llvm::erase(open, model);
    return true;
  }
  return !trains(before);
}

// Back through the blocks around `at`, and through the callers of the function.
bool EvaluationMode::proven(const Stmt* at, Models open, unsigned depth) const {
  const bool any = open.empty();  // helpers call the one model there is: any switch is its
  const Stmt* child = at;
  for (const Stmt* p = code_.parent(at); p; child = p, p = code_.parent(p)) {
    if (const auto* block = dyn_cast<CompoundStmt>(p)) {
      llvm::SmallVector<const Stmt*, 16> before;
      for (const Stmt* s : block->body()) {
        if (s == child) break;
        before.push_back(s);
      }
      for (const Stmt* s : llvm::reverse(before)) {
        const Expr* e = dyn_cast<Expr>(s) ? strip(cast<Expr>(s)) : nullptr;
        const Entry* entry = e && calleeOf(e) ? dialect_.lookup(calleeOf(e)) : nullptr;
        if (any && entry && switchesToEvaluation(*entry, e, code_.context())) return true;
        if (!certain(s, open)) return false;
        if (!any && open.empty()) return true;
      }
    }
    // What comes behind in a loop runs before the next round.
    if (isLoop(p) && trains(p)) return false;
  }
  const FunctionDecl* f = code_.functionOf(at);
  return f && depth < kDeepestCall && provenByCallers(f, open, depth);
}

bool EvaluationMode::provenByCallers(const FunctionDecl* f, const Models& open, unsigned depth) const {
  llvm::SmallVector<const Stmt*, 4> callers;
  for (const CallSite& c : code_.callers(f)) callers.push_back(c.call);
  const Function* known = code_.find(f);
  if (known && known->lambda && callers.empty()) return false;
  if (callers.empty()) return false;
  return llvm::all_of(callers, [&](const Stmt* c) {
    const auto* call = cast<Expr>(c);
    Models there;
    for (const ValueDecl* d : open) {
      const auto* p = dyn_cast_or_null<ParmVarDecl>(d);
      if (!p || p->getDeclContext() != static_cast<const DeclContext*>(f)) {
        // The object's own function: the object it is called on.
        const Expr* object = d ? nullptr : objectOf(call);
        const Expr* named = object ? pointed(object) : nullptr;
        there.push_back(d ? d : named && !isa<CXXThisExpr>(named) ? declOf(named) : nullptr);
        continue;
      }
      const auto arguments = argumentsOf(call);
      const unsigned i = p->getFunctionScopeIndex();
      const Expr* given = i < arguments.size() ? pointed(arguments[i]) : nullptr;
      const ValueDecl* model = given ? declOf(given) : nullptr;
      if (!model) return false;
      there.push_back(model);
    }
    return proven(call, there, depth + 1);
  });
}

}  // namespace hvdize
