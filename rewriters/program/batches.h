// SPDX-License-Identifier: Apache-2.0
// How the program forms its batches: loops over a loader, and loops that cut or draw batches by hand.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "llvm/ADT/SetVector.h"

#include "rewriters/program/constructions.h"
#include "rewriters/program/origins.h"
#include "rewriters/program/sites.h"

namespace hvdize {

/// A loop over one of the dialect's loaders: a range-for, or `for (auto it = l.begin(); it != l.end(); ++it)`.
struct LoaderLoop {
  const clang::Stmt* loop = nullptr;
  const clang::VarDecl* variable = nullptr;  ///< the batch, or the iterator
  const clang::Expr* loader = nullptr;
  const clang::FunctionDecl* function = nullptr;
  bool trains = false;  ///< a backward runs in it
  const char* whole = "";  ///< does not train: why every rank reads all of it; null when it is shared out (see EvaluationLoops)
  bool sharded() const { return trains || !whole; }
  llvm::SmallVector<const clang::Expr*, 2> iterators;  ///< the calls of begin and end, when they are written out
  bool inParts = false;  ///< does not train itself: a loop in it takes its batches in parts, each a batch of its own (see HandLoop)
  bool direct = false;   ///< a backward runs in it on what is no such part
};

/// A loader whose batches a training loop takes one by one: `auto it = l->begin(); ... *it ... ++it`, perhaps beginning anew at the end.
struct HandIterator {
  const clang::ValueDecl* variable = nullptr;  ///< the iterator; null for `*l->begin()`
  const clang::Expr* loader = nullptr;
  llvm::SmallVector<const clang::Expr*, 4> ends;   ///< the calls of begin and end
  llvm::SmallVector<const clang::Expr*, 4> reads;  ///< *it, it->
  llvm::SmallVector<const clang::ValueDecl*, 1> sentinels;  ///< variables that hold an end, and that only this iterator is compared with
  const clang::Stmt* loop = nullptr;               ///< the loop of the training step that takes its batches; null when none does
  bool looks = false;  ///< its batches are only looked at, in steps, and every rank has all of each
};

/// A loop that forms its batches itself.
struct HandLoop {
  const clang::Stmt* loop = nullptr;
  const clang::FunctionDecl* function = nullptr;
  bool trains = true;  ///< false: it does in another instantiation of its template
};

/// Why a training step could not be understood.
struct BatchProblem {
  enum class What { NoLoop, NoBatch, LoaderForm, FormedAhead, Beside } what;
  const clang::Expr* where;
};

class Batches {
 public:
  Batches(const AuthorCode& code, const Sites& sites, const Definitions& definitions);

  const std::vector<LoaderLoop>& loaderLoops() const { return loaderLoops_; }
  std::vector<LoaderLoop>& loaderLoops() { return loaderLoops_; }
  const std::vector<HandLoop>& handLoops() const { return handLoops_; }
  const std::vector<HandIterator>& handIterators() const { return handIterators_; }
  /// Does each rank read its slice of what some loader holds?
  bool shareLoaders() const;
  /// Is this `*it` (or `it->`) a batch of a training step, taken from a loader by hand?
  bool isTaken(const clang::Expr* read) const { return taken_.count(read); }
  /// Expressions that form a whole batch, each to become this rank's rows.
  const llvm::SetVector<const clang::Expr*>& shards() const { return shards_; }
  /// Does this batch have all rows of a tensor, and some of their columns? The size of the batch is that of the tensor then.
  bool takesColumns(const clang::Expr* shard) const;
  /// Does this batch lay its samples side by side, along the second dimension (pad_sequence(list))?
  bool liesSecond(const clang::Expr* shard) const;
  /// Is a batch formed here in an instantiation of a template that does not train?
  bool isTwin(const clang::Expr* shard) const { return twins_.count(shard); }
  /// Is this random draw or new tensor part of what a whole batch is formed from (offsets into the data, say)?
  bool feeds(const clang::Expr* e) const { return feeding_.count(e); }
  const llvm::SetVector<const clang::Expr*>& feeding() const { return feeding_; }
  /// What forms batches that are whole when their step begins.
  const llvm::SetVector<const clang::Expr*>& formedAhead() const { return ahead_; }
  /// Tensors of which every step uses all rows, each of which is a sample (full-batch training).
  const llvm::SetVector<const clang::ValueDecl*>& allData() const { return allData_; }
  /// Does this batch have all rows of one of them?
  bool isAllData(const clang::Expr* shard) const;
  const std::vector<BatchProblem>& problems() const { return problems_; }

  /// Is `s` executed inside a training step, always (2), perhaps (1), never (0)?
  int inStep(const clang::Stmt* s) const;
  /// The same for code that runs once, such as the initialiser of a `static` local: may its only run fall into a step?
  bool isFirstRunInStep(const clang::Stmt* s) const;
  /// Lies `s` lexically in the loop `loop` (body, not header)?
  bool inBody(const clang::Stmt* s, const clang::Stmt* loop) const;
  bool isStepLoop(const clang::Stmt* loop) const;
  /// Is this a tensor of a batch that a loop takes in parts, whole?
  bool isTakenInParts(const clang::Expr* tensor) const {
    return llvm::any_of(loaderLoops_, [&](const LoaderLoop& l) { return l.inParts && isOfBatch(l, tensor); });
  }
  /// Does the loop take parts of a loader's batches?
  bool isPartLoop(const clang::Stmt* loop) const {
    return llvm::any_of(parts_, [&](const Parts& p) { return p.loop == loop; });
  }
  /// Is `e` evaluated in a round of the loop: in its body or head, or in a function that those call?
  bool belongs(const clang::Expr* e, const clang::Stmt* loop) const;

 private:
  struct Trace {
    std::vector<const clang::Stmt*> loops;  ///< innermost first, through callers
    /// Expressions and declarations looked at, and whether a batch is formed in what they are made from.
    llvm::DenseMap<const void*, bool> seen, before;  ///< in this round and in the one before
    llvm::SetVector<const clang::Expr*> found;       ///< what forms the batch
    llvm::DenseSet<const clang::Expr*> named;        ///< parts of it that structured bindings name: they are found at each mention
    /// What the calls on the way here give for parameters.
    llvm::DenseMap<const clang::ValueDecl*, const clang::Expr*> bound;
    llvm::DenseSet<const clang::FunctionDecl*> reached;  ///< the functions that the loops call
    bool columns = false;  ///< a step may take all rows, and some of their columns: windows of streams that lie one below another
    bool table = false;  ///< of a table of chances, whose rows are no samples though the step may write them
    bool items = false;  ///< no batch was found but in what goes with all samples alike: an item that is the same one in every step, a single row
    bool whole = false;  ///< the batch is there when the step begins, and is looked for where the step reads it
    bool all = false;    ///< every step may use all samples, which tensors hold that no step changes
    const clang::Expr* unclear = nullptr;  ///< where `all` is set: a value on the way whose origin is not seen
  };
  bool meetsTimeFirst(const clang::Expr* tensor, llvm::DenseSet<const void*>& seen) const;
  void findLoaderLoops();
  void findHandIterators();
  bool addHandIterator(const clang::Expr* call);
  bool onlySteps(const HandIterator& it) const;
  void joinSentinels();
  void checkHandIterators();
  bool looksOnly(const HandIterator& it) const;
  bool drawsSamples() const;
  bool reachesLoss(const HandIterator& it) const;
  int placeOf(const clang::Stmt* s, bool first) const;
  bool isOfModel(const clang::Expr* list, unsigned depth = 0) const;
  bool isTrained(const clang::ValueDecl* d, unsigned depth = 0) const;
  bool isTrainedList(const clang::Expr* list) const;
  bool isHeldOutside(const clang::Expr* object, const Trace& t, unsigned depth = 0) const;
  bool evaluatedHere(const clang::ParmVarDecl* p, Trace& t) const;
  bool isKeptTensor(const clang::Expr* e, const clang::ValueDecl* d, const Trace& t) const;
  bool isOneRow(const clang::ValueDecl* d) const;
  bool isAllData(const clang::Expr* e, Trace& t) const;
  bool isUnclear(const clang::Expr* e, const Trace& t) const;
  bool findAllData(const clang::Expr* loss, Trace& t);
  size_t loopsOfOneTraining(llvm::ArrayRef<const clang::Stmt*> loops) const;
  void addUsesOfAllData();
  void addObjectsOf(const clang::Expr* member, llvm::DenseSet<const clang::ValueDecl*>& out, unsigned depth = 0) const;
  bool isOfCutObject(const clang::Expr* use) const;
  void findBesideAllData();
  const clang::Expr* operationOn(const clang::Expr* use) const;
  bool isModulePart(const clang::MemberExpr* m) const;
  llvm::SmallVector<const clang::Expr*, 4> tensorsOf(const clang::Expr* call) const;
  bool isRowOfInnerLoop(const clang::Expr* row, Trace& t) const;
  bool isSpread(const clang::Expr* use, unsigned depth = 0) const;
  bool mayHaveRows(const clang::Expr* e, int dimensions, llvm::DenseSet<const void*>& seen) const;
  void addRangeLoop(const clang::CXXForRangeStmt* loop, const Function& f);
  void addIteratorLoop(const clang::ForStmt* loop, const Function& f);
  bool inLoaderLoop(const clang::Stmt* s) const;
  void coverBackward(const Site& site);
  bool noteParts(LoaderLoop& loop, const Site& site, const std::vector<const clang::Stmt*>& loops);
  bool isPartOf(const LoaderLoop& loop, const clang::Expr* cut) const;
  bool isOfBatch(const LoaderLoop& loop, const clang::Expr* e, unsigned depth = 0) const;
  bool alongFirst(const clang::Expr* call, const Entry& entry) const;
  void settleParts();
  bool climb(const clang::Stmt* s, std::vector<const clang::Stmt*> loops, llvm::DenseSet<const void*> seen, const Site& site,
             llvm::SmallVectorImpl<const clang::FunctionDecl*>& leftBehind);
  void handFormed(const Site& site, const std::vector<const clang::Stmt*>& loops);
  bool formsBatch(const clang::Expr* loss, Trace& t);
  bool inputs(const clang::Expr* e, Trace& t);
  bool inputsOf(const clang::Expr* e, Trace& t);
  bool isGrown(const clang::Expr* mention, Trace& t);
  bool isElement(const clang::Expr* e, unsigned depth = 0) const;
  bool isLoopElement(const clang::ValueDecl* d) const;
  const clang::ValueDecl* loopElementOf(const clang::ValueDecl* d) const;
  bool startsWithRows(const clang::Expr* factory) const;
  void findLayerSizes();
  bool isSumOfItself(const clang::Expr* value, const clang::ValueDecl* d, bool inSum, llvm::DenseSet<const void*>& seen) const;
  bool isLayerSize(const clang::Expr* extent) const;
  bool isTrainedLike(const clang::Expr* e, llvm::ArrayRef<const clang::Expr*> extents, unsigned depth) const;
  bool meetsTrained(const clang::Expr* draw, llvm::ArrayRef<const clang::Expr*> extents) const;
  bool isDrawnForAll(const clang::Expr* draw) const;
  bool hasShapeOfRows(const clang::Expr* fresh, unsigned depth = 0) const;
  bool goesOnAsAnother(const clang::VarDecl* v, const clang::Expr* value) const;
  bool isPatternOfFilled(const clang::Expr* use) const;
  bool isBlank(const clang::Expr* e) const;
  bool getsContents(const clang::ValueDecl* d) const;
  bool givesContents(const clang::Expr* use) const;
  bool readsColumns(const clang::Expr* use) const;
  bool copiesCutRows(const clang::Expr* made, const Trace& t);
  bool writesRow(const clang::Expr* use, unsigned depth = 0) const;
  const clang::Expr* rowsOfTensor(const clang::Expr* extent, unsigned depth = 0) const;
  bool isPartOfElement(const clang::Expr* e) const;
  bool keepsItems(const clang::Expr* container, Trace& t, unsigned depth = 0) const;
  bool mayChangeItems(const clang::Expr* use, unsigned depth = 0) const;
  bool assignsItems(const clang::CXXForRangeStmt* loop, const clang::Expr* use) const;
  bool isChangedItem(const clang::Expr* item) const;
  bool countsAnew(const clang::Expr* index, Trace& t, unsigned depth = 0) const;
  bool isInnerLoop(const clang::Stmt* loop, Trace& t) const;
  bool isSameInEveryStep(const clang::Expr* item, Trace& t) const;
  bool isOfSameItems(const clang::ValueDecl* element, Trace& t) const;
  bool isSliceOfOuterItem(const clang::Expr* taken, Trace& t) const;
  bool isStore(const clang::Expr* taken, Trace& t) const;
  void addFilledByHead(const clang::Stmt* loop);
  void addPartsOfFilled();
  void dropIdle();
  const clang::Expr* containerMadeHere(const clang::Expr* e, Trace& t, unsigned depth = 0) const;
  const clang::Expr* listAround(const clang::ValueDecl* d, Trace& t) const;
  bool inputsOfDecl(const clang::ValueDecl* d, Trace& t);
  const clang::CXXMemberCallExpr* addsTo(const clang::Expr* use, const clang::ValueDecl* list) const;
  bool isFilledInSteps(const clang::ValueDecl* list, Trace& t) const;
  bool collectsParts(const clang::ValueDecl* d, Trace& t);
  bool inputsOfReturns(const clang::FunctionDecl* f, llvm::ArrayRef<const clang::Expr*> arguments, Trace& t);
  bool formsRows(const clang::Expr* reshape, const Entry& entry, Trace& t);
  bool isFilledHere(const clang::Expr* container, Trace& t) const;
  bool inputsOfCall(const clang::Expr* e, Trace& t);
  bool meetsBatch(const clang::Expr* change, const Entry& entry, Trace& t);
  bool cutsFilled(const clang::ValueDecl* d, Trace& t);
  bool evaluatedIn(const clang::Expr* e, Trace& t) const;
  /// What runs in front of the body, round after round.
  static llvm::SmallVector<const clang::Stmt*, 4> headOf(const clang::Stmt* loop);
  static const clang::Expr* holderOf(const clang::Expr* e);
  bool isInHead(const clang::Expr* e, const clang::Stmt* loop) const;
  bool isSetBefore(const clang::Expr* read, const clang::ValueDecl* member) const;
  bool isOfThisStep(const clang::ParmVarDecl* p, const Trace& t, unsigned depth = 0) const;
  bool isKeptMember(const clang::MemberExpr* m, const Trace& t);
  bool isKept(const clang::Expr* e, Trace& t, llvm::DenseSet<const void*>& seen);
  bool handsOut(const clang::Expr* e, const Trace& t);
  void collectHanded(const clang::Stmt* loop, const Trace& t, llvm::SetVector<const clang::Expr*>& cuts);
  bool isAssigned(const clang::Expr* e) const;
  bool isHanded(const clang::Expr* e, unsigned depth = 0) const;
  bool cutWhereRead(const clang::Expr* loss, const clang::Stmt* loop, const Trace& t);
  bool isStatistic(const clang::Expr* e, const Trace& t, llvm::DenseSet<const clang::ValueDecl*>& seen);
  bool isPartOfHanded(const clang::Expr* e) const;
  bool readsWhole(const clang::Expr* e, Trace& t);
  bool changes(const clang::Expr* use) const;
  bool varies(const clang::Expr* e, Trace& t, llvm::DenseSet<const void*>& seen) const;
  void reach(const clang::Stmt* s, llvm::DenseSet<const clang::FunctionDecl*>& out) const;
  bool carriesSamples(clang::QualType t) const;
  void addSiblings();
  bool meetsOutputs(const clang::Expr* mention, unsigned depth = 0) const;
  const clang::ValueDecl* listStacked(const clang::Expr* made) const;
  bool growAlike(const clang::ValueDecl* a, const clang::ValueDecl* b) const;
  bool haveSameRows(const clang::ValueDecl* known, const clang::ValueDecl* other) const;
  void addMentions();
  const clang::Expr* rowsMade(const clang::Expr* shard) const;
  const clang::Expr* sizeOfCut(const clang::Stmt* loop, const clang::Expr* shard) const;
  void dropOtherSizes();
  bool isKeptBeside(const clang::Stmt* loop, const clang::Expr* shard) const;
  void dropKeptRows();
  void addInstances();
  void forEachTwin(const clang::Stmt* s, const clang::FunctionDecl* home, llvm::function_ref<void(const clang::Stmt*, const clang::FunctionDecl*)> found) const;
  void findFeeding();
  /// The calls of a function, those that the framework makes for a step among them.
  llvm::SmallVector<const clang::Expr*, 4> callsOf(const clang::FunctionDecl* f) const;

  const AuthorCode& code_;
  const Sites& sites_;
  const Definitions& definitions_;
  const Dialect& dialect_;
  const Constructions constructions_;
  const llvm::DenseMap<const clang::FunctionDecl*, llvm::SmallVector<const clang::Expr*, 2>> closureCalls_;  ///< steps that call lambdas back
  std::vector<LoaderLoop> loaderLoops_;
  struct Parts {
    const clang::Stmt *around, *loop;  ///< the loop over the loader, and the one in it
    llvm::SetVector<const clang::Expr*> cuts;
  };
  std::vector<Parts> parts_;  ///< of loops over a loader all of whose backward passes are of parts
  std::vector<HandLoop> handLoops_;
  std::vector<HandIterator> handIterators_;
  llvm::DenseSet<const clang::Expr*> reads_, taken_;  ///< of handIterators_: all reads, and those that are batches of a training step
  llvm::SetVector<const clang::Expr*> shards_, feeding_, ahead_, copiedCuts_;  ///< copiedCuts_: cut out of whole data, copied, and changed row by row on all ranks
  llvm::DenseSet<const clang::Expr*> twins_;
  llvm::DenseSet<const void*> layerSizes_;  ///< declarations and expressions of numbers that layers are made with
  llvm::DenseSet<const clang::Expr*> handed_;  ///< calls of the program's own that give batches which are whole when their step begins
  llvm::DenseSet<const clang::ValueDecl*> loopElements_;  ///< loop variables over containers of the standard library, and filled ones
  llvm::DenseMap<const clang::Stmt*, llvm::SmallVector<const clang::ValueDecl*, 2>> filled_;  ///< by the head of a loop: `while (next(batch))`
  llvm::SetVector<const clang::ValueDecl*> allData_;
  bool sameItems_ = false;  ///< a step takes the same item of a list, or the same row, as all others do
  std::vector<BatchProblem> problems_;
};

/// Is this an output of the model's, itself or through variables? It is made from a batch and is none.
bool comesFromModel(const clang::Expr* e, const Definitions& definitions, const Sites& sites, llvm::DenseSet<const clang::ValueDecl*>& seen);

/// A tensor of the author's own that gradients are collected for: `auto w = randn({5}, requires_grad())`.
bool collectsGradients(const clang::ValueDecl* d, const AuthorCode& code, const Definitions& definitions, const Dialect& dialect);

/// The dimension a tensor operation works along: the literal in its `dim` argument, its default, or nothing when unknown.
/// The dimension that a setter in a tree of options is given; nothing where it is not called. Inside: nothing when it is not a constant.
std::optional<std::optional<int>> dimensionOption(const clang::Expr* options, llvm::StringRef setter, clang::ASTContext& context);
std::optional<int> dimensionOf(const clang::Expr* call, const Entry& entry, clang::ASTContext& context);

/// The call that makes the tensor which `e` gives: empty({n}) in empty({n}).to(device). Null for one that was there before.
const clang::Expr* freshTensor(const clang::Expr* e, const Dialect& dialect);

}  // namespace hvdize
