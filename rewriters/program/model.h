// SPDX-License-Identifier: Apache-2.0
// All facts about the author's program that the passes use.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "rewriters/context.h"
#include "rewriters/program/batch_ends.h"
#include "rewriters/program/batches.h"
#include "rewriters/program/evaluate.h"
#include "rewriters/program/folder_loops.h"
#include "rewriters/program/hand_updates.h"
#include "rewriters/program/memory_streams.h"
#include "rewriters/program/quantities.h"
#include "rewriters/program/threads.h"

namespace hvdize {

class TrainingCalls;

/// One construction of an optimizer, with how the program names it and the model it trains.
struct ConstantUses;

struct OptimizerSite {
  const clang::Expr* construct = nullptr;
  const clang::Stmt* statement = nullptr;  ///< the statement that holds it; null for member initialisers
  /// Of the constructor that makes it, or of the function that gets it: from its end (or start) on the name is good.
  const clang::CompoundStmt* body = nullptr;
  bool atStart = false;
  const clang::Expr* parameters = nullptr;  ///< the object whose parameters it gets
  std::string name, model;
  OptimizerRule rule = OptimizerRule::None;
};

/// A backward pass with what its loss is.
struct BackwardSite {
  const clang::Expr* call = nullptr;
  const clang::Expr* loss = nullptr;
  Value kind;
};

struct Model {
  explicit Model(PassContext& context);

  PassContext& context;
  AuthorFiles files;
  AuthorCode code;
  Sites sites;
  Definitions definitions;
  MemoryStreams memory;
  Threads threads;
  Batches batches;
  /// A training loop whose batch size has no visible source: it can be shared out, but not multiplied.
  const clang::Stmt* unknownBatch = nullptr;
  /// What the batch size is made from and the compiler must know; null when there is nothing like it.
  const clang::ValueDecl* fixedBatch = nullptr;
  /// Where the size of a batch is used for what is no batch; null when it is not.
  const clang::Expr* otherUse = nullptr;
  /// Where losses are sums and means, so that no rule says how a rate is to follow the size of the batch; null when one does.
  const clang::Expr* ruleUnclear = nullptr;
  /// Where an optimizer of a class of the program's own is made, whose steps hvdize does not know; null where there is none.
  const clang::Expr* ownStep = nullptr;
  /// What larger batches would go past the end of.
  Overrun overrun;
  /// The size of a batch, written as a number in more places (see sizes_written_again.h).
  llvm::SetVector<const clang::Expr*> writtenAgain;
  llvm::SetVector<const clang::Expr*> unclearSizes;     ///< where it may be that size, or something else
  const clang::Expr* countedOtherwise = nullptr;  ///< where batches are counted with that number in a way that does not follow their size
  /// The literal 1 where the rows of a batch are cut; null when there is none.
  const clang::Expr* singleSample = nullptr;
  Quantity batchSize;
  Kinds kinds;
  std::vector<OptimizerSite> optimizers;
  /// More constructions of these: in other instantiations of a template, which share the text.
  std::vector<OptimizerSite> instances;
  std::vector<BackwardSite> backwards;
  std::vector<HandUpdate> handUpdates;
  const clang::FunctionDecl* main = nullptr;
  /// Numbers that were reduced in a statement of their own before the one that shows them, and the names of what holds them (in the
  /// function that begins there), with the place each stands for.
  llvm::DenseSet<const clang::Expr*> hoisted;
  std::map<std::pair<unsigned, std::string>, unsigned> hoistedNames;
  bool trains = false;
  bool batchNorm = false;      ///< seen, or possible in what is not seen
  bool batchNormSeen = false;
  /// What a sentence on batch norm ends with.
  llvm::StringRef ifSeen() const { return batchNormSeen ? "" : ", if it holds batch norm: not all of it is seen here"; }
  std::optional<FolderLoops> folderLoops;  ///< always there once the model is made

  std::string text(const clang::Expr* e) const;
  /// The name of a variable that holds what `e` gives: hvd_BASE, with a number where its function has one of that name. One place has one name,
  /// whichever instantiation of a template asks for it.
  std::string variableFor(const clang::Expr* e, llvm::StringRef base);
  /// The name that is wanted for something added, with a number where the source has one of that name already, for whatever it stands there.
  std::string freeName(llvm::StringRef wanted) const;
  /// No effect but its value, and no collective once the passes have run: may be left out on other ranks.
  bool effectFree(const clang::Expr* e) const;
  /// May an object be named by `e` once more? Free of effects, or such that a second time changes nothing: `optimizers["head"]` of a map.
  bool mayNameAgain(const clang::Expr* e) const;
  /// The same for all expressions of a statement.
  bool effectFreeIn(const clang::Stmt* s) const;
  /// The same, but that files may be changed.
  bool effectFreeButFiles(const clang::Stmt* s) const;
  /// A batch cut by hand whose number of rows is known to be another than that of the first one of the same step.
  struct OtherSize {
    const clang::Expr* shard;
    uint64_t rows, first;
  };
  std::optional<OtherSize> batchOfOtherSize() const;
  /// What a function of the library makes from the arguments of its constructor (`make_unique<T>(...)`, `list.emplace_back(...)`); null for
  /// any other call.
  const clang::CXXRecordDecl* madeInPlace(const clang::Expr* call) const;
  /// The statement around `s` that stands in a block.
  const clang::Stmt* statementOf(const clang::Stmt* s) const;

  /// Does the hand-written loop, or one inside of it, collect rows and make a step whenever there are enough? Its rounds are samples then, not steps.
  bool collectsRows(const clang::Stmt* loop) const;

 private:
  std::string nameAt(const clang::Expr* e, const clang::FunctionDecl* where, const clang::FunctionDecl* made) const;
  bool effectFreeBody(const clang::Stmt* s, llvm::DenseSet<const clang::FunctionDecl*>& seen, bool filesToo = false) const;
  bool pure(const clang::Expr* call, llvm::DenseSet<const clang::FunctionDecl*>& seen) const;
  Quantity findBatchSize();
  void leaveRatios(Quantity& q) const;
  bool named(llvm::StringRef name) const;
  Kinds deriveKinds();
  void addRepeats(Quantity& q, const ConstantUses& constants);
  const clang::Expr* countedFromMemory(const Quantity& q) const;
  /// With `held` given: only the loaders that steps do nothing with but evaluate.
  bool isOfEitherObject(const clang::Expr* size, const clang::Expr* loader, const Quantity& q) const;
  bool traceLoader(const clang::Expr* loader, Quantity& q, const TrainingCalls* held = nullptr) const;
  bool countsSamples(const clang::Expr* feeding) const;
  /// Where rows are cut that begin at the items of a list which does not follow the size of the batch; null where none are.
  const clang::Expr* traceCursors(Quantity& q) const;
  void traceWrittenAgain(const clang::ForStmt* loop, const clang::BinaryOperator* inc, Quantity& q) const;
  const clang::Stmt* countedParts(const Quantity& q) const;
  bool isSameBound(const clang::Expr* e, const clang::Expr* bound) const;
  bool isWrittenAgain(const clang::Stmt* loop, const clang::ValueDecl* at, const Quantity& q) const;
  bool weighsWithLiteral(const clang::Stmt* loop, const Quantity& q) const;
  bool traceHandLoop(const HandLoop& loop, Quantity& q, bool members) const;
  /// The expression that says how many rows `shard` forms; null when that is not visible.
  const clang::Expr* sizeMade(const clang::Expr* parts, llvm::StringRef by) const;
  const clang::Expr* sizeBetween(const clang::Expr* begin, const clang::Expr* end) const;
  const clang::Expr* sizeSpanned(const clang::Expr* first, const clang::Expr* last) const;
  const clang::Expr* sizeMoved(const clang::ValueDecl* start, const clang::Expr* end) const;
  const clang::Expr* sizeCollected(const clang::Expr* list) const;
  const clang::Expr* sizeCollectedInStep(const clang::Expr* rows) const;
  bool goesOnFrom(const clang::ValueDecl* field, const clang::Stmt* loop) const;
  bool isEmptied(const clang::VarDecl* list) const;
  const clang::Expr* sizeThatSteps(const clang::Stmt* loop, const clang::VarDecl* list) const;
  const clang::Expr* sizeThatSteps(const clang::VarDecl* list) const;
  const clang::Expr* sizeReached(const clang::Stmt* loop, const clang::VarDecl* list) const;
  const clang::Expr* positionsCounted(const clang::Expr* size) const;
  const clang::Expr* sizeVisited(const clang::Expr* positions) const;
  const clang::Expr* sizeReturned(const clang::Expr* call) const;
  const clang::Expr* givenAt(const clang::Expr* call, const Function& called, const clang::Expr* size) const;
  bool movesOn(const clang::Expr* e, const clang::Stmt* inner, unsigned depth) const;
  bool drawsIn(const clang::Stmt* body, unsigned depth) const;
  const clang::Expr* sizeOfPiece(const clang::Expr* numbers) const;
  const clang::Expr* rowsOf(const clang::Expr* shard) const;
  llvm::SetVector<const clang::ValueDecl*> listsAround(const clang::Expr* shard, bool& known) const;
  std::vector<const clang::Expr*> formedBefore(const clang::Expr* shard) const;
  bool movesBySize(const clang::Expr* formed, const clang::Expr* size) const;
  void findOptimizers();
  void considerOptimizer(const clang::Expr* e, const clang::CXXConstructorDecl* ctor, const clang::FieldDecl* field);
  bool placeInitialised(const clang::Expr* e, OptimizerSite site);
  /// A class of the program's own, derived from the framework's optimizers, with a step of its own?
  bool stepsItself(const clang::CXXRecordDecl* r) const;
  bool placeOptimizer(const clang::Expr* e, OptimizerSite site, llvm::DenseSet<const clang::FunctionDecl*>& from);
  bool placeArgument(const clang::Stmt* call, const clang::Stmt* argument, OptimizerSite site);
  void placeBehindVariables(const clang::FieldDecl* member);
  void addOptimizer(const OptimizerSite& site);
  bool usesBatchNorm() const;
};

}  // namespace hvdize
