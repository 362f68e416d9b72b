// SPDX-License-Identifier: Apache-2.0
// `if (std::ifstream("model.pt").good()) load(model, "model.pt");`: whether a file can be opened may differ between ranks, and loading is done
// together. The same for what fopen and opendir give. A branch without a load stays as it is: a rank that cannot read its data says so and ends the job.
#include "clang/AST/StmtCXX.h"

#include "rewriters/passes/steps.h"
#include "rewriters/program/host.h"
#include "rewriters/program/opened_files.h"

using namespace clang;

namespace hvdize {

namespace {

// good(), is_open(), !stream, a stream as a condition.
bool asksState(const Expr* e) {
  const FunctionDecl* f = calleeOf(e);
  const Expr* object = objectOf(e);
  const QualType stream = object ? object->IgnoreParenImpCasts()->getType() : QualType();
  if (!f || !object || !(isInputFile(stream) || isOutputFile(stream))) return false;
  if (isa<CXXConversionDecl>(f) || f->getOverloadedOperator() == OO_Exclaim) return true;
  return f->getDeclName().isIdentifier() && (f->getName() == "good" || f->getName() == "is_open" || f->getName() == "fail");
}

// What fopen for reading or opendir gives, or a variable that holds nothing else.
bool isOpened(const Model& m, const Expr* e) {
  e = strip(e);
  const FunctionDecl* f = calleeOf(e);
  if (f && f->getDeclName().isIdentifier() && f->getName() == "opendir" && isSystemDecl(f)) return true;
  if (const auto opened = f ? openedFile(e, m.definitions) : std::nullopt) return opened->reads && !opened->writes;
  const auto* v = isa<DeclRefExpr>(e) ? dyn_cast_or_null<VarDecl>(declOf(e)) : nullptr;
  if (!v || !v->isLocalVarDecl()) return false;
  const auto given = m.definitions.of(v);
  return !given.empty() && llvm::all_of(given, [&](const Definition& d) { return d.value && !d.compound && calleeOf(strip(d.value)) && isOpened(m, d.value); });
}

// `file`, `!file`, `file != NULL` for a pointer that says whether something could be opened.
bool asksPointer(const Model& m, const Expr* e) {
  if (const auto* cast = dyn_cast<ImplicitCastExpr>(e); cast && cast->getCastKind() == CK_PointerToBoolean) return isOpened(m, cast->getSubExpr());
  const auto* b = dyn_cast<BinaryOperator>(e);
  if (!b || !b->isEqualityOp() || !b->getLHS()->getType()->isPointerType()) return false;
  const auto isNull = [&](const Expr* x) { return x->isNullPointerConstant(m.context.ast, Expr::NPC_ValueDependentIsNotNull) != Expr::NPCK_NotNull; };
  return (isNull(b->getRHS()) && isOpened(m, b->getLHS())) || (isNull(b->getLHS()) && isOpened(m, b->getRHS()));
}

// In a loop of training steps, `if (std::ifstream("STOP").good()) break;`: not what a stream says that is read from as the steps go on.
bool stopsSteps(const Model& m, const Expr* condition, const Stmt* branch) {
  const auto leaves = [](auto&& self, const Stmt* s) -> bool {
    if (!s || isa<LambdaExpr>(s)) return false;
    return isa<BreakStmt, ReturnStmt, GotoStmt, ContinueStmt>(s) || llvm::any_of(s->children(), [&](const Stmt* c) { return self(self, c); });
  };
  if (!leaves(leaves, branch)) return false;
  for (const Stmt* loop : m.sites.loopsAround(branch)) {
    if (!m.sites.reaches(loop, Role::Step)) continue;
    bool own = true;  // what is asked was opened in the round
    forEachExpr(condition, [&](const Expr* x) {
      const auto* v = isa<DeclRefExpr>(x) ? dyn_cast_or_null<VarDecl>(declOf(x)) : nullptr;
      const DeclStmt* ds = v ? m.code.declStmt(v) : nullptr;
      own = own && (!v || (ds && isWithin(m.code, ds, loop)));
    });
    return own;
  }
  return false;
}

bool testsInputFile(const Model& m, const Expr* e, llvm::DenseSet<const void*>& seen) {
  bool tests = false;
  forEachExpr(e, [&](const Expr* x) {
    if (tests || !seen.insert(x).second) return;
    tests = asksState(x) || asksPointer(m, x);
    const auto* v = isa<DeclRefExpr>(x) ? dyn_cast_or_null<VarDecl>(declOf(x)) : nullptr;
    if (v && v->getType()->isBooleanType())
      for (const Definition& d : m.definitions.of(v)) tests = tests || (d.value && testsInputFile(m, d.value, seen));
    if (!x->getType()->isBooleanType()) return;
    for (const FunctionDecl* f : m.code.targets(x))
      for (const Expr* r : m.definitions.returns(f)) tests = tests || testsInputFile(m, r, seen);
  });
  return tests;
}

// `std::ifstream("/dev/urandom")`: every rank would read numbers of its own.
void refuseEntropy(Model& m) {
  const auto look = [&](const Expr* e) {
    const auto opened = openedFile(e, m.definitions);
    if (!opened || !opened->reads) return;
    for (const Expr* o : m.definitions.origins(opened->path)) {
      const Expr* path = strip(o);
      if (const auto* made = dyn_cast<CXXConstructExpr>(path); made && !argumentsOf(made).empty()) path = strip(argumentsOf(made)[0]);
      const auto* text = dyn_cast<StringLiteral>(path);
      if (text && llvm::is_contained({"/dev/urandom", "/dev/random", "/dev/hwrng"}, text->getString()))
        m.context.diags.report(DiagID::KindUnknown, e->getSourceRange(), m.text(e),
                               "it reads the entropy of this machine, which differs between ranks (use std::random_device, whose value they can share)");
    }
  };
  for (const Root& r : m.code.roots()) forEachExpr(r.code, look);
}

// Does the branch hold a loop that the root goes through while the others wait, or does it leave the function before one?
bool meets(const Model& m, const Stmt* branch) {
  const bool leaves = isa<ReturnStmt>(branch) || (isa<CompoundStmt>(branch) && !cast<CompoundStmt>(branch)->body_empty() && isa<ReturnStmt>(cast<CompoundStmt>(branch)->body_back()));
  return llvm::any_of(m.folderLoops->loops(), [&](const FolderLoops::Loop& l) {
    return isWithin(m.code, l.statement, branch) || (leaves && m.code.functionOf(l.statement) == m.code.functionOf(branch));
  });
}

}  // namespace

void agreeOnInputFiles(Model& m) {
  refuseEntropy(m);
  const auto look = [&](const Expr* condition, const Stmt* one, const Stmt* other, const VarDecl* declared) {
    llvm::DenseSet<const void*> seen;
    if (m.kinds.localConditions().count(condition) || m.folderLoops->holds(condition) || !testsInputFile(m, condition, seen)) return;
    const auto decides = [&](const Stmt* branch) { return branch && (stopsSteps(m, condition, branch) || m.sites.reaches(branch, Role::Load) || meets(m, branch)); };
    if (!decides(one) && !decides(other)) return;
    m.context.diags.report(DiagID::DecisionAgreed, condition->getSourceRange(), "whether a file can be opened");
    const auto* call = dyn_cast<CXXMemberCallExpr>(condition->IgnoreParenImpCasts());
    const bool stream = call && isa_and_nonnull<CXXConversionDecl>(call->getMethodDecl());  // converts in a condition only
    if (declared) {  // `if (std::ifstream in{path})`: the condition is a declaration
      m.context.edits.insertAfterToken(declared->getEndLoc(), "; hvd::agree(static_cast<bool>(" + declared->getNameAsString() + "))",
                                       {DiagID::DecisionAgreed, "the root decides"});
      return;
    }
    m.context.edits.wrap(condition, stream ? "hvd::agree(static_cast<bool>(" : "hvd::agree(", stream ? "))" : ")", {DiagID::DecisionAgreed, "the root decides"});
  };
  const auto visit = [&](auto&& self, const Stmt* s) -> void {
    if (!s) return;
    if (const auto* i = dyn_cast<IfStmt>(s)) look(i->getCond(), i->getThen(), i->getElse(), i->getConditionVariable());
    if (const auto* c = dyn_cast<ConditionalOperator>(s)) look(c->getCond(), c->getTrueExpr(), c->getFalseExpr(), nullptr);
    for (const Stmt* c : s->children()) self(self, c);
  };
  for (const Function& f : m.code.functions()) visit(visit, f.body);
}

}  // namespace hvdize
