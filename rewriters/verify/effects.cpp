// SPDX-License-Identifier: Apache-2.0
#include "rewriters/verify/effects.h"

#include "clang/AST/StmtCXX.h"
#include "llvm/ADT/StringSwitch.h"

#include "rewriters/program/host.h"
#include "rewriters/verify/vocabulary.h"

using namespace clang;

namespace hvdize {

const ValueDecl* wholeOf(const ValueDecl* d) {
  const auto* b = dyn_cast_or_null<BindingDecl>(d);
  return b && b->getDecomposedDecl() ? b->getDecomposedDecl() : d;
}

bool isRankLocalHost(const FunctionDecl* f) {
  const HostRole r = hostRole(f);
  return r == HostRole::Clock || r == HostRole::FileTest || r == HostRole::Entropy || r == HostRole::Identity || r == HostRole::ReadInput ||
         r == HostRole::Shell || r == HostRole::OpenPipe;
}

namespace {

using EffectKind = Effect::Kind;

/// Adds an item, and takes nothing away.
bool inserts(llvm::StringRef method) {
  return llvm::StringSwitch<bool>(method)
      .Cases("push_back", "emplace_back", "push_front", "emplace_front", "push", "emplace", "insert", "append", true)
      .Default(false);
}

/// Algorithms that write through iterators.
bool writesThroughIterators(llvm::StringRef name) {
  return llvm::StringSwitch<bool>(name)
      .Cases("copy", "copy_n", "copy_if", "transform", "move", true)
      .Cases("fill", "fill_n", "generate", "iota", "shuffle", "sample", true)
      .Default(false);
}

bool isMutableReference(QualType t) {
  return (t->isLValueReferenceType() || t->isPointerType()) && !t->getPointeeType().isConstQualified();
}

const ValueDecl* storeOf(const Expr* e) {
  // A structured binding counts for its whole.
  if (const auto* r = dyn_cast_or_null<DeclRefExpr>(strip(e))) return wholeOf(r->getDecl());
  return wholeOf(rootOf(e));
}

/// Gives an item or an iterator: to call it changes nothing, and what is written to that is a change of its own.
bool onlyHandsOut(llvm::StringRef method) {
  return llvm::StringSwitch<bool>(method).Cases("begin", "end", "front", "back", "at", "top", true).Default(false);
}

class EffectFinder {
 public:
  explicit EffectFinder(const Calls& calls) : calls_(calls), code_(calls.code()) {}

  std::vector<Effect> find() {
    for (const Root& r : code_.roots()) {
      if (r.initialises) init(r.initialises, cast<Expr>(r.code), r.code);
      scan(r.code);
    }
    return std::move(out_);
  }

 private:
  void add(EffectKind kind, const Decl* target, llvm::ArrayRef<const Expr*> sources, const Stmt* site, const ValueDecl* through = nullptr) {
    if (!target) return;
    Effect e;
    e.target = target;
    e.sources.assign(sources.begin(), sources.end());
    e.site = site;
    e.kind = kind;
    e.through = through;
    out_.push_back(std::move(e));
  }

  // `named["loss"] = loss;`: an item, whose name or number is the same on all ranks where what it is made from is.
  void assignment(const Expr* to, const Expr* value, const Stmt* site) {
    const ValueDecl* target = storeOf(to);
    add(EffectKind::Change, target, value, site);
    const auto* item = dyn_cast<CXXOperatorCallExpr>(strip(to));
    if (!target || !item || item->getOperator() != OO_Subscript || item->getNumArgs() != 2 || !isStdRecord(item->getArg(0)->getType()) || declOf(item->getArg(0)) != target) return;
    out_.back().items = true;
    add(EffectKind::Change, target, item->getArg(1), site);
  }

  // `std::vector<Tensor> losses{a, b}`, `std::array<Tensor, 2> losses{a, b}`: how many there are stands in the text.
  static bool isListed(const Expr* value) {
    const Expr* e = strip(value);
    if (const auto* made = dyn_cast<CXXConstructExpr>(e)) return made->isStdInitListInitialization();
    return isa<InitListExpr>(e) && isStdRecord(e->getType());
  }

  void init(const ValueDecl* d, const Expr* value, const Stmt* site) {
    if (!value) return;
    add(EffectKind::Init, d, value, site);
    out_.back().items = isListed(value);
    const QualType t = d->getType();
    if (isMutableReference(t)) add(EffectKind::Change, storeOf(value), {}, site, d);
    // An aggregate of the author's: its fields take the list's items.
    const auto* list = dyn_cast_or_null<InitListExpr>(strip(value));
    const CXXRecordDecl* r = list ? list->getType()->getAsCXXRecordDecl() : nullptr;
    if (!r || !code_.files().contains(r->getLocation())) return;
    unsigned i = 0;
    for (const FieldDecl* f : r->fields())
      if (i < list->getNumInits()) add(EffectKind::Init, f, list->getInit(i++), site);
  }

  void scan(const Stmt* s) {
    if (!s) return;
    if (const auto* ds = dyn_cast<DeclStmt>(s))
      for (const Decl* d : ds->decls())
        if (const auto* v = dyn_cast<VarDecl>(d); v && v->getInit()) init(v, v->getInit(), s);
    if (const auto* r = dyn_cast<ReturnStmt>(s); r && r->getRetValue())
      if (const FunctionDecl* f = code_.functionOf(s)) add(EffectKind::Change, f->getCanonicalDecl(), r->getRetValue(), s);
    if (const auto* r = dyn_cast<CXXForRangeStmt>(s)) rangeFor(r);
    if (const auto* b = dyn_cast<BinaryOperator>(s); b && b->isAssignmentOp()) assignment(b->getLHS(), b->getRHS(), s);
    if (const auto* u = dyn_cast<UnaryOperator>(s); u && u->isIncrementDecrementOp()) add(EffectKind::Change, storeOf(u->getSubExpr()), {}, s);
    if (isa<CallExpr, CXXConstructExpr>(s)) call(cast<Expr>(s));
    if (const auto* l = dyn_cast<LambdaExpr>(s)) {
      for (const LambdaCapture& c : l->captures())
        if (c.capturesVariable() && c.getCapturedVar()->isInitCapture())
          if (const auto* v = dyn_cast<VarDecl>(c.getCapturedVar())) init(v, v->getInit(), s);
      for (const Expr* i : l->capture_inits()) scan(i);
      return;  // the body is a function of its own
    }
    for (const Stmt* c : s->children()) scan(c);
  }

  void rangeFor(const CXXForRangeStmt* r) {
    const VarDecl* v = r->getLoopVariable();
    if (!v) return;
    if (isSteps(strip(r->getRangeInit()))) add(EffectKind::Local, v, {}, r);
    if (isMutableReference(v->getType())) add(EffectKind::Change, storeOf(r->getRangeInit()), {}, r, v);
  }

  void call(const Expr* e) {
    const auto arguments = argumentsOf(e);
    const auto targets = calls_.targets(e);
    for (const FunctionDecl* t : targets)
      for (unsigned i = 0; i < arguments.size() && i < t->getNumParams(); ++i) {
        const ParmVarDecl* p = t->getParamDecl(i);
        add(EffectKind::Init, p, arguments[i], e);
        if (isMutableReference(p->getType())) add(EffectKind::Change, storeOf(arguments[i]), {}, e, p);
      }
    if (targets.empty() && !wordOf(e)) opaque(e, arguments);
  }

  void opaque(const Expr* e, llvm::ArrayRef<const Expr*> arguments) {
    if (const auto* op = dyn_cast<CXXOperatorCallExpr>(e)) {
      const OverloadedOperatorKind k = op->getOperator();
      if (op->isAssignmentOp() && op->getNumArgs() == 2) return assignment(op->getArg(0), op->getArg(1), e);
      if (k == OO_PlusPlus || k == OO_MinusMinus) return add(EffectKind::Change, storeOf(op->getArg(0)), {}, e);
      if (k == OO_LessLess && op->getNumArgs() == 2) return stream(op);
      if (k == OO_GreaterGreater && op->getNumArgs() == 2) return add(EffectKind::Change, storeOf(op->getArg(1)), op->getArg(0), e);
      return;
    }
    const FunctionDecl* f = calleeOf(e);
    if (const Entry* entry = f ? calls_.dialect().lookup(f) : nullptr; entry && entry->op == OpKind::Assign) {
      const Expr* object = objectOf(e);
      return add(EffectKind::Change, storeOf(object ? object : arguments.empty() ? nullptr : arguments[0]), arguments, e);
    }
    if (!f || !isSystemDecl(f) || calls_.dialect().owns(f)) return;
    const llvm::StringRef name = f->getIdentifier() ? f->getName() : llvm::StringRef();
    if (const Expr* object = objectOf(e)) {
      const auto* m = dyn_cast<CXXMethodDecl>(f);
      if (m && !m->isConst() && !m->isStatic() && !onlyHandsOut(name))
        add(inserts(name) ? EffectKind::Insert : EffectKind::Change, storeOf(object), arguments, e);
      return;
    }
    system(f, name, e, arguments);
  }

  /// `stream << a << b`: what is written may decide over the state of a string stream or file.
  void stream(const CXXOperatorCallExpr* op) {
    const ValueDecl* d = storeOf(op->getArg(0));
    if (d && !isConsoleStream(d)) add(EffectKind::Change, d, op->getArg(1), op);
  }

  void system(const FunctionDecl* f, llvm::StringRef name, const Expr* e, llvm::ArrayRef<const Expr*> arguments) {
    const bool local = isRankLocalHost(f);
    const HostRole role = hostRole(f);
    if (isa<CXXConstructorDecl>(f) || role == HostRole::Print || role == HostRole::PrintTo || role == HostRole::Forward) {
      if (name != "exchange") return;
    }
    for (unsigned i = 0; i < arguments.size(); ++i) {
      const ParmVarDecl* p = parameterOf(e, i);
      if (p && isMutableReference(p->getType())) add(local ? EffectKind::Local : EffectKind::Change, storeOf(arguments[i]), arguments, e);
      else if (writesThroughIterators(name)) iterator(arguments[i], arguments, e);
    }
  }

  void iterator(const Expr* argument, llvm::ArrayRef<const Expr*> all, const Expr* e) {
    const Expr* plain = strip(argument);
    const FunctionDecl* f = plain ? calleeOf(plain) : nullptr;
    if (!f || !f->getIdentifier()) return;
    if (f->getName() == "back_inserter") return add(EffectKind::Insert, storeOf(argumentsOf(plain)[0]), all, e);
    const ValueDecl* d = f->getName() == "begin" || f->getName() == "data" ? storeOf(plain) : nullptr;
    if (d && !d->getType().isConstQualified()) add(EffectKind::Change, d, all, e);
  }

  const Calls& calls_;
  const AuthorCode& code_;
  std::vector<Effect> out_;
};

}  // namespace

std::vector<Effect> findEffects(const Calls& calls) { return EffectFinder(calls).find(); }

}  // namespace hvdize
