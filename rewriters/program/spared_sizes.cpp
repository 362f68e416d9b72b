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
  const Expr* trained = calls_ ? calls_->trainedOf(choice) : nullptr;
  if (!trained) return false;
  spared_.insert(trained == choice->getTrueExpr() ? choice->getFalseExpr() : choice->getTrueExpr());
  trace(trained, label);
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
