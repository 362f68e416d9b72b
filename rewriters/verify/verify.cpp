// SPDX-License-Identifier: Apache-2.0
#include "rewriters/verify/verify.h"

#include "clang/AST/StmtCXX.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Lex/Lexer.h"

#include "rewriters/diagnostics/diagnostics.h"
#include "rewriters/program/host.h"
#include "rewriters/program/sites.h"
#include "rewriters/program/threads.h"
#include "rewriters/verify/steps.h"
#include "rewriters/verify/taint.h"
#include "rewriters/verify/vocabulary.h"

using namespace clang;

namespace hvdize {

namespace {

class Verifier {
 public:
  Verifier(ASTContext& ast, const Dialect& dialect, DiagEngine& diags, const std::string& frameworkFolder)
      : ast_(ast), diags_(diags), files_(ast.getSourceManager(), frameworkFolder), code_(ast, files_), definitions_(code_),
        sites_(code_, dialect), threads_(code_, dialect), calls_(code_, definitions_, dialect), controls_(findControls(code_)), taint_(calls_, controls_) {}

  void run() {
    for (const Control& c : controls_)
      if (taint_.isLocal(c)) check(c);
    for (const Function& f : code_.functions()) {
      jumps(f.body, f.body);
      onThreads(f.body);
    }
    for (const Expr* step : stepsWithoutReduction(code_, definitions_, sites_)) diags_.report(DiagID::StepNotReduced, step->getSourceRange(), text(step));
  }

 private:
  void check(const Control& c) {
    const Stmt* tail = c.kind == Control::Kind::Handler ? fatalTail(cast<CXXCatchStmt>(c.stmt)) : nullptr;
    if (c.kind == Control::Kind::RootOnly) {
      for (const Calls::Found& f : calls_.collectives(c.stmt))
        if (f.through == c.stmt) report(c, f);
      return;
    }
    for (const Stmt* region : c.regions)
      for (const Calls::Found& f : calls_.collectives(region)) {
        const Expr* there = f.through ? f.through : f.collective;
        if (tail && isWithin(code_, there, tail)) continue;
        report(c, f);
      }
  }

  /// The statement of a catch block behind which the block only ends the job: a collective there does no harm.
  const Stmt* fatalTail(const CXXCatchStmt* handler) const {
    const auto* block = dyn_cast_or_null<CompoundStmt>(handler->getHandlerBlock());
    if (!block) return nullptr;
    const Stmt* candidate = nullptr;
    bool ends = false;
    for (const Stmt* s : block->body()) {
      if (endsJob(s)) {
        ends = true;
      } else {
        candidate = s;
        ends = false;
      }
    }
    return ends ? candidate : nullptr;
  }

  static bool endsJob(const Stmt* s) {
    const auto* e = dyn_cast<Expr>(s);
    e = e ? strip(e) : nullptr;
    if (!e) return false;
    return isa<CXXThrowExpr>(e) || hostRole(calleeOf(e)) == HostRole::Exit;
  }

  void report(const Control& c, const Calls::Found& f) {
    auto handle = diags_.report(DiagID::CollectiveNotUniform, f.collective->getSourceRange(), spelling(calleeOf(f.collective)), reason(c));
    if (f.through) handle.note(f.through->getSourceRange(), "reached through this call");
    handle.note(placeOf(c), noteOf(c));
    if (c.jump) handle.note(c.jump->getSourceRange(), "left by this jump");
  }

  std::string reason(const Control& c) const {
    if (c.kind == Control::Kind::Handler) return "an exception may be caught on some ranks only";
    if (c.kind == Control::Kind::RootOnly) return "it is in a function that runs on the root only";
    const Expr* cause = taint_.cause(c.condition);
    const std::string what = cause ? text(cause) : std::string();
    if (what.empty()) return "a condition depends on what only this rank knows";
    return "a condition depends on '" + what + "', which may differ between ranks";
  }

  static SourceRange placeOf(const Control& c) {
    if (c.condition) return c.condition->getSourceRange();
    if (const auto* h = dyn_cast<CXXCatchStmt>(c.stmt)) return h->getCatchLoc();
    return c.stmt->getSourceRange();
  }

  static std::string noteOf(const Control& c) {
    switch (c.kind) {
      case Control::Kind::Handler: return "caught here";
      case Control::Kind::RootOnly: return "runs on the root only";
      case Control::Kind::Condition: break;
    }
    return isLoop(c.stmt) ? "this loop may end at different times on the ranks" : "decided here";
  }

  /// The author's spelling, when it is short enough for a message.
  std::string text(const Expr* e) const {
    const std::string s =
        Lexer::getSourceText(CharSourceRange::getTokenRange(e->getSourceRange()), ast_.getSourceManager(), ast_.getLangOpts()).str();
    return s.size() <= 60 && s.find('\n') == std::string::npos ? s : std::string();
  }

  /// Threads of one rank would call collectives in another order than those of another rank.
  void onThreads(const Stmt* body) {
    forEachExpr(body, [&](const Expr* e) {
      if (!isa<CallExpr, CXXConstructExpr>(e) || !calls_.isCollective(e) || !threads_.mayRun(e)) return;
      diags_.report(DiagID::CollectiveOnThread, e->getSourceRange(), spelling(calleeOf(e)));
    });
  }

  /// A jump forward, out of the statements around it, leaves things out like a break does.
  bool leavesForward(const Stmt* jump) const {
    const auto* g = dyn_cast<GotoStmt>(jump);
    const Stmt* label = g ? g->getLabel()->getStmt() : nullptr;
    const auto* block = label ? dyn_cast_or_null<CompoundStmt>(code_.parent(label)) : nullptr;
    if (!block) return false;
    bool before = false;
    for (const Stmt* s : block->body()) {
      if (s == label) return before;
      before = before || isWithin(code_, jump, s);
    }
    return false;
  }

  /// With any other goto the order of the collectives in a function cannot be read from its structure.
  void jumps(const Stmt* s, const Stmt* body) {
    if (!s || isa<LambdaExpr>(s)) return;
    if (isa<GotoStmt, IndirectGotoStmt>(s) && !leavesForward(s)) {
      const auto found = calls_.collectives(body);
      if (!found.empty())
        diags_
            .report(DiagID::CollectiveNotUniform, found[0].collective->getSourceRange(), spelling(calleeOf(found[0].collective)),
                    "a goto in the same function makes its order unknown")
            .note(s->getSourceRange(), "jumps from here");
    }
    for (const Stmt* c : s->children()) jumps(c, body);
  }

  ASTContext& ast_;
  DiagEngine& diags_;
  const AuthorFiles files_;
  const AuthorCode code_;
  const Definitions definitions_;
  const Sites sites_;
  const Threads threads_;
  const Calls calls_;
  const std::vector<Control> controls_;
  const Taint taint_;
};

}  // namespace

void verifyRewritten(ASTContext& ast, const Dialect& dialect, DiagEngine& diags, const std::string& frameworkFolder) {
  Verifier(ast, dialect, diags, frameworkFolder).run();
}

}  // namespace hvdize
