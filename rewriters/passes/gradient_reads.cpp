// SPDX-License-Identifier: Apache-2.0
#include "rewriters/passes/gradient_reads.h"

#include "clang/AST/StmtCXX.h"

using namespace clang;

namespace hvdize {

namespace {

// What makes it there already: no variable that begins in the statement.
bool isKnownBefore(const Model& m, const Expr* e, const Stmt* before) {
  bool known = true;
  forEachExpr(e, [&](const Expr* x) {
    const auto* r = dyn_cast<DeclRefExpr>(x);
    const auto* v = r ? dyn_cast<VarDecl>(r->getDecl()) : nullptr;
    const DeclStmt* declared = v && v->isLocalVarDecl() ? m.code.declStmt(v) : nullptr;
    known = known && !isa<LambdaExpr>(x) && !(r && isa<BindingDecl>(r->getDecl())) && !(declared && isWithin(m.code, declared, before));
  });
  return known;
}

// `net->parameters()`, or a list of tensors that has a name.
std::string listNamed(const Model& m, const Expr* e, const Stmt* before) {
  e = strip(e);
  const bool asked = calleeOf(e) && m.context.dialect.is(e, Role::Parameters);
  const Expr* named = asked ? objectOf(e) : e;
  if (!named && asked) return "";
  if (!m.mayNameAgain(named) && !isa<CXXThisExpr>(strip(named))) return "";
  return isKnownBefore(m, e, before) ? m.text(e) : "";
}

// for (auto& p : net->parameters()), for (auto& item : net->named_parameters())
const CXXForRangeStmt* loopOver(const Model& m, const ValueDecl* d, const Stmt* at) {
  for (const Stmt* p = at; p; p = m.code.parent(p))
    if (const auto* loop = dyn_cast<CXXForRangeStmt>(p); loop && loop->getLoopVariable() == d) return loop;
  return nullptr;
}

// What lists the gradients that are read: net->parameters() of a clipping and of a loop, list of list[i].grad().
const Expr* listRead(const Model& m, const Site& read) {
  const auto arguments = argumentsOf(read.call);
  if (read.entry->arg >= 0) return read.entry->arg < static_cast<int>(arguments.size()) ? strip(arguments[read.entry->arg]) : nullptr;
  const Expr* object = objectOf(read.call);
  if (!object || read.entry->optimizer >= 0) return nullptr;
  object = strip(object);
  if (const Expr* list = calleeOf(object) ? objectOf(object) : nullptr; list && isStdRecord(list->getType().getNonReferenceType())) return strip(list);
  const ValueDecl* d = isa<DeclRefExpr>(object) ? declOf(object) : rootOf(object);
  const CXXForRangeStmt* loop = d ? loopOver(m, d, read.call) : nullptr;
  return loop ? strip(loop->getRangeInit()) : nullptr;
}

// The model whose parameters a list has, as it is spelled where it is asked for them; empty where it is not seen, or there are several.
std::string modelListed(const Model& m, const Expr* list) {
  const auto asked = [&](const Expr* e) { return calleeOf(e) && m.context.dialect.is(e, Role::Parameters) ? objectOf(e) : nullptr; };
  if (const Expr* object = asked(list)) return m.text(object);
  std::string model;
  for (const Expr* o : m.definitions.origins(list)) {
    const Expr* object = asked(strip(o));
    if (!object || (!model.empty() && model != m.text(object))) return "";
    model = m.text(object);
  }
  return model;
}

// Variables and members that are models, but for parts of models.
unsigned modelsOf(const Model& m) {
  unsigned n = 0;
  const auto count = [&](const ValueDecl* d) {
    const QualType t = d->getType();
    n += !t->isReferenceType() && m.context.dialect.is(t, Role::Module) ? 1 : 0;
  };
  for (const FieldDecl* f : m.code.fields())
    if (const auto* in = dyn_cast<CXXRecordDecl>(f->getParent()); in && !m.context.dialect.is(in, Role::Module)) count(f);
  for (const ValueDecl* g : m.code.globals()) count(g);
  const auto walk = [&](auto&& self, const Stmt* s) -> void {
    if (!s || isa<LambdaExpr>(s)) return;
    if (const auto* ds = dyn_cast<DeclStmt>(s))
      for (const Decl* d : ds->decls())
        if (const auto* v = dyn_cast<VarDecl>(d)) count(v);
    for (const Stmt* c : s->children()) self(self, c);
  };
  for (const Function& f : m.code.functions()) walk(walk, f.body);
  return n;
}

}  // namespace

bool readsAnotherModel(const Model& m, const Site& read, llvm::ArrayRef<std::string> optimizers) {
  const Expr* list = listRead(m, read);
  const std::string model = list ? modelListed(m, list) : "";
  if (model.empty() || optimizers.empty() || (m.optimizers.size() < 2 && modelsOf(m) < 2)) return false;
  return llvm::all_of(optimizers, [&](const std::string& name) {
    bool known = false, same = false;
    for (const OptimizerSite& o : m.optimizers) {
      if (o.name != name) continue;
      known = true;
      same = same || o.model == model || (o.model.empty() && m.optimizers.size() == 1);
    }
    return known && !same;
  });
}

std::string parametersRead(const Model& m, const Site& read, const Stmt* before) {
  if (!m.context.dialect.reducesParameters()) return "";
  const auto isTensor = [&](const Expr* e) { return m.context.dialect.is(e->getType().getNonReferenceType(), Role::Tensor); };
  if (const Expr* list = listRead(m, read)) return isTensor(list) ? "" : listNamed(m, list, before);
  const Expr* object = read.entry->arg < 0 && read.entry->optimizer < 0 ? objectOf(read.call) : nullptr;
  if (!object) return "";
  object = strip(object);
  if (!isTensor(object) || isa<CallExpr>(object) || !m.mayNameAgain(object) || !isKnownBefore(m, object, before)) return "";
  return "{" + m.text(object) + "}";
}

}  // namespace hvdize
