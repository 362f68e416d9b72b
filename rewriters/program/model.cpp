// SPDX-License-Identifier: Apache-2.0
#include "rewriters/program/model.h"

#include "clang/AST/StmtCXX.h"

#include "rewriters/program/evaluation_loops.h"
#include "rewriters/program/host.h"

using namespace clang;

namespace hvdize {

Model::Model(PassContext& c)
    : context(c), files(c.ast.getSourceManager(), c.frameworkFolder), code(c.ast, files), sites(code, c.dialect), definitions(code),
      threads(code, c.dialect), batches(code, sites, definitions), batchSize(findBatchSize()), kinds(deriveKinds()) {
  for (const Function& f : code.functions())
    if (f.decl->isMain()) main = f.decl;
  for (const Site& s : sites.of(Role::Backward))
    if (const Expr* loss = objectOf(s.call)) backwards.push_back({s.call, loss, kinds.of(loss)});
  trains = !backwards.empty() && !sites.of(Role::Step).empty();
  batchNorm = usesBatchNorm() || !kinds.opaqueForwards().empty();  // what is not seen may hold one
  findOptimizers();
}

Kinds Model::deriveKinds() {
  llvm::DenseSet<const Expr*> sizes(batchSize.places().begin(), batchSize.places().end());
  // Those of evaluation are not multiplied, but in a shape they too mean the rows at hand.
  Quantity evaluated(definitions, Quantity::Changes::Absolute);
  for (const LoaderLoop& l : batches.loaderLoops())
    if (!l.trains) traceLoader(l, evaluated);
  sizes.insert(evaluated.places().begin(), evaluated.places().end());
  const auto derive = [&] { return Kinds(batches, definitions, sites, sizes); };
  EvaluationLoops loops(batches, definitions, sites, context.edits);
  if (context.options.evaluation == EvaluationPolicy::Whole) return loops.keepWhole(derive, "as asked for");
  return loops.share(derive);
}

bool Model::usesBatchNorm() const {
  bool yes = false;
  for (const Function& f : code.functions()) {
    forEachExpr(f.body, [&](const Expr* e) {
      // Made here, or by a function of the framework.
      if (isa<CXXConstructExpr, CallExpr>(e)) yes = yes || context.dialect.is(e->getType(), Role::BatchNorm);
    });
  }
  for (const FieldDecl* f : code.fields()) yes = yes || context.dialect.is(f->getType(), Role::BatchNorm);
  return yes;
}

void Model::findOptimizers() {
  const auto consider = [&](const Expr* e, const CXXConstructorDecl* ctor, const FieldDecl* field) {
    const FunctionDecl* callee = calleeOf(e);
    const auto* k = dyn_cast<CXXConstructExpr>(e);
    const bool makes = hostRole(callee) == HostRole::Forward && callee->getDeclName().isIdentifier() && callee->getName().starts_with("make_");
    const bool direct = k && !k->getConstructor()->isCopyOrMoveConstructor() && !isStdRecord(k->getType());
    if (!(makes || direct) || !context.dialect.is(e->getType(), Role::Optimizer)) return;
    const Entry* entry = context.dialect.lookup(e->getType());
    OptimizerSite site;
    site.construct = e;
    site.rule = entry ? entry->rule : OptimizerRule::None;
    const auto arguments = argumentsOf(e);
    const int at = entry && entry->arg < static_cast<int>(arguments.size()) ? entry->arg : -1;
    if (at >= 0)
      for (const Expr* o : definitions.origins(arguments[at]))
        if (context.dialect.is(o, Role::Parameters) && objectOf(o)) site.model = nameAt(objectOf(o), code.functionOf(e), field);
    if (field) {
      site.name = field->getNameAsString();
      site.constructorBody = ctor ? dyn_cast_or_null<CompoundStmt>(code.find(ctor)->body) : nullptr;
    }
    for (const Stmt* p = e; p && !field; p = code.parent(p)) {
      if (const auto* ds = dyn_cast<DeclStmt>(p)) {
        site.statement = ds;
        for (const Decl* d : ds->decls())
          if (const auto* v = dyn_cast<VarDecl>(d); v && context.dialect.is(v->getType(), Role::Optimizer)) site.name = v->getNameAsString();
        break;
      }
      const Expr* lhs = nullptr;
      if (const auto* o = dyn_cast<CXXOperatorCallExpr>(p); o && o->getOperator() == OO_Equal) lhs = o->getArg(0);
      if (const auto* b = dyn_cast<BinaryOperator>(p); b && b->getOpcode() == BO_Assign) lhs = b->getLHS();
      if (lhs) {
        site.name = text(lhs);
        site.statement = p;
        break;
      }
    }
    for (const OptimizerSite& known : optimizers)
      if (known.construct->getBeginLoc() == e->getBeginLoc()) return;
    optimizers.push_back(site);
  };
  for (const Function& f : code.functions()) {
    if (const auto* ctor = dyn_cast<CXXConstructorDecl>(f.decl))
      for (const CXXCtorInitializer* init : ctor->inits())
        if (init->isWritten()) forEachExpr(init->getInit(), [&](const Expr* e) { if (calleeOf(e)) consider(e, ctor, init->getAnyMember()); });
    forEachExpr(f.body, [&](const Expr* e) { if (calleeOf(e)) consider(e, nullptr, nullptr); });
  }
  // Made where the member is declared: the state is known when the only constructor has run.
  for (const FieldDecl* f : code.fields()) {
    if (!f->getInClassInitializer()) continue;
    const auto* parent = dyn_cast<CXXRecordDecl>(f->getParent());
    const CXXConstructorDecl* only = nullptr;
    unsigned number = 0;
    for (const CXXConstructorDecl* c : parent->ctors())
      if (!c->isImplicit() && !c->isDefaulted() && code.find(c)) only = c, ++number;
    forEachExpr(f->getInClassInitializer(), [&](const Expr* e) { if (calleeOf(e)) consider(e, number == 1 ? only : nullptr, f); });
  }
  for (const ValueDecl* g : code.globals())
    if (const auto* v = dyn_cast<VarDecl>(g); v && v->getInit())
      forEachExpr(v->getInit(), [&](const Expr* e) {
        if (!calleeOf(e)) return;
        const size_t before = optimizers.size();
        consider(e, nullptr, nullptr);
        if (optimizers.size() > before) optimizers.back().name = v->getNameAsString();
      });
}

// How the object that `e` names is called in the function `where`: a parameter of another function by what it is given there.
std::string Model::nameAt(const Expr* e, const FunctionDecl* where, const FieldDecl* field) const {
  const std::string spelled = text(e);
  const auto* v = dyn_cast_or_null<VarDecl>(declOf(e));
  if (!v) return spelled;
  const auto* home = dyn_cast_or_null<FunctionDecl>(v->getDeclContext());
  if (field || !home || !where || home->getCanonicalDecl() == where->getCanonicalDecl()) return spelled.empty() ? v->getNameAsString() : spelled;
  for (const Definition& def : definitions.of(v)) {
    const Expr* given = def.value ? strip(def.value) : nullptr;
    if (given && code.functionOf(given) && code.functionOf(given)->getCanonicalDecl() == where->getCanonicalDecl() && declOf(given)) return text(given);
  }
  const auto* lambda = code.find(where);
  return lambda && lambda->lambda ? spelled : "";
}

std::string Model::text(const Expr* e) const {
  return context.edits.text(e).str();
}

const Stmt* Model::statementOf(const Stmt* s) const {
  for (const Stmt* p = s; p; p = code.parent(p)) {
    const Stmt* up = code.parent(p);
    if (!up || isa<CompoundStmt, CaseStmt, DefaultStmt>(up)) return p;
    if (!isa<Expr>(p) || (!isa<Expr>(up) && !isa<DeclStmt>(up))) return p;
  }
  return s;
}

// A getter, say: its body computes and returns, and neither prints, nor will communicate, nor calls what does.
bool Model::pure(const Expr* call, llvm::DenseSet<const FunctionDecl*>& seen) const {
  for (const FunctionDecl* f : code.targets(call)) {
    if (!seen.insert(f->getCanonicalDecl()).second) return false;
    const Function* known = code.find(f);
    if (!known || !effectFreeBody(known->body, seen)) return false;
    bool acts = false;
    forEachExpr(known->body, [&](const Expr* x) {
      const HostRole role = hostRole(calleeOf(x));
      acts = acts || role == HostRole::Print || role == HostRole::PrintTo || role == HostRole::OpenFile;
      const auto* d = isa<DeclRefExpr>(x) ? declOf(x) : nullptr;
      acts = acts || isConsoleStream(d) || isOutputFile(x->getType()) || context.dialect.is(x, Role::Save);
      // Running statistics are made those of all ranks before they are read.
      const Entry* entry = context.dialect.lookup(x);
      acts = acts || (entry && entry->role == Role::Buffers && batchNorm && !context.options.syncBatchNorm);
    });
    if (acts) return false;
  }
  return true;
}

bool Model::effectFree(const Expr* e) const { return effectFreeIn(e); }

bool Model::effectFreeIn(const Stmt* s) const {
  llvm::DenseSet<const FunctionDecl*> seen;
  return effectFreeBody(s, seen);
}

bool Model::effectFreeBody(const Stmt* s, llvm::DenseSet<const FunctionDecl*>& seen) const {
  bool free = true;
  forEachExpr(s, [&](const Expr* x) {
    if (const auto* r = dyn_cast<DeclRefExpr>(x); r && isConsoleInput(r->getDecl())) free = false;
    if ((kinds.reductions().count(x) && !hoisted.count(x)) || kinds.countedMeans().count(x) || isa<LambdaExpr, CXXNewExpr, CXXDeleteExpr, CXXThrowExpr>(x)) free = false;
    if (const auto* b = dyn_cast<BinaryOperator>(x); b && b->isAssignmentOp()) free = false;
    if (const auto* u = dyn_cast<UnaryOperator>(x); u && u->isIncrementDecrementOp()) free = false;
    const FunctionDecl* f = calleeOf(x);
    if (!f) {
      if (isa<CallExpr>(x)) free = false;
      return;
    }
    if (!code.targets(x).empty() && !isa<CXXConstructExpr>(x)) {
      free = free && pure(x, seen);
      return;
    }
    if (const Entry* entry = context.dialect.lookup(f)) {
      switch (entry->role) {
        case Role::NoEffect: case Role::DatasetSize: case Role::LoaderSize: case Role::LrRead: case Role::Access: case Role::Op:
        case Role::Parameters: case Role::Buffers: case Role::TensorOptions: case Role::LossOptions: case Role::Save: break;
        case Role::ModuleOptions: free = free && (!objectOf(x) || !rootOf(objectOf(x))); break;  // setters of options that are made there
        default: free = free && isa<CXXConstructExpr>(x);
      }
      return;
    }
    if (const auto* m = dyn_cast<CXXMethodDecl>(f); m && !isa<CXXConstructorDecl>(m)) {
      const bool stream = m->getParent()->isInStdNamespace() && m->getParent()->getName().contains("stream");
      if (!m->isConst() && !m->isStatic() && !stream && isSystemDecl(m)) {
        const llvm::StringRef n = m->getDeclName().isIdentifier() ? m->getName() : "[]";
        if (n != "[]" && n != "at" && n != "begin" && n != "end" && n != "data" && n != "front" && n != "back") free = false;
      }
      return;
    }
    const HostRole role = hostRole(f);
    if (role == HostRole::DrawsC || role == HostRole::Exit || role == HostRole::ReadInput || role == HostRole::Shell || role == HostRole::OpenPipe ||
        role == HostRole::FileChange || role == HostRole::SeedC || role == HostRole::Entropy)
      free = false;
    if (!isSystemDecl(f) && !context.dialect.owns(f) && !isa<CXXConstructorDecl>(f)) free = false;
  });
  return free;
}

}  // namespace hvdize
