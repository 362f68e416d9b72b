// SPDX-License-Identifier: Apache-2.0
// Where a number enters the program that must be scaled with the number of ranks: a batch size, a learning rate.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"

#include "rewriters/program/origins.h"
#include "rewriters/program/sites.h"

namespace hvdize {

class TrainingCalls;

/// Finds the expressions to scale so that every use of the quantity sees the scaled number, once: the initialiser of a local
/// variable, the argument a caller passes, else each read of a field, a global or a constant.
class Quantity {
 public:
  enum class Changes { Absolute, Relative };
  /// `Relative`: changes such as `*=` keep a scaled value scaled (learning rates). `Absolute`: they make it new.
  /// `training`: is this expression evaluated in a training step? A function that a step calls takes the quantity from there: what
  /// other callers give it is not scaled.
  Quantity(const Definitions& definitions, Changes changes, std::function<bool(const clang::Expr*)> training = nullptr)
      : definitions_(definitions), changes_(changes), training_(std::move(training)) {}

  /// Variables that stay as they are: what is read from them is scaled.
  void keep(llvm::DenseSet<const clang::ValueDecl*> constants) { kept_ = std::move(constants); }
  /// What comes to evaluation only, `run(held, 16, nullptr)`, stays as it is.
  void spare(const TrainingCalls& calls) { calls_ = &calls; }
  /// False where it is seen that steps do nothing with this loader but evaluate.
  bool mayTrainWith(const clang::Expr* loader) const;
  const llvm::SetVector<const clang::Expr*>& spared() const { return spared_; }
  void tracedAll() { calls_ = nullptr; }
  /// From now on sinks that are traced are scaled themselves, not where their values enter the program: what else is made from these stays as it was
  /// written.
  void stay() { stay_ = true; }
  /// Which expressions yield a scaled value by themselves (the rate that an optimizer holds).
  void know(std::function<bool(const clang::Expr*)> scaled) { known_ = std::move(scaled); }
  /// Which variables get back, from a file, what the program has written there: that is scaled already.
  void restore(std::function<bool(const clang::ValueDecl*)> restored, std::function<bool(const clang::Expr*)> values) {
    restored_ = std::move(restored);
    fromFile_ = std::move(values);
  }
  /// Reads of fields and globals that hold scaled and unscaled values, one after another; products of two scaled values.
  const llvm::SetVector<const clang::Expr*>& mixed() const { return mixed_; }
  /// What was traced under one label and is used under another, or would have to be scaled away from its use.
  const llvm::SetVector<const clang::Expr*>& shared() const { return shared_; }

  /// Differences for which no size is seen (`stops[i] - starts[i]`): a factor would make the parts overlap.
  const llvm::SetVector<const clang::Expr*>& unclear() const { return unclear_; }
  void leaveUnclear(const clang::Expr* e) { unclear_.insert(e); }

  /// Follows the sink to where its value enters. `label`: what the places found on the way get.
  void trace(const clang::Expr* sink, const std::string& label = "");
  /// When everything is traced: what is computed (products, sums) is a place, unless something in it is scaled already. Then the other
  /// addends, alternatives and bounds of it are traced, too.
  void settle();
  /// One more place, found otherwise.
  void add(const clang::Expr* e) { place(e, ""); }
  /// A place that is to stay as it is.
  void leave(const clang::Expr* e) {
    places_.remove(e);
    left_.insert(e);
  }
  bool isLeft(const clang::Expr* e) const { return left_.count(e) != 0; }
  /// The label under which a place was found.
  std::string label(const clang::Expr* place) const { return labels_.lookup(place); }
  std::string label(const clang::ValueDecl* scaled) const { return declLabels_.lookup(scaled); }
  /// What the program puts into a container: list.push_back(rate), list[i] = rate.
  llvm::SmallVector<const clang::Expr*, 4> putInto(const clang::ValueDecl* d) const;
  /// Is it the number of items in a container?
  bool countsItems(const clang::Expr* e, int depth = 0) const;
  /// Is the value of `e` made from something that is scaled already?
  bool derived(const clang::Expr* e) const;
  /// Is this number of rows scaled already? Where they begin does not count.
  bool isScaled(const clang::Expr* count, int depth = 0) const;
  const llvm::SetVector<const clang::Expr*>& places() const { return places_; }
  const llvm::DenseSet<const clang::ValueDecl*>& scaled() const { return scaled_; }

 private:
  bool derived(const clang::Expr* e, llvm::DenseSet<const void*>& seen, const clang::ValueDecl* except = nullptr) const;
  int degree(const clang::Expr* e, int depth = 0, bool placed = true) const;
  void complete(const clang::Expr* e, const std::string& label, llvm::DenseSet<const void*>& seen);
  void alike(llvm::ArrayRef<const clang::Expr*> operands, const std::string& label, llvm::DenseSet<const void*>& seen);
  bool isKnown(const clang::Expr* e) const;
  bool isScaledAsItIs(const clang::Expr* e) const;
  const clang::Expr* gotten(const clang::Expr* e) const;
  bool isCountedWith(const clang::ValueDecl* d, const clang::Expr* where) const;
  bool comesFromCounted(const clang::ValueDecl* field) const;
  llvm::SmallVector<const clang::Expr*, 2> countedParts(const clang::Expr* e) const;
  bool takesOver(const clang::Expr* e, llvm::DenseSet<const void*>& seen) const;
  bool isRest(const clang::Expr* e, bool direct) const;
  bool isSetInSteps(const clang::ValueDecl* d) const;
  const clang::Expr* madeFromSize(const clang::Expr* e, bool& only) const;
  bool shrinks(const clang::ValueDecl* d) const;
  bool countsUp(const clang::ValueDecl* d) const;
  bool isCounted(const clang::Expr* e, unsigned depth = 0) const;
  const clang::Expr* unclipped(const clang::Expr* e) const;
  const clang::Expr* sizeIn(const clang::Expr* e) const;
  const clang::Expr* lengthOf(const clang::BinaryOperator* difference) const;
  void place(const clang::Expr* e, const std::string& label);
  void traceDecl(const clang::ValueDecl* d, const clang::Expr* sink, const std::string& label);
  void traceElement(const clang::VarDecl* element, const clang::Expr* sink, const std::string& label);
  void settleReads();
  void settleParts();
  bool isNumber(const clang::Expr* e) const;
  void traceBounds(const clang::Expr* e, const std::string& label);
  void traceReads(const clang::ValueDecl* d, const clang::Expr* sink, const std::string& label);

  bool isSpared(const clang::Expr* value);
  const clang::VarDecl* listBehind(const clang::VarDecl* element) const;
  bool traceTable(const clang::VarDecl* table, const std::string& label, std::optional<int64_t> at = std::nullopt);
  bool traceItem(const clang::VarDecl* table, int64_t at, llvm::ArrayRef<const clang::Expr*> numbers, llvm::ArrayRef<const clang::Expr*> reads, const std::string& label);
  llvm::SmallVector<const clang::ValueDecl*, 4> namesOf(const clang::ValueDecl* map) const;
  bool traceSetting(const clang::Expr* e, llvm::StringRef key, const std::string& label);
  bool traceSubscript(const clang::Expr* e, const std::string& label);
  llvm::SmallVector<const clang::VarDecl*, 2> elementsOf(const clang::VarDecl* table) const;
  bool traceChoice(const clang::ConditionalOperator* choice, const std::string& label);
  bool traceChosenBy(const clang::Expr* e, const std::string& label);
  llvm::SmallVector<const clang::Expr*, 4> sparedOf(const clang::ValueDecl* d);
  bool traceChosen(const clang::ValueDecl* d, const std::string& label);
  bool traceGiven(const clang::ValueDecl* field, const std::string& label);

  const Definitions& definitions_;
  Changes changes_;
  bool stay_ = false;
  const TrainingCalls* calls_ = nullptr;
  std::function<bool(const clang::Expr*)> training_, known_, fromFile_;
  std::function<bool(const clang::ValueDecl*)> restored_;
  llvm::SetVector<const clang::Expr*> places_, mixed_, shared_, unclear_, spared_;
  llvm::DenseSet<const clang::Expr*> left_;
  llvm::DenseSet<const clang::ValueDecl*> scaled_, kept_, tables_;
  llvm::DenseMap<const clang::ValueDecl*, std::string> declLabels_;
  llvm::DenseMap<const clang::Expr*, std::string> labels_;
  struct Computed {
    const clang::Expr* value;
    std::string label;
    bool stay;
  };
  std::vector<Computed> computed_;
  std::vector<std::pair<const clang::ValueDecl*, std::vector<const clang::Expr*>>> reads_;  // traced where they are read
};

/// Is this mention of a variable a read of its value (and not the target of an assignment, `&x`, or a reference that may write)?
bool isRead(const AuthorCode& code, const clang::Expr* use);
/// Is `value` what a compound assignment adds or subtracts?
bool isAddend(const AuthorCode& code, const clang::Expr* value);
/// 0, 0.0: stays zero under any factor (the end of a cosine schedule).
bool isLiteralZero(const clang::Expr* e);

}  // namespace hvdize
