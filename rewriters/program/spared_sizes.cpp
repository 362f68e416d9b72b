// SPDX-License-Identifier: Apache-2.0
// Sizes that a function gets for evaluation, where it gets others for training.
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

// `run({train_set, 8, &optimizer}); run({held_set, 16, nullptr});`: a member that the objects are made with. False where all of them train, or it
// gets its value otherwise.
bool Quantity::traceGiven(const ValueDecl* field, const std::string& label) {
  const auto given = definitions_.of(field);
  const auto plain = [](const Definition& def) { return def.value && !def.compound && !def.through; };
  if (!calls_ || given.size() < 2 || !llvm::all_of(given, plain)) return false;
  llvm::SmallVector<const Expr*, 4> trained;
  for (const Definition& def : given)
    if (calls_->mayTrainWith(def.value)) trained.push_back(def.value);
  if (trained.empty() || trained.size() == given.size()) return false;
  scaled_.insert(field);
  for (const Definition& def : given)
    if (llvm::is_contained(trained, def.value)) trace(def.value, label);
    else spared_.insert(def.value);
  return true;
}

}  // namespace hvdize
