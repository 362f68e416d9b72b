// SPDX-License-Identifier: Apache-2.0
// Sizes that a function gets for evaluation, where it gets others for training.
#include "clang/AST/StmtCXX.h"

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

// `run({train_set, 8, &optimizer}); run({held_set, 16, nullptr});`: a member that the objects are made with. False where all of them train, or it
// gets its value otherwise.
bool Quantity::traceGiven(const ValueDecl* field, const std::string& label) {
  // `int rows = 0;` in the class: what it is before it gets a size is none.
  llvm::SmallVector<Definition, 4> given;
  for (const Definition& def : definitions_.of(field))
    if (!def.value || !isLiteralZero(def.value)) given.push_back(def);
  const auto plain = [](const Definition& def) { return def.value && !def.compound && !def.through; };
  // Loader(x, y, size) : size_(size): what the constructor is called with.
  const auto* parameter = given.size() == 1 && plain(given[0]) && isa<DeclRefExpr>(strip(given[0].value)) ? dyn_cast_or_null<ParmVarDecl>(declOf(strip(given[0].value))) : nullptr;
  if (parameter && isa<CXXConstructorDecl>(parameter->getDeclContext()) && !parameter->hasDefaultArg() && !definitions_.of(parameter).empty())
    given.assign(definitions_.of(parameter).begin(), definitions_.of(parameter).end());
  else parameter = nullptr;
  if (!calls_ || given.empty() || !llvm::all_of(given, plain)) return false;
  // `held_rows`, which only loaders get that nothing trains with, in a function that also trains.
  if (calls_->onlyLoadersGet(field) && llvm::none_of(definitions_.uses(field), [&](const Expr* use) { return calls_->mayTrainWith(use); })) {
    scaled_.insert(field);
    for (const Definition& def : given) spared_.insert(def.value);
    return true;
  }
  llvm::SmallVector<const Expr*, 4> trained;
  for (const Definition& def : given)
    if (calls_->mayTrainWith(def.value)) trained.push_back(def.value);
  if (trained.empty() || trained.size() == given.size()) return false;
  scaled_.insert(field);
  if (parameter) scaled_.insert(parameter);
  for (const Definition& def : given)
    if (llvm::is_contained(trained, def.value)) trace(def.value, label);
    else spared_.insert(def.value);
  return true;
}

}  // namespace hvdize
