// SPDX-License-Identifier: Apache-2.0
// Sizes that a function gets for evaluation, where it gets others for training.
#include <set>

#include "clang/AST/StmtCXX.h"
#include "llvm/ADT/SetVector.h"

#include "rewriters/program/host.h"
#include "rewriters/program/quantities.h"
#include "rewriters/program/training_calls.h"

using namespace clang;

namespace hvdize {

bool Quantity::isSpared(const Expr* value) {
  const bool spared = calls_ && !calls_->mayTrainWith(value);
  if (spared) spared_.insert(value);
  return spared;
}

// `training ? 8 : 16`, itself or what a variable is made with.
bool Quantity::traceChoice(const ConditionalOperator* choice, const std::string& label) {
  const TrainingCalls::Trained trained = calls_ ? calls_->trainedOf(choice) : TrainingCalls::Trained();
  if (trained.unclear) unclear_.insert(choice);
  if (trained.values.empty()) return false;
  const Expr* value = trained.values.front();
  spared_.insert(value == choice->getTrueExpr() ? choice->getFalseExpr() : choice->getTrueExpr());
  trace(value, label);
  return true;
}

namespace {

// What holds where the flag does: `p`, `!p`; nothing for any other condition.
std::optional<bool> whereHolds(const Expr* condition, const ParmVarDecl* p, bool flag) {
  condition = strip(condition);
  const auto* u = dyn_cast<UnaryOperator>(condition);
  if (u && u->getOpcode() == UO_LNot) {
    const auto inner = whereHolds(u->getSubExpr(), p, flag);
    return inner ? std::optional(!*inner) : std::nullopt;
  }
  return isa<DeclRefExpr>(condition) && declOf(condition) == p ? std::optional(flag) : std::nullopt;
}

// What the function returns for this value of its parameter: `return p ? 8 : 16;`, `if (p) return 8; return 16;`. Null where that is not plain.
const Expr* returnedFor(const Stmt* s, const ParmVarDecl* p, bool flag) {
  if (const auto* block = dyn_cast_or_null<CompoundStmt>(s)) {
    for (const Stmt* each : block->body()) {
      const auto* i = dyn_cast<IfStmt>(each);
      if (!i && !isa<ReturnStmt>(each)) return nullptr;
      const auto holds = i && !i->getInit() && !i->getConditionVariable() ? whereHolds(i->getCond(), p, flag) : std::nullopt;
      if (i && !holds) return nullptr;
      if (i && !(*holds ? i->getThen() : i->getElse())) continue;
      return returnedFor(i ? (*holds ? i->getThen() : i->getElse()) : each, p, flag);
    }
    return nullptr;
  }
  const auto* r = dyn_cast_or_null<ReturnStmt>(s);
  const Expr* value = r && r->getRetValue() ? strip(r->getRetValue()) : nullptr;
  while (const auto* choice = dyn_cast_or_null<ConditionalOperator>(value)) {
    const auto holds = whereHolds(choice->getCond(), p, flag);
    if (!holds) return nullptr;
    value = strip(*holds ? choice->getTrueExpr() : choice->getFalseExpr());
  }
  return value;
}

// The numbers of a table in the function at hand, which nothing changes, in their order.
llvm::SmallVector<const Expr*, 2> numbersOf(const VarDecl* table) {
  llvm::SmallVector<const Expr*, 2> out;
  if (!table || !table->isLocalVarDecl() || table->isStaticLocal() || table->isConstexpr() || !table->getType().isConstQualified() || !table->getInit()) return out;
  const auto add = [&](auto&& self, const Expr* made) -> void {
    const Expr* e = strip(made);
    if (const auto* k = dyn_cast<CXXConstructExpr>(e); k && k->getNumArgs() > 0) return self(self, k->getArg(0));
    if (const auto* list = dyn_cast<CXXStdInitializerListExpr>(e)) return self(self, list->getSubExpr());
    const auto* list = dyn_cast<InitListExpr>(e);
    if (!list && e->getType()->isIntegerType()) out.push_back(e);
    for (unsigned i = 0; list && i < list->getNumInits(); ++i) self(self, list->getInit(i));
  };
  add(add, table->getInit());
  return out;
}

}  // namespace

// `size_for(training)`, of a function of the program that returns one of two numbers, and `sizes[training]`, of a table of two: the one that training
// gets.
bool Quantity::traceChosenBy(const Expr* e, const std::string& label) {
  if (!calls_) return false;
  const auto plain = [](const Expr* x) { return isa_and_nonnull<IntegerLiteral>(x); };
  const Expr *flag = nullptr, *yes = nullptr, *no = nullptr;
  const auto targets = isa<CallExpr>(e) ? definitions_.code().targets(e) : llvm::SmallVector<const FunctionDecl*, 2>();
  const auto* o = dyn_cast<CXXOperatorCallExpr>(e);
  const auto* s = dyn_cast<ArraySubscriptExpr>(e);
  if (targets.size() == 1 && targets[0]->getNumParams() == 1 && argumentsOf(e).size() == 1 && targets[0]->getParamDecl(0)->getType()->isBooleanType()) {
    flag = argumentsOf(e)[0];
    yes = returnedFor(targets[0]->getBody(), targets[0]->getParamDecl(0), true);
    no = returnedFor(targets[0]->getBody(), targets[0]->getParamDecl(0), false);
  } else if (s || (o && o->getOperator() == OO_Subscript && o->getNumArgs() == 2)) {
    flag = s ? s->getIdx() : o->getArg(1);
    const auto numbers = numbersOf(dyn_cast_or_null<VarDecl>(declOf(strip(s ? s->getBase() : o->getArg(0)))));
    if (strip(flag)->getType()->isBooleanType() && numbers.size() == 2) no = numbers[0], yes = numbers[1];
  }
  if (!plain(yes) || !plain(no)) return false;
  const auto trained = calls_->trainedWhere(e, strip(flag));
  if (!trained) return false;
  spared_.insert(*trained ? no : yes);
  trace(*trained ? yes : no, label);
  return true;
}

// `int size = 16; if (training) size = 8;`: what evaluation gets.
llvm::SmallVector<const Expr*, 4> Quantity::sparedOf(const ValueDecl* d) {
  llvm::SmallVector<const Expr*, 4> out;
  const TrainingCalls::Trained trained = calls_ ? calls_->trainedOf(d) : TrainingCalls::Trained();
  for (const Definition& def : definitions_.of(d)) {
    if (trained.unclear && def.value) unclear_.insert(def.value);
    if (!trained.values.empty() && !llvm::is_contained(trained.values, def.value)) out.push_back(def.value);
  }
  spared_.insert(out.begin(), out.end());
  return out;
}

// `size_ = training ? 8 : 16`, of a member or global: scaled where it gets its value, if that is seen.
bool Quantity::traceChosen(const ValueDecl* d, const std::string& label) {
  const auto given = definitions_.of(d);
  if (!calls_ || !llvm::all_of(given, [](const Definition& def) { return def.value && !def.compound && !def.through; })) return false;
  const auto evaluated = sparedOf(d);
  bool chosen = !evaluated.empty();
  for (const Definition& def : given)
    if (const auto* choice = dyn_cast<ConditionalOperator>(strip(def.value))) {
      const TrainingCalls::Trained trained = calls_->trainedOf(choice);
      if (trained.unclear) unclear_.insert(choice);
      chosen = chosen || !trained.values.empty();
    }
  if (!chosen) return false;
  if (const auto* v = dyn_cast<VarDecl>(d); v && v->isConstexpr()) {  // nothing can be multiplied in it, and what is read of it serves both
    unclear_.insert(given.front().value);
    return false;
  }
  for (const Definition& def : given)
    if (!llvm::is_contained(evaluated, def.value)) trace(def.value, label);
  return true;
}

bool Quantity::mayTrainWith(const Expr* loader) const { return !calls_ || calls_->mayTrainWith(loader); }

namespace {

// What a member gets from the calls that make its objects, or set it: whether steps may use the object for which this one is.
struct Given {
  llvm::SetVector<const Expr*> all, trained;
  llvm::DenseSet<const ValueDecl*> passed;  // parameters between
};

// Loader(x, y, size) : size_(size), `void resize(long n) { size_ = n; }`, `Loader make(long n) { return Loader(n); }`. Empty where a call is not seen.
Given givenTo(const ValueDecl* field, const Definitions& definitions, const TrainingCalls& calls) {
  Given given;
  std::vector<std::pair<Definition, bool>> open;
  std::set<std::pair<const ValueDecl*, bool>> seen;
  const auto add = [&](const ValueDecl* d, bool trains) {
    if (seen.insert({d, trains}).second)
      for (const Definition& def : definitions.of(d)) open.emplace_back(def, trains);
  };
  add(field, true);
  while (!open.empty()) {
    const auto [def, around] = open.back();
    open.pop_back();
    if (def.value && !def.compound && isLiteralZero(def.value)) continue;  // `int rows = 0;` in the class: what it is before it gets a size is none
    if (!def.value || def.compound || def.through) return {};
    const auto* p = isa<DeclRefExpr>(strip(def.value)) ? dyn_cast_or_null<ParmVarDecl>(declOf(strip(def.value))) : nullptr;
    // What a class does with its parameter says nothing of which object that is.
    const auto* m = p ? dyn_cast<CXXMethodDecl>(p->getDeclContext()) : nullptr;
    const bool own = m && isa<FieldDecl>(field) && m->getParent()->getCanonicalDecl() == cast<FieldDecl>(field)->getParent()->getCanonicalDecl() && !m->isStatic();
    const bool trains = around && (own || calls.mayTrainWith(def.value));
    if (p && !p->hasDefaultArg() && !definitions.of(p).empty()) {
      if (trains) given.passed.insert(p);
      add(p, trains);
      continue;
    }
    given.all.insert(def.value);
    if (trains) given.trained.insert(def.value);
  }
  return given;
}

}  // namespace

// `run({train_set, 8, &optimizer}); run({held_set, 16, nullptr});`: a member that the objects are made with. False where all of them train, or it
// gets its value otherwise.
bool Quantity::traceGiven(const ValueDecl* field, const std::string& label) {
  if (!calls_) return false;
  const Given given = givenTo(field, definitions_, *calls_);
  if (given.all.empty()) return false;
  // `held_rows`, which only loaders get that nothing trains with, in a function that also trains.
  if (calls_->onlyLoadersGet(field) && llvm::none_of(definitions_.uses(field), [&](const Expr* use) { return calls_->mayTrainWith(use); })) {
    scaled_.insert(field);
    spared_.insert(given.all.begin(), given.all.end());
    return true;
  }
  if (given.trained.empty() || given.trained.size() == given.all.size()) {
    // Which of the objects train is not seen.
    const ValueDecl* first = declOf(strip(given.all[0]));
    const bool one = given.all.size() == 1 || (first && llvm::all_of(given.all, [&](const Expr* e) { return declOf(strip(e)) == first; }));
    if (!one && calls_->isReadByBoth(field)) unclear_.insert(given.all[0]);
    return false;
  }
  scaled_.insert(field);
  scaled_.insert(given.passed.begin(), given.passed.end());
  for (const Expr* value : given.all)
    if (given.trained.count(value)) trace(value, label);
    else spared_.insert(value);
  return true;
}

}  // namespace hvdize
