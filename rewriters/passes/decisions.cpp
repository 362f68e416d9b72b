// SPDX-License-Identifier: Apache-2.0
// Conditions that may differ between ranks: all take the root's, or the program is refused where no agreement could help.
#include "clang/AST/StmtCXX.h"

#include "rewriters/passes/steps.h"
#include "rewriters/program/files.h"
#include "rewriters/program/host.h"

using namespace clang;

namespace hvdize {

namespace {

// A choice within what is printed, without effects: `printf("%s", seconds > 60 ? "slow" : "fast")`.
bool isShownOnly(const Model& m, const Stmt* choice) {
  const auto* c = dyn_cast<ConditionalOperator>(choice);
  if (!c || !m.effectFree(c->getTrueExpr()) || !m.effectFree(c->getFalseExpr())) return false;
  for (const Stmt* p = c; p && isa<Expr>(p); p = m.code.parent(p))
    if (isConsoleOutput(m, cast<Expr>(p))) return true;
  return false;
}

bool trains(const Model& m, const Stmt* s) { return s && (m.sites.reaches(s, Role::Step) || m.sites.reaches(s, Role::Backward)); }

// Does a way out of `s` decide over training steps: `break` and `continue` of a loop with steps in it, a return to such a loop?
class WaysOut {
 public:
  explicit WaysOut(const Model& m) : m_(m) {}

  bool decideOverSteps(const Stmt* s) {
    if (!s) return false;
    if (trains(m_, s)) return true;
    if (isa<BreakStmt, ContinueStmt>(s)) {
      const Stmt* loop = m_.code.parent(s);
      while (loop && !isLoop(loop) && !(isa<BreakStmt>(s) && isa<SwitchStmt>(loop))) loop = m_.code.parent(loop);
      return trains(m_, loop);
    }
    if (isa<GotoStmt>(s)) return loopAroundTrains(s);
    if (isa<ReturnStmt>(s)) return loopAroundTrains(s) || returnsToSteps(m_.code.functionOf(s));
    return llvm::any_of(s->children(), [&](const Stmt* c) { return decideOverSteps(c); });
  }

 private:
  // `while (!queue.take(item)) pause();` waits until there is something.
  bool waitsHere(const Stmt* s) const {
    for (const Stmt *p = s, *up = m_.code.parent(s); up && isa<Expr, WhileStmt, DoStmt>(up); p = up, up = m_.code.parent(up)) {
      if (const auto* w = dyn_cast<WhileStmt>(up)) return w->getCond() == p && !trains(m_, w);
      if (const auto* d = dyn_cast<DoStmt>(up)) return d->getCond() == p && !trains(m_, d);
    }
    return false;
  }

  bool loopAroundTrains(const Stmt* s) const {
    if (waitsHere(s)) return false;
    for (const Stmt* p = m_.code.parent(s); p; p = m_.code.parent(p))
      if (isLoop(p) && trains(m_, p)) return true;
    return false;
  }

  bool returnsToSteps(const FunctionDecl* f) {
    if (!f || !seen_.insert(f->getCanonicalDecl()).second) return false;
    if (const Function* known = m_.code.find(f); known && !known->lambda && trains(m_, known->body)) return true;
    return llvm::any_of(m_.code.callers(f), [&](const CallSite& c) {
      return !waitsHere(c.call) && (loopAroundTrains(c.call) || returnsToSteps(c.caller));
    });
  }

  const Model& m_;
  llvm::DenseSet<const FunctionDecl*> seen_;
};

// What hangs on how far a thread has come: the ranks cannot agree on it, for one of them may have no samples yet that the root has.
void refuseThreadProgress(Model& m, const Expr* condition, const Stmt* controlled, const Value& v) {
  WaysOut ways(m);
  if (!ways.decideOverSteps(controlled)) return;
  m.context.diags.report(DiagID::RankLocalBranch, condition->getSourceRange(), m.text(condition), v.why, "training steps");
}

// Items whose order says something of the data: not tasks, threads, or what they have promised.
bool holdsData(const ValueDecl* container) {
  const auto* list = dyn_cast_or_null<ClassTemplateSpecializationDecl>(container->getType().getNonReferenceType()->getAsCXXRecordDecl());
  if (!list || list->getTemplateArgs().size() == 0 || list->getTemplateArgs()[0].getKind() != TemplateArgument::Type) return false;
  const llvm::StringRef name = list->getName();
  if (name == "map" || name == "set" || name == "multimap") return false;  // in an order of their own
  const CXXRecordDecl* item = list->getTemplateArgs()[0].getAsType()->getAsCXXRecordDecl();
  if (!item || !item->isInStdNamespace() || !item->getIdentifier()) return true;
  return !llvm::is_contained({"function", "move_only_function", "packaged_task", "promise", "future", "thread", "jthread", "exception_ptr", "basic_string"}, item->getName());
}

void warnOfThreadOrder(const Model& m) {
  llvm::DenseSet<const ValueDecl*> told;
  for (const ThreadProgress::Mixed& mixed : m.kinds.threadProgress().mixed()) {
    if (!holdsData(mixed.container) || !told.insert(mixed.container).second) continue;
    const bool sorted = llvm::any_of(m.definitions.uses(mixed.container), [&](const Expr* use) {
      for (const Stmt* p = use; p && isa<Expr>(p); p = m.code.parent(p))
        if (const llvm::StringRef name = calleeName(cast<Expr>(p)); name == "sort" || name == "stable_sort") return true;
      return false;
    });
    if (!sorted) m.context.diags.report(DiagID::ThreadOrder, mixed.put->getSourceRange(), mixed.container->getName());
  }
}

void agreeOn(Model& m, const Expr* condition, const Value& v) {
  m.context.diags.report(DiagID::DecisionAgreed, condition->getSourceRange(), v.why ? v.why : "what only this rank knows");
  m.context.edits.wrap(condition, "hvd::agree(", ")", {DiagID::DecisionAgreed, "the root decides"});
}

// `exists(path) && resume(path, net)`: all ranks must come to the right side, or none, so they agree on the left side alone.
class Sides {
 public:
  explicit Sides(Model& m) : m_(m) {
    for (const Root& r : m.code.roots()) forEachExpr(r.code, [&](const Expr* e) { look(e); });
  }

  /// Is what is left of the condition, once its sides are agreed on, the same on all ranks?
  bool settle(const Expr* condition) const {
    const auto* b = dyn_cast<BinaryOperator>(strip(condition));
    if (!b || !b->isLogicalOp() || !(agreed_.contains(b) || settle(b->getLHS()))) return false;
    const Value right = m_.kinds.of(b->getRHS());
    if (right.kind == Kind::RankLocal && !settle(b->getRHS())) agreeOn(m_, b->getRHS(), right);
    return true;
  }

 private:
  void look(const Expr* e) {
    const auto* b = dyn_cast<BinaryOperator>(e);
    if (!b || !b->isLogicalOp() || agreed_.contains(b)) return;
    look(strip(b->getLHS()));
    if (m_.effectFree(b->getRHS()) || m_.folderLoops->holds(b->getLHS()) || m_.threads.mayRun(b)) return;
    const Value left = m_.kinds.of(b->getLHS());
    if (left.kind != Kind::RankLocal || left.why == ThreadProgress::kWhy || !agreed_.insert(b).second) return;
    if (!settle(b->getLHS())) agreeOn(m_, b->getLHS(), left);
  }

  Model& m_;
  llvm::DenseSet<const BinaryOperator*> agreed_;
};

}  // namespace

// May the handler get an error that the framework has thrown?
static bool catchesFrameworks(const Model& m, const CXXCatchStmt* handler) {
  const auto* caught = handler->getExceptionDecl() ? handler->getCaughtType().getNonReferenceType()->getAsCXXRecordDecl() : nullptr;
  const bool whole = caught && caught->isInStdNamespace() && caught->getIdentifier() &&
                     (caught->getName() == "exception" || caught->getName() == "runtime_error" || caught->getName() == "bad_alloc");
  return !handler->getExceptionDecl() || whole || (caught && m.context.dialect.owns(caught));
}

// Is what the function returns the status of the program? `int main() { return run(); }`
static bool isProgramsStatus(const Model& m, const FunctionDecl* f, unsigned depth) {
  if (f->isMain()) return true;
  const auto callers = m.code.callers(f);
  return depth < 4 && !callers.empty() && llvm::all_of(callers, [&](const CallSite& c) {
    const Stmt* p = m.code.parent(c.call);
    while (isa_and_nonnull<Expr>(p) && strip(cast<Expr>(p)) == strip(c.call)) p = m.code.parent(p);
    return isa_and_nonnull<ReturnStmt>(p) && c.caller && isProgramsStatus(m, m.code.functionOf(c.call), depth + 1);
  });
}

// Does the program go on behind this handler?
static bool goesOn(const Model& m, const CXXCatchStmt* handler) {
  const auto* block = cast<CompoundStmt>(handler->getHandlerBlock());
  const Stmt* last = block->body_empty() ? nullptr : block->body_back();
  const auto* thrown = isa_and_nonnull<Expr>(last) ? dyn_cast<CXXThrowExpr>(strip(cast<Expr>(last))) : nullptr;
  if (thrown) return thrown->getSubExpr() != nullptr;
  // A program that ends here with another status than 0 ends the job.
  const auto* left = dyn_cast_or_null<ReturnStmt>(last);
  const FunctionDecl* f = left && left->getRetValue() ? m.code.functionOf(left) : nullptr;
  Expr::EvalResult status;
  if (f && isProgramsStatus(m, f, 0) && left->getRetValue()->EvaluateAsInt(status, m.context.ast) && status.Val.getInt() != 0) return false;
  return !isa_and_nonnull<Expr>(last) || hostRole(calleeOf(strip(cast<Expr>(last)))) != HostRole::Exit;
}

// An error of one rank's slice (a label out of range) is none of the other ranks': they wait in the step that it has left.
static void watchHandlers(Model& m) {
  const auto walk = [&](auto&& self, const Stmt* s) -> void {
    if (!s) return;
    if (const auto* tried = dyn_cast<CXXTryStmt>(s); tried && m.sites.reaches(tried->getTryBlock(), Role::Backward))
      for (unsigned i = 0; i < tried->getNumHandlers(); ++i)
        if (catchesFrameworks(m, tried->getHandler(i)) && goesOn(m, tried->getHandler(i)))
          m.context.edits.insertAtStart(tried->getHandler(i)->getHandlerBlock(), "hvd::caught_in_step();", {DiagID::SessionAdded, "an error of one rank's only ends the job"});
    for (const Stmt* c : s->children()) self(self, c);
  };
  for (const Root& r : m.code.roots()) walk(walk, r.code);
}

// May an error that one rank throws be caught, and that rank go on where the others have not been?
static bool mayGoOnAfterThrow(const Model& m) {
  bool yes = false;
  const auto walk = [&](auto&& self, const Stmt* s) -> void {
    if (!s || yes) return;
    if (const auto* tried = dyn_cast<CXXTryStmt>(s))
      for (unsigned i = 0; i < tried->getNumHandlers(); ++i) yes = yes || goesOn(m, tried->getHandler(i));
    for (const Stmt* c : s->children()) self(self, c);
  };
  for (const Root& r : m.code.roots()) walk(walk, r.code);
  return yes;
}

void agreeDecisions(Model& m) {
  watchHandlers(m);
  const FileAccess access(m);
  const Sides sides(m);
  warnOfThreadOrder(m);
  refuseThreadData(m);
  agreeOnExtents(m);
  const bool goesOnAfterThrow = mayGoOnAfterThrow(m);
  for (const Expr* s : m.kinds.localSeeds()) {
    m.context.diags.report(DiagID::SeedShared, s->getSourceRange());
    m.context.edits.wrap(s, "hvd::shared_seed(", ")", {DiagID::SeedShared, "the root's seed"});
  }
  for (const auto& [condition, controlled] : m.kinds.localConditions()) {
    if (m.folderLoops->holds(condition)) continue;  // the root alone comes there
    if (m.threads.mayRun(condition)) continue;  // ranks do not meet there: each decides about its own items
    // A branch that only prints or ends the job may differ between ranks.
    bool matters = false;
    const auto visit = [&](auto&& self, const Stmt* s) -> void {
      if (!s || matters) return;
      if (isa<BreakStmt, ContinueStmt, ReturnStmt, GotoStmt>(s) || isLoop(s)) matters = true;
      if (const auto* e = dyn_cast<Expr>(s)) {
        const bool ends = isa<CXXThrowExpr>(strip(e)) && !goesOnAfterThrow;
        if (!isConsoleOutput(m, e) && !ends && !m.effectFree(e)) matters = true;
        return;
      }
      for (const Stmt* c : s->children()) self(self, c);
    };
    if (const auto* i = dyn_cast<IfStmt>(controlled)) {
      visit(visit, i->getThen()), visit(visit, i->getElse());
      matters = matters || access.waitsIn(i->getThen()) || (i->getElse() && access.waitsIn(i->getElse()));
    }
    else matters = !isShownOnly(m, controlled);
    if (!matters) continue;
    const Value v = m.kinds.of(condition);
    if (v.why == ThreadProgress::kWhy) {
      refuseThreadProgress(m, condition, controlled, v);
      continue;
    }
    if (!sides.settle(condition)) agreeOn(m, condition, v);
  }
}

}  // namespace hvdize
