// SPDX-License-Identifier: Apache-2.0
// Expressions that yield the same number wherever they stand: `config.get("batch")` does, `std::stoi(argv[++i])` and `ask(std::cin)` do not.
#include "clang/AST/StmtCXX.h"
#include "llvm/ADT/StringSwitch.h"

#include "rewriters/program/host.h"
#include "rewriters/program/repeats.h"

using namespace clang;

namespace hvdize {

namespace {

bool readsFrom(QualType t) {
  const CXXRecordDecl* r = t.getNonReferenceType()->getAsCXXRecordDecl();
  if (!r || !r->isInStdNamespace() || !r->getIdentifier()) return false;
  const llvm::StringRef name = r->getName();
  return name == "basic_istream" || name == "basic_ifstream" || name == "basic_istringstream" || name == "basic_stringstream" || name == "basic_iostream" || name == "basic_fstream" ||
         name == "istream_iterator" || name == "istreambuf_iterator";
}

class Steady {
 public:
  Steady(const Expr* place, const AuthorCode& code, const Definitions& definitions) : place_(place), code_(code), definitions_(definitions) {}

  bool holds(const Stmt* s, const FunctionDecl* inside) {
    bool steady = true;
    forEachExpr(s, [&](const Expr* x) { steady = steady && isSteady(x, inside); });
    return steady;
  }

 private:
  // A variable that is given its value once, by what is the same whenever it is evaluated, and that nothing writes to.
  bool isGivenOnce(const ValueDecl* d) {
    if (!asked_.insert(d).second) return true;
    const auto* v = dyn_cast<VarDecl>(d);
    if (!v || isOfRange(v) || isWritten(d)) return false;
    if (const auto* p = dyn_cast<ParmVarDecl>(d)) return isGivenOnce(p);
    const Expr* given = nullptr;
    for (const Definition& def : definitions_.of(d)) {
      if (!def.value || def.compound || def.through || given) return false;
      given = def.value;
    }
    return !given || holds(given, nullptr);
  }

  // A parameter gets another value with each call; those of main have one.
  bool isGivenOnce(const ParmVarDecl* p) {
    const auto* home = dyn_cast<FunctionDecl>(p->getDeclContext());
    if (!home) return false;
    // `if (argc < 3) argv = defaults;` in front of all that is read.
    const auto inFront = [&](const Definition& def) {
      return def.value && !def.compound && !def.through && !loopAround(def.value) && code_.context().getSourceManager().isBeforeInTranslationUnit(def.value->getBeginLoc(), place_->getBeginLoc());
    };
    if (home->isMain()) return llvm::all_of(definitions_.of(p), inFront);
    const Expr* given = nullptr;
    for (const Definition& def : definitions_.of(p)) {
      if (!def.value || def.compound || def.through || given) return false;
      const FunctionDecl* there = code_.functionOf(def.value);
      if (there && there->getCanonicalDecl() == home->getCanonicalDecl()) return false;
      given = def.value;
    }
    return code_.callers(home).size() == 1 && given && !loopAround(given) && holds(given, nullptr);
  }

  const Stmt* loopAround(const Stmt* s) const {
    for (s = code_.parent(s); s; s = code_.parent(s))
      if (isLoop(s)) return s;
    return nullptr;
  }

  // for (auto& option : options), for (auto& [name, text] : options)
  bool isOfRange(const VarDecl* v) const {
    const DeclStmt* ds = code_.declStmt(v);
    return ds && isa_and_nonnull<CXXForRangeStmt>(code_.parent(ds));
  }

  // An object with parts: a map of settings stays as it is, an iterator over one, a pair out of one and what a search has found do not.
  bool isKept(const ValueDecl* d, const Expr* mention) {
    const auto* binding = dyn_cast<BindingDecl>(d);
    const auto* v = binding ? dyn_cast<VarDecl>(binding->getDecomposedDecl()) : dyn_cast<VarDecl>(d);
    if (!v) return true;
    if (isOfRange(v)) return false;
    const CXXRecordDecl* r = v->getType().getNonReferenceType()->getAsCXXRecordDecl();
    if (isa<ParmVarDecl>(v)) return !(r && r->isInStdNamespace() && r->getIdentifier() && r->getName() == "pair");
    const Stmt* loop = loopAround(mention);
    if (!loop) return true;
    if (const DeclStmt* ds = code_.declStmt(v); ds && isWithin(code_, ds, loop)) return false;
    return llvm::none_of(definitions_.uses(v), [&](const Expr* use) { return isWithin(code_, use, loop) && (writes(use) || stepsOn(use)); });
  }

  bool stepsOn(const Expr* use) const {
    const Stmt* p = code_.parent(use);
    while (isa_and_nonnull<ParenExpr, ImplicitCastExpr>(p)) p = code_.parent(p);
    const auto* o = dyn_cast_or_null<CXXOperatorCallExpr>(p);
    return o && (o->getOperator() == OO_PlusPlus || o->getOperator() == OO_MinusMinus || o->isAssignmentOp()) && o->getNumArgs() > 0 && strip(o->getArg(0)) == strip(use);
  }

  // `std::getline(in, line)`, `in >> n`, `text.assign(..)`: written by a function of the system, or in place.
  bool isWritten(const ValueDecl* d) const {
    return llvm::any_of(definitions_.uses(d), [&](const Expr* use) { return writes(use); });
  }

  bool writes(const Expr* use) const {
    const Stmt* p = code_.parent(use);
    const Stmt* below = use;
    while (isa_and_nonnull<ParenExpr, MemberExpr>(p)) below = p, p = code_.parent(p);
    const auto* call = dyn_cast_or_null<Expr>(p);
    const auto* u = dyn_cast_or_null<UnaryOperator>(p);
    if (u) return u->isIncrementDecrementOp() || u->getOpcode() == UO_AddrOf;
    const FunctionDecl* f = call ? calleeOf(call) : nullptr;
    if (!f) return false;
    if (objectOf(call) && strip(objectOf(call)) == strip(use)) {
      const auto* m = dyn_cast<CXXMethodDecl>(f);
      return (m && !m->isConst() && isText(use->getType()) && mayChange(f)) || (isa<CXXOperatorCallExpr>(call) && cast<CXXOperatorCallExpr>(call)->isAssignmentOp());
    }
    const auto arguments = argumentsOf(call);
    for (unsigned i = 0; i < arguments.size(); ++i) {
      if (arguments[i] != below && strip(arguments[i]) != strip(use)) continue;
      const ParmVarDecl* to = parameterOf(call, i);
      const QualType t = to ? to->getType() : QualType();
      if (!t.isNull() && t->isLValueReferenceType() && !t->getPointeeType().isConstQualified()) return true;
    }
    return false;
  }

  bool isSteady(const Expr* x, const FunctionDecl* inside) {
    if (const auto* u = dyn_cast<UnaryOperator>(x); u && u->isIncrementDecrementOp()) return isOwn(u->getSubExpr(), inside);
    if (const auto* b = dyn_cast<BinaryOperator>(x); b && b->isAssignmentOp()) return isOwn(b->getLHS(), inside);
    if (isa<CXXThrowExpr>(x)) return true;
    const ValueDecl* d = isa<DeclRefExpr, MemberExpr>(x) ? declOf(x) : nullptr;
    if (d && !isa<FunctionDecl, EnumConstantDecl>(d)) {
      if (readsFrom(d->getType()) && !isOwn(x, inside)) return false;
      const QualType t = d->getType().getNonReferenceType();
      const bool plain = t->isArithmeticType() || t->isPointerType() || t->isArrayType() || isText(t);
      if (inside || isa<FieldDecl>(d)) return true;
      return plain && !isa<BindingDecl>(d) ? isGivenOnce(d) : isKept(d, x);
    }
    const FunctionDecl* f = calleeOf(x);
    if (!f || isa<CXXConstructExpr>(x)) return true;
    if (const auto* o = dyn_cast<CXXOperatorCallExpr>(x)) {
      const bool steps = o->getOperator() == OO_PlusPlus || o->getOperator() == OO_MinusMinus || o->isAssignmentOp();
      if (steps && o->getNumArgs() > 0) return isOwn(o->getArg(0), inside);
    }
    switch (hostRole(f)) {
      case HostRole::ReadInput: case HostRole::Clock: case HostRole::Entropy: case HostRole::DrawsC: case HostRole::Shell: case HostRole::OpenPipe: return false;
      default: break;
    }
    const llvm::StringRef name = f->getDeclName().isIdentifier() ? f->getName() : "";
    if (llvm::StringSwitch<bool>(name).Cases("strtok", "strtok_r", "getopt", "getopt_long", "fgetc", "getc", "fgets", "fscanf", true).Default(false)) return false;
    // config.get("batch"): told what to look for, it finds the same, whatever it reads on the way.
    if (llvm::any_of(argumentsOf(x), [](const Expr* a) { return isa<StringLiteral>(strip(a)) || (isText(a->getType()) && isa<CXXConstructExpr>(strip(a)) && !argumentsOf(strip(a)).empty() && isa<StringLiteral>(strip(argumentsOf(strip(a))[0]))); })) return true;
    for (const FunctionDecl* target : code_.targets(x)) {
      const Function* known = code_.find(target);
      if (known && seen_.insert(target->getCanonicalDecl()).second && !holds(known->body, target)) return false;
    }
    return true;
  }

  // A variable of the function's own: what it does with that, each call does anew.
  static bool isOwn(const Expr* e, const FunctionDecl* inside) {
    const auto* v = dyn_cast_or_null<VarDecl>(rootOf(e));
    const auto* home = v ? dyn_cast<FunctionDecl>(v->getDeclContext()) : nullptr;
    return inside && v && v->hasLocalStorage() && !v->getType()->isReferenceType() && home && home->getCanonicalDecl() == inside->getCanonicalDecl();
  }

  const Expr* place_;
  const AuthorCode& code_;
  const Definitions& definitions_;
  llvm::DenseSet<const FunctionDecl*> seen_;
  llvm::DenseSet<const ValueDecl*> asked_;
};

}  // namespace

bool isSteady(const Expr* e, const AuthorCode& code, const Definitions& definitions) { return Steady(e, code, definitions).holds(e, nullptr); }

}  // namespace hvdize
