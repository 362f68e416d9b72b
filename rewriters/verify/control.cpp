// SPDX-License-Identifier: Apache-2.0
#include "rewriters/verify/control.h"

#include "clang/AST/StmtCXX.h"

#include "rewriters/program/origins.h"
#include "rewriters/program/sites.h"
#include "rewriters/verify/vocabulary.h"

using namespace clang;

namespace hvdize {

namespace {

bool endsWithRethrow(const CXXCatchStmt* handler) {
  const auto* block = dyn_cast_or_null<CompoundStmt>(handler->getHandlerBlock());
  if (!block || block->body_empty()) return false;
  const auto* last = dyn_cast<Expr>(block->body_back());
  return isa_and_nonnull<CXXThrowExpr>(last ? strip(last) : nullptr);
}

/// Does the block hold the session itself? Then unwinding ends the job.
bool holdsSession(const CompoundStmt* block) {
  for (const Stmt* s : block->body()) {
    const auto* ds = dyn_cast<DeclStmt>(s);
    if (!ds) continue;
    for (const Decl* d : ds->decls()) {
      const auto* v = dyn_cast<VarDecl>(d);
      const CXXRecordDecl* r = v ? v->getType()->getAsCXXRecordDecl() : nullptr;
      if (r && r->getQualifiedNameAsString() == "hvd::Session") return true;
    }
  }
  return false;
}

/// Has the list always as many items, whatever they are: `vector<Tensor> losses{a, b}`, and what is added to it under no condition?
bool hasFixedCount(const AuthorCode& code, const Expr* range) {
  const auto* v = dyn_cast_or_null<VarDecl>(isa<DeclRefExpr>(strip(range)) ? declOf(strip(range)) : nullptr);
  const DeclStmt* declared = v && v->isLocalVarDecl() && !v->isStaticLocal() && !v->getType()->isReferenceType() ? code.declStmt(v) : nullptr;
  const CXXRecordDecl* list = declared ? v->getType()->getAsCXXRecordDecl() : nullptr;
  const Function* home = list && list->isInStdNamespace() ? code.find(code.functionOf(range)) : nullptr;
  if (!home || !v->getInit()) return false;
  const Expr* init = strip(v->getInit());
  const bool plain = isa<InitListExpr, CXXStdInitializerListExpr>(init) ||
                     (isa<CXXConstructExpr>(init) && llvm::all_of(argumentsOf(init), [](const Expr* a) { return isa<InitListExpr, CXXStdInitializerListExpr, CXXDefaultArgExpr>(strip(a)); }));
  const auto always = [&](const Stmt* s) {  // from the declaration on, on every way
    for (s = code.parent(s); s && s != code.parent(declared); s = code.parent(s))
      if (isa<IfStmt, AbstractConditionalOperator, SwitchStmt, LambdaExpr, CXXTryStmt>(s) || isLoop(s)) return false;
    return s != nullptr;
  };
  bool fixed = plain;
  forEachExpr(home->body, [&](const Expr* e) {
    if (!isa<DeclRefExpr>(e) || declOf(e) != v) return;
    const Stmt *below = e, *p = code.parent(e);
    while (isa_and_nonnull<ImplicitCastExpr, ParenExpr>(p)) below = p, p = code.parent(p);
    const auto* loop = dyn_cast_or_null<CXXForRangeStmt>(p);
    if (loop || (isa_and_nonnull<DeclStmt>(p) && isa_and_nonnull<CXXForRangeStmt>(code.parent(p)))) return;
    if (isa<ImplicitCastExpr>(below) && cast<Expr>(below)->getType().isConstQualified()) return;
    if (const auto* m = dyn_cast_or_null<MemberExpr>(p)) {
      const auto* method = dyn_cast<CXXMethodDecl>(m->getMemberDecl());
      const llvm::StringRef name = method && method->getDeclName().isIdentifier() ? method->getName() : "";
      const bool reads = method && (method->isConst() || name == "begin" || name == "end" || name == "at" || name == "front" || name == "back");
      const bool adds = name == "push_back" || name == "emplace_back" || name == "reserve";
      fixed = fixed && (reads || (adds && always(e)));
      return;
    }
    const auto* o = dyn_cast_or_null<CXXOperatorCallExpr>(p);
    const bool item = o && o->getOperator() == OO_Subscript && o->getNumArgs() == 2;
    const bool map = list->getName().contains("map");
    const bool named = item && isa<StringLiteral, IntegerLiteral>(strip(o->getArg(1))->IgnoreParenImpCasts());
    fixed = fixed && item && (!map || (named && always(e)));
  });
  return fixed;
}

class ControlFinder {
 public:
  explicit ControlFinder(const AuthorCode& code) : code_(code) {}

  void find(const Stmt* s) {
    if (!s) return;
    if (const auto* i = dyn_cast<IfStmt>(s)) {
      if (!i->isConstexpr() && !i->isConsteval()) add(s, i->getCond(), {i->getThen(), i->getElse()});
    } else if (const auto* w = dyn_cast<WhileStmt>(s)) {
      add(s, w->getCond(), {s});
    } else if (const auto* d = dyn_cast<DoStmt>(s)) {
      add(s, d->getCond(), {s});
    } else if (const auto* f = dyn_cast<ForStmt>(s)) {
      if (f->getCond()) add(s, f->getCond(), {f->getBody(), f->getInc(), f->getCond()});
    } else if (const auto* r = dyn_cast<CXXForRangeStmt>(s)) {
      if (!hasFixedCount(code_, r->getRangeInit())) add(s, r->getRangeInit(), {r->getBody()});
    } else if (const auto* w = dyn_cast<SwitchStmt>(s)) {
      add(s, w->getCond(), {w->getBody()});
    } else if (const auto* c = dyn_cast<AbstractConditionalOperator>(s)) {
      add(s, c->getCond(), {c->getTrueExpr(), c->getFalseExpr()});
    } else if (const auto* b = dyn_cast<BinaryOperator>(s); b && b->isLogicalOp()) {
      add(s, b->getLHS(), {b->getRHS()});
    } else if (const auto* c = dyn_cast<CXXCatchStmt>(s)) {
      // Which exceptions are thrown cannot be seen: one that only some ranks catch, and that leaves them elsewhere than the
      // others, is noticed at run time. What can be seen is a collective in the handler itself.
      Control& handler = add(s, nullptr, {c->getHandlerBlock()});
      handler.kind = Control::Kind::Handler;
      handler.regions.assign(1, c->getHandlerBlock());
    } else if (isa<CallExpr>(s)) {
      addRootOnly(cast<CallExpr>(s));
    }
    if (const auto* l = dyn_cast<LambdaExpr>(s)) {
      for (const Expr* init : l->capture_inits()) find(init);
      return;
    }
    for (const Stmt* c : s->children()) find(c);
  }

  std::vector<Control> take() { return std::move(controls_); }

 private:
  Control& add(const Stmt* s, const Expr* condition, std::initializer_list<const Stmt*> parts) {
    Control c;
    c.stmt = s;
    c.condition = condition;
    for (const Stmt* p : parts)
      if (p) c.regions.push_back(p);
    const std::vector<const Stmt*> direct = c.regions;
    for (const Stmt* p : direct) exits(p, c);
    controls_.push_back(std::move(c));
    return controls_.back();
  }

  void addRootOnly(const CallExpr* call) {
    const Word* w = wordOf(static_cast<const Expr*>(call));
    if (!w || !w->runsOnRoot) return;
    Control c;
    c.kind = Control::Kind::RootOnly;
    c.stmt = call;
    for (const Expr* a : argumentsOf(call)) c.regions.push_back(a);
    controls_.push_back(std::move(c));
  }

  /// What the exits inside `s` leave out.
  void exits(const Stmt* s, Control& c) {
    if (!s || isa<LambdaExpr>(s)) return;
    if (isa<BreakStmt>(s)) {
      const Stmt* target = enclosing(s, true);
      if (target && !isWithin(code_, target, c.stmt)) leave(c, isLoop(target) ? target : nullptr, target);
    } else if (isa<ContinueStmt>(s)) {
      const Stmt* target = enclosing(s, false);
      if (target && !isWithin(code_, target, c.stmt)) after(c, c.stmt, loopBody(target));
    } else if (isa<ReturnStmt>(s)) {
      returns(c);
    } else if (isa<CXXThrowExpr>(s)) {
      throws(c, s);
    } else if (isa<GotoStmt, IndirectGotoStmt>(s)) {
      c.jump = s;
      returns(c);
    }
    for (const Stmt* child : s->children()) exits(child, c);
  }

  const Stmt* enclosing(const Stmt* s, bool orSwitch) const {
    for (s = code_.parent(s); s; s = code_.parent(s))
      if (isLoop(s) || (orSwitch && isa<SwitchStmt>(s))) return s;
    return nullptr;
  }

  /// A break: the whole loop runs another number of times; of a switch, its rest is left out.
  void leave(Control& c, const Stmt* loop, const Stmt* target) {
    if (loop) push(c, loop);
    else after(c, c.stmt, target);
  }

  void returns(Control& c) {
    for (const Stmt* p = code_.parent(c.stmt); p; p = code_.parent(p))
      if (isLoop(p)) push(c, p);
    after(c, c.stmt, nullptr);
  }

  /// An exception that the function itself swallows is a jump; any other ends the job.
  void throws(Control& c, const Stmt* s) {
    for (const Stmt *child = s, *p = code_.parent(s); p; child = p, p = code_.parent(p)) {
      const auto* t = dyn_cast<CXXTryStmt>(p);
      if (!t || child != t->getTryBlock()) continue;
      bool swallows = false;
      for (unsigned i = 0; i < t->getNumHandlers(); ++i) swallows = swallows || !endsWithRethrow(t->getHandler(i));
      if (!swallows || holdsSession(t->getTryBlock())) continue;
      if (isWithin(code_, t, c.stmt)) return;
      for (const Stmt* q = code_.parent(c.stmt); q && q != t; q = code_.parent(q))
        if (isLoop(q)) push(c, q);
      after(c, c.stmt, t->getTryBlock());
      return;
    }
  }

  /// The statements that follow `s` inside `limit` (null: inside the function).
  void after(Control& c, const Stmt* s, const Stmt* limit) {
    for (const Stmt* p = code_.parent(s); p && s != limit; s = p, p = code_.parent(p)) {
      if (!isa<CompoundStmt>(p)) continue;
      bool behind = false;
      for (const Stmt* child : p->children()) {
        if (behind) push(c, child);
        behind = behind || child == s;
      }
    }
  }

  static void push(Control& c, const Stmt* s) {
    if (s && !llvm::is_contained(c.regions, s)) c.regions.push_back(s);
  }

  const AuthorCode& code_;
  std::vector<Control> controls_;
};

}  // namespace

std::vector<Control> findControls(const AuthorCode& code) {
  ControlFinder finder(code);
  for (const Function& f : code.functions()) finder.find(f.body);
  return finder.take();
}

}  // namespace hvdize
