// SPDX-License-Identifier: Apache-2.0
// A function that trains and evaluates, as its arguments say: which of its calls train.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "llvm/ADT/FoldingSet.h"
#include "llvm/ADT/SetVector.h"

#include "rewriters/program/batches.h"
#include "rewriters/program/origins.h"
#include "rewriters/program/sites.h"

namespace hvdize {

/// What is known of a value: nothing, a number (an address: other than 0), a text, which function it is, or what the members of an object are made with.
struct KnownValue {
  enum class Is { Unknown, Number, Text, Function, Object } is = Is::Unknown;
  int64_t number = 0;
  std::string text;
  const clang::FunctionDecl* function = nullptr;
  const clang::InitListExpr* members = nullptr;
};

/// What variables and conditions are taken to be.
struct Assumed {
  llvm::DenseMap<const clang::ValueDecl*, KnownValue> values;
  std::vector<std::pair<llvm::FoldingSetNodeID, bool>> conditions;
};

/// `a == b`, `a != b`, `!a`: one condition, or its contrary.
struct Condition {
  llvm::FoldingSetNodeID id;
  bool negated = false;
};
Condition conditionOf(const clang::Expr* e, clang::ASTContext& context);

class TrainingCalls {
 public:
  TrainingCalls(const Sites& sites, const Definitions& definitions, const Batches& batches);

  /// May the value, where this expression gives it, come to a training step? False where what gets it evaluates only: `run(held, 16, nullptr)`.
  bool mayTrainWith(const clang::Expr* value) const { return mayTrainWith(value, Assumed()); }
  /// Is the variable read nowhere but where loaders are made? What else it decides (how many rows a reader of the program's own collects) can't be followed.
  bool onlyLoadersGet(const clang::ValueDecl* d) const;
  /// Do steps come to a place that reads the member, and does something else, too? Perhaps with other objects.
  bool isReadByBoth(const clang::ValueDecl* d) const;
  /// The values among several with which training runs: empty where that may be all of them, or is none. Unclear: the function that gets them trains
  /// and evaluates, and what decides between them is not seen to decide over that.
  struct Trained {
    llvm::SmallVector<const clang::Expr*, 4> values;
    bool unclear = false;
  };
  /// `training ? 8 : 16`
  Trained trainedOf(const clang::ConditionalOperator* choice) const;
  /// `size_for(training)`, `sizes[training]`: whether `flag` is true where training runs; nothing where both may train, or neither does.
  std::optional<bool> trainedWhere(const clang::Expr* size, const clang::Expr* flag) const;
  /// `int size = 16; if (training) size = 8;`
  Trained trainedOf(const clang::ValueDecl* d) const;
  /// Is the size taken from a table, or from a function, by what may be other for each call of a function that trains and evaluates?
  bool isOpen(const clang::Expr* size) const;

 private:
  using Seen = llvm::DenseSet<const clang::Stmt*>;
  struct Outcome {
    bool trains = false, leaves = false;  ///< leaves: what stands behind is not reached
  };
  bool mayTrainWith(const clang::Expr* value, const Assumed& assumed) const;
  const clang::FieldDecl* memberMadeOf(const clang::Stmt* part, const clang::InitListExpr* list) const;
  bool follow(const clang::Expr* value, const Assumed& assumed, Seen& seen) const;
  bool followUses(const clang::ValueDecl* d, const Assumed& assumed, Seen& seen) const;
  std::optional<bool> followCall(const clang::Expr* call, const clang::Stmt* part, const Assumed& assumed, Seen& seen) const;
  bool trainsWithArgument(const clang::Expr* call, const clang::Stmt* part, const Assumed& assumed, Seen& seen) const;
  bool loopTrains(const clang::Stmt* loop, const Assumed& assumed) const;
  bool callTrainsWith(const clang::Expr* call, const Assumed& assumed) const;
  bool isBefore(const clang::Expr* x, const clang::Expr* at) const;
  bool isSettled(const clang::Expr* condition, const clang::Expr* at) const;
  bool isOfTheRun(const clang::Expr* e) const;
  bool servesBoth(const clang::Stmt* loop) const;
  bool isOpen(const clang::Expr* selector, const std::function<bool()>& trains) const;
  void sayLabel(const clang::SwitchStmt* s, const clang::Expr* value, llvm::SmallVectorImpl<const clang::Expr*>& conditions, Assumed& assumed) const;
  void assume(const clang::Expr* condition, bool holds, const clang::Expr* at, Assumed& assumed) const;
  Assumed assumedAt(const clang::Expr* value, llvm::ArrayRef<const clang::Expr*> all, llvm::SmallVectorImpl<const clang::Expr*>& conditions) const;
  const clang::Stmt* stepHeadedBy(const clang::Stmt* s) const;
  bool trainsAround(const clang::Expr* value, const Assumed& assumed) const;
  bool isFixed(const clang::ValueDecl* d) const;
  KnownValue valueOf(const clang::Expr* e, const Assumed& assumed, unsigned depth = 0) const;
  KnownValue valueOfBinary(const clang::BinaryOperator* b, const Assumed& assumed, unsigned depth) const;
  KnownValue valueOfMember(const clang::MemberExpr* m, const Assumed& assumed, unsigned depth) const;
  KnownValue valueOfObject(const clang::Expr* e, const Assumed& assumed, unsigned depth) const;
  KnownValue valueOfDecl(const clang::ValueDecl* d, const Assumed& assumed, unsigned depth) const;
  Outcome run(const clang::Stmt* s, const Assumed& assumed, unsigned depth = 0) const;
  Outcome runIf(const clang::IfStmt* s, const Assumed& assumed, unsigned depth) const;
  Outcome runSwitch(const clang::SwitchStmt* s, const Assumed& assumed, unsigned depth) const;
  bool callTrains(const clang::Expr* call, const Assumed& assumed, unsigned depth) const;

  const AuthorCode& code_;
  const Sites& sites_;
  const Definitions& definitions_;
  const Batches& batches_;
  llvm::DenseMap<const clang::ValueDecl*, llvm::SmallVector<const clang::Expr*, 4>> bound_;  ///< uses of members by the names that `auto& [a, b] = object` gives them
  llvm::DenseMap<const clang::Stmt*, const clang::FieldDecl*> begun_;  ///< what fields begin with, in a constructor or in their class
  mutable llvm::SetVector<const clang::Stmt*>* reached_ = nullptr;  ///< gets the loops in which a value trains, while one is followed
};

}  // namespace hvdize
