// SPDX-License-Identifier: Apache-2.0
#include "rewriters/program/shared_meanings.h"

#include "clang/AST/StmtCXX.h"

#include "rewriters/program/model.h"

using namespace clang;

namespace hvdize {

namespace {

bool isSize(const Model& m, const Expr* spelled) {
  const Expr* e = strip(spelled);
  while (const auto* cast = dyn_cast<ExplicitCastExpr>(e)) e = strip(cast->getSubExpr());
  if (m.batchSize.places().count(e) || m.batchSize.places().count(spelled)) return true;
  const ValueDecl* d = isa<DeclRefExpr, MemberExpr>(e) ? declOf(e) : nullptr;
  return d && m.batchSize.scaled().count(d);
}

// The variable or member that gets the new tensor, perhaps converted on the way.
const ValueDecl* keptIn(const Model& m, const Expr* made) {
  for (const Stmt* p = made; p && isa<Expr>(p); p = m.code.parent(p)) {
    const auto* e = cast<Expr>(p);
    if (const VarDecl* v = m.code.variableInitialisedBy(p)) return v;
    if (const auto* o = dyn_cast<CXXOperatorCallExpr>(e); o && o->getOperator() == OO_Equal && o->getNumArgs() == 2) return declOf(strip(o->getArg(0)));
  }
  return nullptr;
}

// Does a function of the program get it? What it is there is another question.
bool isGivenAway(const Model& m, const Expr* use) {
  for (const Stmt* p = m.code.parent(use); p && isa<Expr>(p); p = m.code.parent(p))
    if (!m.code.targets(cast<Expr>(p)).empty()) return true;
  return false;
}

// A table that steps read, though none of them takes its rows for those of samples.
bool isTable(const Model& m, const Expr* made) {
  const ValueDecl* d = keptIn(m, made);
  if (!d || m.kinds.ofDecl(d).dependsOnSamples()) return false;
  bool read = false, rows = false;
  for (const Expr* use : m.definitions.uses(d)) {
    read = read || m.batches.inStep(use) > 0;
    rows = rows || isGivenAway(m, use);
    rows = rows || m.kinds.wholeDraws().count(use) || m.kinds.carriedStates().count(use) || m.batches.shards().count(use);
    for (const Expr* shard : m.batches.shards()) rows = rows || isWithin(m.code, use, shard);
  }
  return read && !rows;
}

}  // namespace

const Expr* otherUseOfBatchSize(const Model& m) {
  const Expr* found = nullptr;
  for (const Root& root : m.code.roots())
    forEachExpr(root.code, [&](const Expr* e) {
      if (found || !calleeOf(e)) return;
      const Entry* entry = m.context.dialect.lookup(e);
      const CXXRecordDecl* made = isa<CXXConstructExpr>(e) ? m.context.dialect.recordOf(e->getType()) : nullptr;  // of Linear the layer behind it
      const bool layer = (entry && entry->role == Role::ModuleOptions) || (made && (m.context.dialect.is(made, Role::ModuleOptions) || (m.context.dialect.owns(made) && m.context.dialect.is(made, Role::Module))));
      const bool operation = entry && entry->role == Role::Op && entry->op != OpKind::Select && entry->op != OpKind::Reshape && entry->op != OpKind::Factory && entry->op != OpKind::Scale;
      const bool fresh = entry && m.batches.inStep(e) == 0 && ((entry->role == Role::Op && entry->op == OpKind::Factory) || entry->role == Role::RandomDraw);
      const auto arguments = argumentsOf(e);
      for (unsigned i = 0; i < arguments.size() && !found; ++i) {
        const ParmVarDecl* p = parameterOf(e, i);
        const bool whole = p && p->getType().getNonReferenceType()->isIntegerType() && !p->getType()->isBooleanType();
        if (layer && isSize(m, arguments[i])) found = arguments[i];
        if (operation && whole && isSize(m, arguments[i])) found = arguments[i];
        if (!fresh) continue;
        const auto list = static_cast<int>(i) == entry->shape ? extentsOf(arguments[i]) : std::nullopt;
        const auto* in = list ? llvm::find_if(*list, [&](const Expr* x) { return isSize(m, x); }) : nullptr;
        const Expr* size = list ? (in != list->end() ? *in : nullptr) : isSize(m, arguments[i]) ? arguments[i] : nullptr;
        if (size && isTable(m, e)) found = size;
      }
    });
  return found;
}

bool isGivenToProgram(const Model& m, const Expr* read) { return isGivenAway(m, read); }

// `p.mul_(1 - rate * decay)`, p of net->parameters(): a parameter is changed by as much as the rate says.
static bool changesParameter(const Model& m, const Expr* change) {
  const auto* o = dyn_cast<CXXOperatorCallExpr>(change);
  const Expr* changed = o && o->isAssignmentOp() ? o->getArg(0) : calleeName(change).ends_with("_") ? objectOf(change) : nullptr;
  std::vector<const Expr*> made = changed ? m.definitions.origins(changed) : std::vector<const Expr*>();
  const auto* v = changed ? dyn_cast_or_null<VarDecl>(rootOf(changed)) : nullptr;
  const DeclStmt* declared = v ? m.code.declStmt(v) : nullptr;
  if (const auto* range = dyn_cast_or_null<CXXForRangeStmt>(declared ? m.code.parent(declared) : nullptr)) made.push_back(range->getRangeInit());
  return llvm::any_of(made, [&](const Expr* from) {
    bool found = false;
    forEachExpr(from, [&](const Expr* x) { found = found || (calleeOf(x) && m.context.dialect.is(x, Role::Parameters)); });
    return found;
  });
}

bool isOtherOption(const Model& m, const Expr* read) {
  for (const Stmt* p = m.code.parent(read); p && isa<Expr>(p); p = m.code.parent(p)) {
    const auto* e = cast<Expr>(p);
    const FunctionDecl* f = calleeOf(e);
    if (!f || isa<CXXConstructExpr>(e) || !m.context.dialect.owns(f)) continue;
    if (objectOf(e) && isWithin(m.code, read, objectOf(e))) return false;  // SGDOptions(rate).momentum(0.9)
    const Entry* entry = m.context.dialect.lookup(e);
    if (entry && entry->role == Role::Op && changesParameter(m, e)) return false;
    return entry && (entry->role == Role::OptimizerOptions || entry->role == Role::ModuleOptions || entry->role == Role::LossOptions || entry->role == Role::Op);
  }
  return false;
}

}  // namespace hvdize
