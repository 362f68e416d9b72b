// SPDX-License-Identifier: Apache-2.0
#include "rewriters/program/thread_progress.h"

#include "rewriters/program/host.h"
#include "rewriters/program/sites.h"

using namespace clang;

namespace hvdize {

namespace {

llvm::StringRef recordName(const Expr* object) {
  if (!object) return {};
  QualType t = strip(object)->getType().getNonReferenceType();
  if (t->isPointerType()) t = t->getPointeeType();
  const CXXRecordDecl* r = t->getAsCXXRecordDecl();
  return r && r->isInStdNamespace() && r->getIdentifier() ? r->getName() : llvm::StringRef();
}

// thread.join(), future.get(): afterwards the thread has ended.
bool waitsForEnd(const Expr* e) {
  const FunctionDecl* f = calleeOf(e);
  if (!f || !isSystemDecl(f)) return false;
  const llvm::StringRef name = calleeName(e), of = recordName(objectOf(e));
  if (name == "pthread_join") return true;
  if (name == "join") return of == "thread" || of == "jthread";
  return (name == "get" || name == "wait") && (of == "future" || of == "shared_future");
}

// condition.wait(lock, ready), semaphore.acquire(): this thread goes on when another one has come to some point.
bool waitsForProgress(const Expr* e) {
  const FunctionDecl* f = calleeOf(e);
  if (!f || !isSystemDecl(f)) return false;
  const llvm::StringRef name = calleeName(e), of = recordName(objectOf(e));
  return (name == "wait" && of.starts_with("condition_variable")) || (name == "acquire" && of == "counting_semaphore") || name == "sem_wait" || name == "pthread_cond_wait";
}

enum class ItemChange { None, Puts, Takes };

ItemChange changeOfContainer(const Expr* e) {
  const FunctionDecl* f = calleeOf(e);
  if (!f || !objectOf(e) || !isSystemDecl(f) || !isStdRecord(strip(objectOf(e))->getType())) return ItemChange::None;
  const llvm::StringRef name = calleeName(e);
  for (const char* start : {"push", "emplace", "insert", "append"})
    if (name.starts_with(start)) return ItemChange::Puts;
  for (const char* start : {"pop", "erase", "clear", "resize"})
    if (name.starts_with(start)) return ItemChange::Takes;
  return ItemChange::None;
}

// ++made, made += n, made.fetch_add(n), of a whole number.
const Expr* counted(const Expr* e) {
  const auto isNumber = [](const Expr* x) {
    QualType t = strip(x)->getType().getNonReferenceType();
    if (const auto* r = t->getAsCXXRecordDecl(); r && r->isInStdNamespace() && r->getName().starts_with("atomic"))
      if (const auto* made = dyn_cast<ClassTemplateSpecializationDecl>(r); made && made->getTemplateArgs().size() > 0) t = made->getTemplateArgs()[0].getAsType();
    return t->isIntegerType() && !t->isBooleanType();
  };
  const Expr* to = nullptr;
  if (const auto* u = dyn_cast<UnaryOperator>(e); u && u->isIncrementDecrementOp()) to = u->getSubExpr();
  if (const auto* b = dyn_cast<CompoundAssignOperator>(e)) to = b->getLHS();
  if (const auto* o = dyn_cast<CXXOperatorCallExpr>(e))
    if (const auto op = o->getOperator(); op == OO_PlusPlus || op == OO_MinusMinus || op == OO_PlusEqual || op == OO_MinusEqual) to = o->getArg(0);
  if (const llvm::StringRef name = calleeName(e); name == "fetch_add" || name == "fetch_sub") to = objectOf(e);
  return to && isNumber(to) ? to : nullptr;
}

// latest = made;
const Expr* replaced(const Expr* e) {
  if (const auto* b = dyn_cast<BinaryOperator>(e)) return b->getOpcode() == BO_Assign ? b->getLHS() : nullptr;
  const auto* o = dyn_cast<CXXOperatorCallExpr>(e);
  return o && o->getOperator() == OO_Equal && o->getNumArgs() == 2 ? o->getArg(0) : nullptr;
}

bool isPlainNumber(const ValueDecl* d) {
  const QualType t = d->getType().getNonReferenceType();
  return t->isArithmeticType() && !t->isBooleanType();
}

bool isZero(const Expr* e) {
  const auto* i = dyn_cast<IntegerLiteral>(strip(e));
  return i && i->getValue() == 0;
}

}  // namespace

ThreadProgress::ThreadProgress(const Definitions& definitions, const Surroundings& surroundings)
    : definitions_(definitions), surroundings_(surroundings), code_(definitions.code()) {
  findJoiners();
  for (const ThreadStart& start : surroundings_.starts()) {
    Run run;
    findWindows(start.call, run);
    findChanged(start, run);
    run.functions = start.functions;
    runs_.push_back(std::move(run));
  }
}

bool ThreadProgress::before(const Stmt* a, const Stmt* b) const {
  return code_.context().getSourceManager().isBeforeInTranslationUnit(a->getBeginLoc(), b->getBeginLoc());
}

void ThreadProgress::findJoiners() {
  for (bool more = true; more;) {
    more = false;
    for (const Function& f : code_.functions()) {
      if (joiners_.count(f.decl->getCanonicalDecl())) continue;
      bool does = false;
      forEachExpr(f.body, [&](const Expr* e) { does = does || joins(e); });
      if (does) joiners_.insert(f.decl->getCanonicalDecl()), more = true;
    }
  }
}

bool ThreadProgress::joins(const Expr* e) const {
  return waitsForEnd(e) || llvm::any_of(code_.targets(e), [&](const FunctionDecl* f) { return joiners_.count(f->getCanonicalDecl()); });
}

void ThreadProgress::findWindows(const Expr* start, Run& run) const {
  Functions seen;
  llvm::SmallVector<const Expr*, 4> events = {start};
  while (!events.empty()) {
    const Expr* event = events.pop_back_val();
    const FunctionDecl* in = code_.functionOf(event);
    const Function* known = in ? code_.find(in) : nullptr;
    if (!known || !seen.insert(in->getCanonicalDecl()).second) continue;
    const Expr* end = nullptr;
    forEachExpr(known->body, [&](const Expr* e) {
      if (before(event, e) && !isWithin(code_, e, event) && joins(e) && (!end || before(e, end))) end = e;
    });
    run.windows.push_back({in, event, end});
    forEachExpr(known->body, [&](const Expr* e) {
      if (e == event || !before(event, e) || (end && !before(e, end))) return;
      for (const FunctionDecl* f : code_.targets(e)) run.during.insert(f->getCanonicalDecl());
    });
    if (end) continue;
    for (const CallSite& c : code_.callers(in)) events.push_back(c.call);
  }
  surroundings_.close(run.during);
}

// What a reference or pointer parameter of a function of the thread stands for.
const ValueDecl* ThreadProgress::given(const ValueDecl* d, const ThreadStart& start) const {
  llvm::DenseSet<const ValueDecl*> seen;
  while (const auto* p = dyn_cast_or_null<ParmVarDecl>(d)) {
    const auto* f = dyn_cast<FunctionDecl>(p->getDeclContext());
    if (!f || !seen.insert(d).second || !(p->getType()->isReferenceType() || p->getType()->isPointerType())) return d;
    const Expr* argument = nullptr;
    const unsigned at = p->getFunctionScopeIndex();
    if (const auto passed = argumentsOf(start.call); start.direct.count(f->getCanonicalDecl()) && passed.size() > start.first + at) argument = passed[start.first + at];
    for (const CallSite& c : code_.callers(f))
      if (!argument && argumentsOf(c.call).size() > at) argument = argumentsOf(c.call)[at];
    if (!argument) return d;
    const Expr* e = strip(argument);
    if (const llvm::StringRef name = calleeName(e); (name == "ref" || name == "addressof" || name == "move") && argumentsOf(e).size() == 1) e = strip(argumentsOf(e)[0]);
    if (const auto* u = dyn_cast<UnaryOperator>(e); u && u->getOpcode() == UO_AddrOf) e = strip(u->getSubExpr());
    d = declOf(e);
  }
  return d;
}

// In a loop that does not wait for its end: there are several at a time.
bool ThreadProgress::isRepeated(const Expr* start, const Run& run) const {
  const Expr* end = nullptr;
  for (const Window& w : run.windows)
    if (w.from == start) end = w.to;
  for (const Stmt* p = start; p; p = code_.parent(p))
    if (isLoop(p)) return !(end && isWithin(code_, end, p));
  return false;
}

void ThreadProgress::findChanged(const ThreadStart& start, Run& run) {
  const bool repeated = isRepeated(start.call, run);
  llvm::DenseSet<const ValueDecl*> put;
  const auto isOwn = [&](const ValueDecl* d) {  // a variable of the thread's
    const auto* local = dyn_cast<VarDecl>(d);
    const auto* home = local && local->hasLocalStorage() ? dyn_cast<FunctionDecl>(local->getDeclContext()) : nullptr;
    return home && start.functions.count(home->getCanonicalDecl());
  };
  for (const FunctionDecl* decl : start.functions) {
    const Function* f = code_.find(decl);
    if (!f) continue;
    forEachExpr(f->body, [&](const Expr* e) {
      run.waits = run.waits || waitsForProgress(e);
      if (const ValueDecl* d = replaced(e) ? given(declOf(strip(replaced(e))), start) : nullptr; d && !isOwn(d)) run.assigned.insert(d);
      const ItemChange change = changeOfContainer(e);
      const Expr* to = change != ItemChange::None ? objectOf(e) : counted(e);
      const ValueDecl* d = to ? given(declOf(strip(to)), start) : nullptr;
      if (!d || isOwn(d)) return;
      if (change == ItemChange::Puts) run.put.insert(d);
      const bool again = llvm::any_of(runs_, [&](const Run& r) { return r.changed.count(d); });
      run.changed.insert(d);
      if (change == ItemChange::Puts && (repeated || again) && put.insert(d).second) mixed_.push_back({d, e});
    });
  }
}

bool ThreadProgress::isAlive(const Run& run, const Expr* e) const {
  const FunctionDecl* in = code_.functionOf(e);
  if (!in) return false;
  if (run.during.count(in->getCanonicalDecl())) return true;
  for (const Window& w : run.windows) {
    if (w.in->getCanonicalDecl() != in->getCanonicalDecl()) continue;
    if (before(w.from, e) && (!w.to || before(e, w.to))) return true;
    // Before the start, in a loop that comes by again while the thread runs on.
    if (w.to) continue;
    for (const Stmt* p = code_.parent(w.from); p; p = code_.parent(p))
      if (isLoop(p) && isWithin(code_, e, p)) return true;
  }
  return false;
}

// `condition.wait(lock, [&] { return !queue.empty() || done; }); if (queue.empty()) break;`: nothing is left, and nothing will come.
bool ThreadProgress::followsWait(const Expr* e) const {
  const FunctionDecl* in = code_.functionOf(e);
  const Function* known = in ? code_.find(in) : nullptr;
  bool found = false;
  if (known) forEachExpr(known->body, [&](const Expr* x) { found = found || (waitsForProgress(x) && before(x, e)); });
  return found;
}

bool ThreadProgress::isRead(const Expr* e) const {
  if (runs_.empty() || surroundings_.runsBeside(code_.functionOf(e))) return false;
  const ValueDecl* d = nullptr;
  bool whether = false;  // whether there is anything at all
  if (const FunctionDecl* f = calleeOf(e); f && isSystemDecl(f)) {
    const llvm::StringRef name = calleeName(e);
    if (name != "size" && name != "empty" && name != "ssize") return false;
    const Expr* container = objectOf(e) ? objectOf(e) : argumentsOf(e).size() == 1 ? argumentsOf(e)[0] : nullptr;
    d = container ? declOf(strip(container)) : nullptr;
    whether = name == "empty";
    const Stmt* p = code_.parent(e);
    while (isa_and_nonnull<ParenExpr, ImplicitCastExpr>(p)) p = code_.parent(p);
    if (const auto* b = dyn_cast_or_null<BinaryOperator>(p)) whether = whether || (b->isComparisonOp() && (isZero(b->getLHS()) || isZero(b->getRHS())));
  } else if (isa<DeclRefExpr, MemberExpr>(e)) {
    d = declOf(e);
    if (!d || isStdRecord(d->getType())) {
      const CXXRecordDecl* r = d ? d->getType().getNonReferenceType()->getAsCXXRecordDecl() : nullptr;
      if (!r || !r->getName().starts_with("atomic")) return false;
    }
  }
  if (!d) return false;
  const auto changes = [&](const Run& r) { return (r.changed.count(d) || (r.assigned.count(d) && isPlainNumber(d) && !(r.waits && followsWait(e)))) && isAlive(r, e); };
  return llvm::any_of(runs_, changes) && !(whether && followsWait(e));
}

// queue.front(), queue.pop(), data[k], queue.push(..): what that gives does not depend on what has been put behind it meanwhile.
bool ThreadProgress::takesInOrder(const Expr* use) const {
  const Stmt* below = use;
  const Stmt* p = code_.parent(use);
  while (isa_and_nonnull<ParenExpr>(p) || (isa_and_nonnull<ImplicitCastExpr>(p) && cast<CastExpr>(p)->getCastKind() != CK_LValueToRValue)) below = p, p = code_.parent(p);
  if (isa_and_nonnull<LambdaExpr>(p)) return true;  // captured: what is done with it is another use
  if (isa_and_nonnull<ArraySubscriptExpr>(p)) return true;
  if (const auto* o = dyn_cast_or_null<CXXOperatorCallExpr>(p)) return o->getOperator() == OO_Subscript;
  const auto* m = dyn_cast_or_null<MemberExpr>(p);
  const auto* call = m ? dyn_cast_or_null<CXXMemberCallExpr>(code_.parent(m)) : nullptr;
  if (call && call->getCallee()->IgnoreParens() == m) {
    const llvm::StringRef name = calleeName(call);
    // How many there are is another question: see isRead.
    return name == "front" || name == "pop" || name == "pop_front" || name == "at" || name == "empty" || name == "size" || name == "reserve" || changeOfContainer(call) == ItemChange::Puts ||
           isa<CXXDestructorDecl>(calleeOf(call));
  }
  // Handed to a function of the author's by reference: its uses are looked at there.
  const auto* given = dyn_cast_or_null<Expr>(p);
  return given && calleeOf(given) && !code_.targets(given).empty() && !isa<CXXConstructExpr>(given) && below != use;
}

bool ThreadProgress::isTimed(const Expr* e) const {
  if (runs_.empty() || !isa<DeclRefExpr, MemberExpr>(e) || surroundings_.runsBeside(code_.functionOf(e))) return false;
  const ValueDecl* d = declOf(e);
  if (!d || isa<FunctionDecl>(d)) return false;
  return llvm::any_of(runs_, [&](const Run& r) {
    if (!isAlive(r, e) || (r.waits && followsWait(e))) return false;
    return (r.put.count(d) && !takesInOrder(e)) || (r.assigned.count(d) && !r.put.count(d) && !isPlainNumber(d) && !d->getType().getNonReferenceType()->isBooleanType());
  });
}

bool ThreadProgress::drawsBeside(const Expr* draw, const Expr* step) const {
  const FunctionDecl* in = code_.functionOf(draw);
  return in && llvm::any_of(runs_, [&](const Run& r) { return r.functions.count(in->getCanonicalDecl()) && isAlive(r, step); });
}

}  // namespace hvdize
