// SPDX-License-Identifier: Apache-2.0
// The kinds of all values in the author's program, and the places where a value of one rank must become one of the whole.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

#include "rewriters/program/batches.h"
#include "rewriters/program/collations.h"
#include "rewriters/program/kinds.h"
#include "rewriters/program/ranks.h"
#include "rewriters/program/row_loop.h"
#include "rewriters/program/thread_progress.h"

namespace hvdize {

/// A value whose kind cannot be combined over ranks where it is needed.
struct KindProblem {
  const clang::Expr* where = nullptr;
  Value value;
  std::string what;
};

/// Is the class a list of layers?
bool takesLayers(const clang::CXXRecordDecl* record);

/// An iterator of a container of the standard library.
bool isIterator(clang::QualType t);

/// What has no derivative, or cuts it off.
bool stopsGradient(const clang::Expr* e);

class Kinds {
 public:
  /// `batchSizes`: expressions that will hold the size of the global batch.
  Kinds(const Batches& batches, const Definitions& definitions, const Sites& sites,
        llvm::DenseSet<const clang::Expr*> batchSizes);

  /// Of reductions() those through which gradients flow.
  const llvm::DenseSet<const clang::Expr*>& gradedReductions() const { return gradedReductions_; }
  /// Numbers and tensors to be reduced where they stand, with their kinds.
  const llvm::MapVector<const clang::Expr*, Value>& reductions() const { return reductions_; }
  /// Counts of rows that must mean the global batch.
  const llvm::SetVector<const clang::Expr*>& rowCounts() const { return rowCounts_; }
  /// Batch sizes in shapes that must mean this rank's rows.
  const llvm::SetVector<const clang::Expr*>& localSizes() const { return localSizes_; }
  /// Numbers in shapes that are the size of a batch, which is written as a number elsewhere; in localSizes(), too.
  const llvm::SetVector<const clang::Expr*>& sizesWrittenAgain() const { return sizesWrittenAgain_; }
  /// Calls that drop every dimension of extent one, applied to rows: with one row at hand they would drop the batch, too.
  const llvm::SetVector<const clang::Expr*>& squeezes() const { return squeezes_; }
  /// Draws and new tensors with the batch as leading extent: made whole, then sliced.
  const llvm::SetVector<const clang::Expr*>& wholeDraws() const { return wholeDraws_; }
  /// Of wholeDraws() and localSizes() those whose rows are as many as a number says, though the batch of a step may have fewer: they then stay
  /// whole on every rank, where `rowsMeet()` is false.
  const llvm::SetVector<const clang::Expr*>& ownRows() const { return ownRows_; }
  /// May rows of several tensors of a step be put together, or sums over the rows of one be divided by a number of rows of another?
  bool rowsMeet() const { return rowsMeet_; }
  /// Tensors with this rank's rows in whose shape one of wholeDraws() is made.
  const llvm::SetVector<const clang::Expr*>& likes() const { return likes_; }
  /// Reads, in a step, of states that steps hand on and that begin with the rows of the whole batch, with the dimension of these rows.
  const llvm::MapVector<const clang::Expr*, int>& carriedStates() const { return carriedStates_; }
  /// Loops over all samples of a batch that write rows of tensors with this rank's, with the places where the number of the sample means such a row.
  const llvm::MapVector<const clang::Stmt*, llvm::SmallVector<const clang::Expr*, 4>>& sampleLoops() const { return sampleLoops_; }
  /// Draws inside a step that do not depend on this rank's samples: they must be the same on every rank.
  const llvm::SetVector<const clang::Expr*>& sharedDraws() const { return sharedDraws_; }
  /// Draws inside a step into this rank's rows that are not made for the whole batch.
  const llvm::SetVector<const clang::Expr*>& localDraws() const { return localDraws_; }
  /// Calls in a step, with what all ranks have alike, of functions that combine samples over ranks elsewhere.
  const llvm::SetVector<const clang::Expr*>& alikeCalls() const { return alikeCalls_; }
  /// Forward passes in a step of rows that all ranks have alike.
  const llvm::SetVector<const clang::Expr*>& uniformForwards() const { return uniformForwards_; }
  /// Terms free of samples that are added to a sum over samples: each rank adds its share of them.
  const llvm::SetVector<const clang::Expr*>& shares() const { return shares_; }
  /// Tensors that are gathered and whose memory is read by later statements.
  const llvm::DenseSet<const clang::Expr*>& held() const { return held_; }
  /// Is something combined over ranks in this tree, once the edits are made?
  bool combines(const clang::Stmt* tree) const;
  /// Means over counted terms that are used where their count is not known: made means over the samples where they are formed.
  const llvm::MapVector<const clang::Expr*, Value>& countedMeans() const { return countedMeans_; }
  /// Calls of modules whose forward is in another file.
  const llvm::SetVector<const clang::Expr*>& opaqueForwards() const { return opaqueForwards_; }
  /// Tensors that are read after the loop of the step that makes them, with their kinds and that loop.
  struct LeftBehind {
    Value kind;
    const clang::Stmt* loop = nullptr;
  };
  const llvm::MapVector<const clang::ValueDecl*, LeftBehind>& leftBehind() const { return leftBehind_; }
  /// Where a term whose gradient grows with the batch is added to one whose gradient does not; null where that is nowhere.
  const clang::Expr* grownApart() const { return grownApart_; }
  /// Are gradients divided, in place, by a number that grows with the batch?
  bool dividesGradients() const { return dividesGradients_; }
  /// Conditions that differ between ranks, with the statement they control.
  const llvm::MapVector<const clang::Expr*, const clang::Stmt*>& localConditions() const { return localConditions_; }
  const ThreadProgress& threadProgress() const { return threadProgress_; }
  /// Seeds that differ between ranks.
  const llvm::SetVector<const clang::Expr*>& localSeeds() const { return localSeeds_; }
  const std::vector<KindProblem>& problems() const { return problems_; }

  /// The kind of an expression as the edited program computes it.
  Value of(const clang::Expr* e);
  /// `outs.size()`, `outs.empty()` of a list of tensors.
  bool countsTensors(const clang::Expr* e) const;
  Value ofDecl(const clang::ValueDecl* d) const { return decls_.lookup(d); }

 private:
  void solve();
  void walk(const clang::Stmt* s);
  void walkCondition(const clang::Expr* condition, const clang::Stmt* controlled);
  const clang::Expr* askedForDimensions(const clang::Expr* number, unsigned depth) const;
  bool asksForDimensions(const clang::Expr* condition, unsigned depth) const;
  int dimensionsOfBatch(const clang::Expr* tensor);
  std::optional<bool> holdsForBatches(const clang::Expr* condition, unsigned depth);
  void walkGuarded(const clang::Expr* condition, const clang::Stmt* yes, const clang::Stmt* no);
  bool isForSingles(const clang::Expr* mention) const;
  void seedForwards();

  Value eval(const clang::Expr* e);
  Value beforeMain(const clang::VarDecl* v, const Value& given) const;
  Value valueAt(const clang::ValueDecl* d, const clang::Expr* use, const Value& any);
  void writtenThrough(const clang::Expr* target);
  Value evalOperator(const clang::BinaryOperator* b);
  Value evalCall(const clang::Expr* e);
  Value evalAuthorCall(const clang::Expr* e, llvm::ArrayRef<const clang::FunctionDecl*> targets);
  void crossSaved(const clang::Expr* e);
  static Value gradientOf(const Value& tensor);
  Value evalGradients(const clang::Expr* e);
  Value evalOwnFunction(const clang::Expr* e);
  bool withoutGradients(const clang::Expr* e) const;
  bool dividesGradients(const clang::Expr* e, bool divides);
  bool replacesGradient(const clang::Expr* e) const;
  std::optional<Value> evalSigns(const clang::Expr* e, const clang::Expr* of);
  const clang::Expr* gradientsBehind(const clang::Expr* spelled) const;
  bool isOnlyRead(const clang::VarDecl* v, unsigned depth) const;
  bool isOnlyLookedAt(const clang::Expr* use, unsigned depth) const;
  bool takesSigns(const clang::Expr* e) const;
  bool givesNew(const clang::Expr* object) const;
  bool keepsTensor(const clang::Expr* e) const;
  Value evalRole(const clang::Expr* e, const Entry& entry);
  bool countsSelected(const clang::Expr* e, unsigned depth = 0);
  bool hasSelectedRows(const clang::Expr* e, const Entry& entry);
  Value evalOp(const clang::Expr* e, const Entry& entry, const Value& object);
  Value evalOpOfKind(const clang::Expr* e, const Entry& entry, const Value& object);
  Value evalArithmetic(const clang::Expr* e, const Entry& entry, const Value& object);
  Value evalAddition(const clang::Expr* e, llvm::ArrayRef<Value> operands, llvm::ArrayRef<const clang::Expr*> spelled);
  Value evalAssignment(const clang::Expr* e, const Entry& entry, const Value& object);
  bool isParameter(const clang::ValueDecl* d);
  bool onlyRead(const clang::Expr* e, unsigned depth) const;
  bool changesSamples(const clang::Expr* e, unsigned depth = 0), changedWhileKept(const clang::Expr* memory);
  static bool isNumberOfBatch(const Value& v);
  /// What is left of a number of this rank's batch once it is combined over ranks; with its gradient, where samples are to meet it.
  static Value combined(const Value& v), coupled(const Value& v);
  void steersModel(const clang::Expr* e, llvm::ArrayRef<Value> operands, llvm::ArrayRef<const clang::Expr*> spelled);
  bool lossesAreUnclear();
  bool mayBeGradedWhole(const Value& number) const;
  Value gradedMean(const Value& whole) const;
  Value reducedFirst(const clang::Expr* e, const Value& number, const clang::Expr* spelled);
  /// What `combine` makes of the operands of `e`; where that does not add up over ranks, of operands that are combined first, if that helps.
  /// How the numbers may grow with the batch where gradients flow through them, so that the growth of what is made of them is known.
  enum class Growth { None, Alike, Any };
  Value withNumbers(const clang::Expr* e, Growth growth, llvm::ArrayRef<Value> operands, llvm::ArrayRef<const clang::Expr*> spelled,
                    llvm::function_ref<Value(llvm::ArrayRef<Value>)> combine);
  bool leaves(const Value& mean, const clang::Expr* use);
  void noteUniformForward(const clang::Expr* e, const Value& result);
  bool isOfFirstBatch(const clang::Expr* e, unsigned depth);
  int batchExtent(const clang::Expr* made);
  int sizedOutside(const clang::ValueDecl* d, unsigned depth);
  int sizedResult(const clang::Expr* e, const clang::ValueDecl* target, unsigned depth);
  bool meetsSamples(const clang::Expr* mention);
  bool cutsRows(const clang::Expr* mention) const;
  const clang::Expr* firstRows(const clang::Expr* e, const Entry& entry);
  /// Are these rows, or their numbers, that a step takes by the positions of its batch from what all ranks have whole?
  bool isTakenInStep(const clang::Expr* spelled, unsigned depth = 0) const;
  Value sizedMention(const clang::ValueDecl* d, const clang::Expr* mention, const Value& v);
  void checkEither(const Value& a, const Value& b, const clang::Expr* where);
  bool countsBetween(const clang::Expr* end, const clang::Expr* begin);
  bool countsBetweenIterators(const clang::Expr* end, const clang::Expr* begin);
  bool listsPositions(const clang::Expr* tensor);
  bool countsSamplesSoFar(const clang::Expr* e);
  bool flowsFromBatch(const clang::Expr* e, llvm::DenseSet<const void*>& seen, unsigned depth);
  bool isUnproven(const clang::Expr* number, llvm::DenseSet<const void*>& seen, unsigned depth);
  Value provenPower(Value v, llvm::ArrayRef<Value> of, llvm::ArrayRef<const clang::Expr*> spelled);
  bool isClipped(const clang::Expr* a, const clang::Expr* b);
  void countsOn(const clang::Expr* target);
  void combineFirst(const clang::FunctionDecl* f, const clang::ParmVarDecl* p);
  bool isOnlyReadAsNumber(const clang::ParmVarDecl* p) const;
  bool takesRows(const clang::ParmVarDecl* p, const Value& given, const clang::Expr* at);
  void meetsParts(const clang::FunctionDecl* f, const clang::ParmVarDecl* p, const Value& given, const clang::Expr* at);
  void checkAlternatives();
  bool meet(const Value& a, const Value& b);
  /// What is a mean over counted terms is made a mean over the samples where it is formed.
  void becomeMean(const Value& v);
  Value formedMean(const Value& v);
  bool isCarriedOn(const clang::ValueDecl* d, const clang::Expr* assignment, const clang::Expr* value) const;
  bool isReadElsewhere(const clang::ValueDecl* d, const clang::Expr* assignment) const;
  bool inSomeSteps(const clang::Stmt* s, unsigned depth = 0) const;
  const clang::Expr* behindViews(const clang::Expr* object) const;
  bool mentions(const clang::Stmt* tree, const clang::ValueDecl* d) const;
  void crossAddends(const clang::Expr* e, const clang::ValueDecl* accumulator);
  void shareFirstTerms();
  Value returned(const clang::FunctionDecl* f, const clang::Expr* e);
  const clang::Stmt* outerStepOf(const clang::ValueDecl* d, const clang::Expr* use) const;
  bool isOpaqueForward(const clang::FunctionDecl* callee) const;
  Value evalModule(const clang::Expr* e, const Entry& entry, const clang::Expr* object);
  void noteLayerDraw(const clang::Expr* e, const Value& rows, const clang::Expr* object);
  Value evalForward(const clang::Expr* e, const Entry& entry, const clang::Expr* object);
  const Entry& forwardOf(const Entry& entry, const clang::Expr* object) const;
  void findHeldModules();
  Value ofHeldModules(const clang::Expr* container);
  bool worksAlongRows(const clang::Expr* object) const;
  bool shapedLikeBatch(const clang::Expr* argument);
  bool isEmptyArgument(const clang::Expr* e) const;
  bool countsSteps(const clang::Expr* x);
  bool countsStepsOfAll(const clang::Expr* extent);
  Value scoresOfSequences(const Value& scores, const clang::Expr* e) const;
  bool meetsEachRow(const clang::Expr* tensor, const clang::Expr* rows) const;
  Value evalLoss(const clang::Expr* e, const Entry& entry);
  bool isVisited(const clang::Expr* object, unsigned depth = 0) const;
  bool saysReductions(const Entry& loss) const;
  Value evalWholeReshape(const clang::Expr* e, const Entry& entry, const Value& object);
  void loseDimension(Value& rows, const clang::Expr* reduced) const;
  bool mayBeFlat(const clang::Expr* reduced) const;
  bool isVector(const clang::Expr* tensor) const;
  bool sumsByColumn(const clang::Expr* divisor);
  Value reduced(const Value& v, const clang::Expr* e, const clang::Expr* of = nullptr);
  std::optional<Value> selectedBy(const clang::Expr* index, const Value& v, bool positionsOnly);
  Value changedInPlace(const clang::Expr* e, const Value& with);
  void writtenByFramework(const clang::Expr* e);
  Value evalReduction(const clang::Expr* e, const Entry& entry, const Value& v);
  Value ofAllRows(const clang::Expr* e, const Value& v);
  std::optional<int> alongOf(const clang::Expr* e, const Entry& entry) const;
  std::optional<std::optional<int>> optionOf(const clang::Expr* e, const Entry& entry) const;
  Value reducedAgain(const Value& v, OpKind op, const clang::Expr* e);
  Value evalRowwise(const clang::Expr* e, const Entry& entry, const Value& v);
  Value evalMoved(const clang::Expr* e, const Entry& entry, const Value& object);
  Value evalReshape(const clang::Expr* e, const Entry& entry, const Value& object);
  Value evalConcat(const clang::Expr* e, std::optional<int> dim, const Value& v);
  Value evalJoined(const clang::Expr* e, const Value& v);
  Value evalRepeated(const clang::Expr* e, const Value& v);
  Value evalAddedProduct(const clang::Expr* e);
  Value evalContraction(const clang::Expr* e);
  std::optional<Value> sumByProduct(const clang::Expr* e, const clang::Expr* left, const Value& turned, const clang::Expr* right);
  bool numbersRows(const clang::Expr* index);
  Value rowsOf(const clang::Expr* table, Value taken) const;
  Value evalIndexed(const clang::Expr* e, const Entry& entry, const Value& v);
  Value evalOrder(const clang::Expr* e, const Entry& entry, const Value& v, llvm::ArrayRef<const clang::Expr*> list);
  Value evalIndex(const clang::Expr* e, const Value& shape, const clang::Expr* index);
  /// `draw`: what fills the new tensor with random numbers, when it is filled where it is made.
  Value evalFactory(const clang::Expr* e, const Entry& entry, const clang::Expr* draw = nullptr);
  bool beginsWithRows(const clang::Expr* shape);
  bool beginsWithRows(const clang::ValueDecl* shape);
  bool comparesShapes(const clang::Expr* e);
  Value ofCounts(const clang::Expr* list);
  bool countsRows(const clang::Expr* spelled);
  bool countsBatch(const clang::Expr* e) const;
  bool isSizeOfTraining(const clang::Expr* read);
  bool isSizeOfBatches(const clang::Expr* literal) const;
  const clang::Expr* stateOfFixedRows(const clang::Expr* state, unsigned depth = 0);
  Value evalDraw(const clang::Expr* e, const Entry& entry);
  Value partOf(const clang::Expr* all, unsigned i, const clang::Expr* where);
  std::pair<const clang::Expr*, unsigned> numberedPart(const clang::Expr* e) const;
  Value partOf(const clang::BindingDecl* b, const clang::Expr* all, unsigned i);
  const clang::MemberExpr* fieldOf(const clang::BindingDecl* b) const;
  void assignTied(const clang::Expr* target, const clang::Expr* value, std::optional<Value> whole);
  std::optional<int> besideOf(const clang::Expr* e, const Entry& entry, const Value& v) const;
  bool isDeep(const clang::Expr* tensor, const Value& v) const;
  Value evalSecond(const clang::Expr* e, const Entry& entry, const Value& v);
  Value evalSecondMoved(const clang::Expr* e, const Entry& entry, const Value& v);
  Value evalSecondPart(const clang::Expr* e, const Entry& entry, const Value& v);
  Value evalSecondReduction(const clang::Expr* e, const Entry& entry, const Value& v);
  std::optional<Value> toSecond(const clang::Expr* e, const Entry& entry, const Value& v);
  Value evalSequence(const clang::Expr* e, const Entry& entry, const clang::Expr* object);
  bool oneLayer(const Entry& entry, const clang::Expr* object) const;
  Value evalHost(const clang::Expr* e);
  std::optional<Value> evalRearranged(const clang::Expr* e);
  Value evalUnseen(const clang::Expr* e);
  Value evalChance(const clang::Expr* e);
  bool waits(const clang::Stmt* loop) const;
  Value evalMember(const clang::MemberExpr* m);
  bool isLoaderBatch(const clang::Expr* e) const;
  std::optional<Value> collated(const clang::MemberExpr* m, const Value& base, const Value& field) const;
  bool inSomeRounds(const clang::ValueDecl* d, const clang::Expr* value, const clang::Expr* mention, const clang::Stmt* step) const;
  const clang::Expr* assignedJustBefore(const clang::ValueDecl* d, const clang::Expr* use) const;
  const clang::Stmt* loopThatLeaves(const clang::ValueDecl* d, const Value& v, const clang::Expr* use) const;
  bool leavesEarly(const clang::Stmt* s, bool own) const;
  Value ofClosure(const clang::Expr* closure);
  Value evalLambda(const clang::LambdaExpr* l);

  /// The value where a number is needed that is the same on every rank: counts of rows become global ones.
  Value host(const clang::Expr* e);
  const clang::Expr* rowsFactor(const clang::Expr* e);
  /// A tensor (or what holds one) leaves the tensor world at `e`: reduced there if its kind allows.
  Value cross(const clang::Expr* e, const Value& v, const char* what);
  bool inTrainingStep(const clang::Expr* e, unsigned depth = 0);
  bool ownsMemory(const clang::Expr* e);
  bool onlyShown(const clang::ValueDecl* d) const;
  bool computedFrom(const clang::Expr* e, llvm::SmallVectorImpl<const clang::Expr*>& rows, unsigned depth = 0);
  Value evalScatter(const clang::Expr* e, const Entry& entry, const Value& object);
  std::optional<Value> writtenRows(const clang::Expr* e);
  static Value gatheredWithGradients(const clang::Expr* graded);
  void assign(const clang::Expr* lhs, const Value& v);
  bool isNoShape(const clang::InitListExpr* list) const;
  bool countsBeside(const clang::InitListExpr* list, const clang::Expr* element);
  bool hasSampleFields(clang::QualType t, unsigned depth = 0) const;
  const clang::Expr* sizeIn(const clang::Expr* extent);
  int powerOfContents(const clang::Expr* made, const Entry& entry);
  Value filledWith(const clang::Expr* made, const Entry& entry);
  bool listsBatch(const clang::Expr* list);
  bool growsByRows(const clang::ValueDecl* d);
  bool isGrownTensor(const clang::Expr* part, const clang::ValueDecl* d, const clang::Expr* at) const;
  std::optional<Value> joinedToGrown(const clang::Expr* e, llvm::ArrayRef<const clang::Expr*> parts);
  Value keptWhole(const clang::Expr* value);
  bool keepsAlike(const clang::Expr* use);
  bool formsAlike(const clang::Expr* value);
  bool cutsBatch(const clang::FunctionDecl* f, unsigned depth) const;
  bool callsAlike(const clang::Expr* call);
  bool fillsAlike(const clang::Expr* call);
  bool holdsAlike(const clang::Expr* object);
  bool isAlikeHere(const clang::ValueDecl* d, const clang::Expr* use);
  Value batchOf(const LoaderLoop& loop) const;
  const clang::Expr* listOf(const clang::ForStmt* loop);
  bool collectsOnly(const clang::Stmt* loop);
  bool walkList(const clang::Stmt* loop);
  bool walkRowLoop(const clang::Stmt* loop);
  const clang::ValueDecl* rowWritten(const clang::Expr* target, RowLoop& loop);
  bool readsRow(const clang::Expr* e, RowLoop& loop);
  bool readsLoss(const clang::Expr* e, int options, RowLoop& loop);
  bool passesRow(const clang::Expr* e, RowLoop& loop);
  bool forwardsOnly(const clang::Expr* model, llvm::DenseSet<const clang::FunctionDecl*>& seen) const;
  bool onlyComputes(const clang::FunctionDecl* f, llvm::DenseSet<const clang::FunctionDecl*>& seen) const;
  bool hasBatchNorm() const;
  bool takesRowAt(const clang::Expr* e, const Entry& entry, RowLoop& loop) const;
  bool countsAllRows(const clang::Expr* bound);
  bool makesCopy(const clang::Expr* made) const;
  bool readsHolder(const clang::Expr* holder, RowLoop& loop);
  bool readsPositions(llvm::ArrayRef<const clang::Expr*> positions, RowLoop& loop);
  const clang::Expr* dividedByRows(const clang::Expr* e);
  bool addsUp(const clang::Expr* e, RowLoop& loop);
  bool counts(const clang::Expr* e, RowLoop& loop);
  std::optional<Value> countedOverRows(const clang::ValueDecl* d, const clang::Expr* mention);
  bool isGuardedQuotient(const clang::Expr* e) const;
  bool keepsExtreme(const clang::Expr* e, RowLoop& loop);
  bool countsOwnRows(const clang::Expr* bound);
  bool collectsRow(const clang::Expr* e, RowLoop& loop);
  bool isBegunInStep(const clang::VarDecl* d, const clang::Stmt* at) const;
  bool sumsStandApart(const RowLoop& loop) const;
  void assignSums(const RowLoop& loop);
  bool worksOnRow(const clang::Stmt* s, RowLoop& loop);
  bool isNewTensor(const clang::ValueDecl* d) const;
  std::optional<RowLoop> rowLoop(const clang::ForStmt* loop);
  std::optional<RowLoop> rowLoop(const clang::CXXForRangeStmt* loop);
  std::optional<RowLoop> countedLoop(const clang::CXXForRangeStmt* loop);
  const clang::Expr* tensorBehind(const clang::Expr* spelled) const;
  bool hasRows(const clang::Expr* tensor);
  bool listsRows(const clang::Expr* list);
  std::string rowsOfBatch(const clang::Expr* shard) const;
  bool oneBatch() const;
  bool isRowAccessor(const clang::Expr* made);
  void walkRounds(const clang::Stmt* loop);
  enum class Progress { None, Steps, Samples };
  bool comesEachStep(const clang::Stmt* s) const;
  Progress progressOf(const clang::ValueDecl* d);
  Value asProgress(const clang::ValueDecl* d, const clang::Expr* mention, Value v);
  Value ofNumbers(clang::BinaryOperatorKind op, const Value& x, const Value& y, const clang::Expr* l, const clang::Expr* r, const clang::Expr* where);
  const clang::Expr* roundedUp(const clang::Expr* dividend);
  Value ofFunction(const clang::Expr* call, const llvm::SmallDenseMap<const clang::Expr*, Value, 4>& looked);
  Value withoutDefault(const clang::ValueDecl* field, const clang::Expr* mention, const Value& any);
  void refinePowers(llvm::function_ref<void()> pass);
  static Value writtenNumber(const Value& in);
  bool isCountedWhole(const clang::Expr* part);
  std::optional<Value> itemOfNumbers(const clang::Expr* item, const clang::Expr* list, const clang::Expr* index);
  enum class Outlives { No, Assigned, Added };  ///< Added: a container gets it
  Outlives outlivesStep(const clang::Expr* made);
  Value keptEntry(const clang::Expr* x, const Value& v, Outlives how);
  void crossParts(const clang::Expr* e, const char* what);
  static std::optional<llvm::SmallVector<const clang::Expr*, 4>> partsOf(const clang::Expr* e);
  bool mixesRows(const clang::Expr* e, const Value& v, const clang::Expr* index);
  bool takesPiece(const clang::Expr* e, const Value& v);
  static Value ofOnePiece(const Value& v);
  std::optional<uint64_t> numbersInRow(const clang::Expr* tensor, unsigned depth) const;
  bool foldsSamples(const clang::Expr* tensor, llvm::ArrayRef<const clang::Expr*> shape) const;
  const char* mayMoveFirst(const clang::Expr* e, const Entry& entry, const Value& v) const;
  bool runsForEachSample(const clang::Stmt* s);
  bool isSizeOfList(const clang::Expr* e) const;
  std::optional<Value> evalList(const clang::Expr* e, const Value& self);
  std::optional<Value> evalTransform(const clang::Expr* e);
  /// The list of which std::transform adds something of each item to another one; null for other calls.
  const clang::Expr* transformed(const clang::Expr* call) const;
  bool keepsRow(const clang::Expr* e, unsigned depth = 0) const;
  bool holdsRows(const clang::Expr* list) const;
  void collect(const clang::Expr* object, const clang::Expr* e, bool each);
  std::optional<Value> evalListed(const clang::Expr* e, const Entry& entry);
  bool holdsNumberForEachRow(const clang::Expr* made);
  bool marksIgnored(const clang::Expr* target) const;
  bool mixesBatches(const clang::Expr* call) const;
  bool collectsRows(const clang::Expr* call) const;
  bool keepsSome(const clang::ValueDecl* d, const clang::Expr* assignment) const;
  bool isCarried(const clang::ValueDecl* d, const clang::Expr* at) const;
  bool holdsState(clang::QualType t) const;
  bool beginsWhole(const clang::ValueDecl* d);
  const clang::Expr* assignedInStep(const clang::ValueDecl* d, const clang::Expr* use) const;
  bool isTarget(const clang::Expr* mention) const;
  void noteState(const clang::ValueDecl* d, const clang::Expr* mention, const Value& v);
  bool isPutOff(const clang::FunctionDecl* f) const;
  bool isReadLater(const clang::ValueDecl* d) const;
  bool holdsBatch(clang::QualType t, unsigned depth) const;
  llvm::SmallVector<const clang::FunctionDecl*, 2> runBy(const clang::Expr* call) const;
  bool leadsTo(const clang::FunctionDecl* f, const clang::Stmt* value, llvm::DenseSet<const clang::FunctionDecl*>& seen) const;
  bool isPutOffTo(const clang::Stmt* lambda) const;
  enum class Given { Elsewhere, Before, After };
  Given givenAround(const clang::ValueDecl* d, const clang::Expr* use, const clang::Stmt* value) const;
  bool isReadFirst(const clang::ValueDecl* d, const clang::Expr* use, llvm::ArrayRef<const clang::Stmt*> values, bool after, unsigned depth) const;
  bool isFetchedAhead(const clang::ValueDecl* d, const clang::Expr* mention);
  bool findFetchedAhead(const clang::ValueDecl* d, const clang::Expr* mention, bool number) const;
  bool isNumberKept(const clang::ValueDecl* d, const clang::Expr* mention);
  std::optional<Value> numberOfEarlier(const clang::ValueDecl* d, const clang::Expr* mention, const Value& v);
  bool isOfEarlierStep(const clang::ValueDecl* d, const clang::Expr* mention) const;
  bool isNewInStep(const clang::ValueDecl* d, const clang::Expr* at) const;
  bool assignedFirst(const clang::ValueDecl* d, const clang::Stmt* loop) const;
  /// Does this function of the author's read the memory of its parameter `p` on the host (to write a picture, say)?
  bool readsMemory(const clang::FunctionDecl* f, const clang::ParmVarDecl* p);
  bool onlyFromArguments(const clang::FunctionDecl* f, llvm::DenseSet<const clang::FunctionDecl*>& seen) const;
  void checkUniformCalls();
  void keepsForOthers(const clang::Expr* call, const clang::FunctionDecl* f);
  /// `begins`: where it is declared, what it is part of has its value already.
  void assignDecl(const clang::ValueDecl* d, const Value& v, bool begins = false);
  bool isTensor(clang::QualType t) const;
  bool declaredOutsideStep(const clang::Expr* lhs, const clang::Expr* at) const;
  bool changesOutside(const clang::Expr* lhs, const clang::Expr* at) const;
  bool namesOutside(const clang::ValueDecl* d, const clang::Expr* at, llvm::DenseSet<const void*>& seen) const;
  bool givesOutside(const clang::Expr* e, const clang::Expr* at, llvm::DenseSet<const void*>& seen) const;
  bool assignsThrough(const clang::Expr* lhs) const;
  void problem(const clang::Expr* where, const Value& v, std::string what);

  const Batches& batches_;
  const Definitions& definitions_;
  const Sites& sites_;
  const AuthorCode& code_;
  const Dialect& dialect_;
  TensorRanks ranks_;
  std::shared_ptr<const Collations> collations_;
  std::shared_ptr<const Surroundings> surroundings_;  // threadProgress_ looks into it, wherever this is moved
  ThreadProgress threadProgress_;
  llvm::DenseSet<const clang::Expr*> batchSizes_;
  llvm::DenseMap<const clang::ValueDecl*, Value> decls_;
  llvm::DenseMap<const clang::ParmVarDecl*, Value> atStart_;  ///< what callers give
  llvm::DenseMap<const clang::Expr*, bool> fetchedAhead_, keptNumbers_;  ///< what isFetchedAhead has found out
  bool gradedNumbers_ = false, gradedRows_ = false;  ///< see solve
  llvm::DenseSet<const clang::Expr*> gradedReductions_;
  llvm::DenseMap<const clang::ParmVarDecl*, llvm::SmallSetVector<const clang::Expr*, 2>> handed_;  ///< what calls give, wherever they are seen
  llvm::DenseSet<const clang::ParmVarDecl*> seeded_;  ///< of forwards that containers of the framework call
  llvm::DenseMap<const clang::Expr*, llvm::SmallVector<const clang::FunctionDecl*, 2>> run_;  ///< the author's functions that a call runs
  llvm::DenseSet<const clang::Stmt*> forSingles_;  ///< branches that no batch takes
  llvm::DenseSet<const clang::Expr*> open_;  ///< mentions that are being followed
  llvm::DenseMap<const clang::ValueDecl*, bool> grown_;  ///< what growsByRows has found out
  llvm::DenseMap<const clang::Expr*, bool> alikeHere_;  ///< what isAlikeHere has found out, until a kind changes
  unsigned cut_ = 0;  ///< how often it came back to where it began
  llvm::DenseMap<const clang::FunctionDecl*, Value> returns_;
  bool assumesRows_ = false;  ///< see hasRows
  llvm::DenseSet<const clang::FunctionDecl*> summedReturns_, searched_;  ///< see returned, and searchedClosures
  llvm::DenseMap<const clang::ValueDecl*, Kind> counted_;    ///< numbers that loops over rows count on the host
  llvm::DenseMap<const clang::Expr*, Value> rowSums_;  ///< of what loops over rows add up: what is assigned in them
  bool changed_ = false, recording_ = false, settled_ = false, again_ = false, rowsMeet_ = false, dividesGradients_ = false;
  /// Calls in a step that get what all ranks have alike, of functions that get samples elsewhere.
  llvm::MapVector<const clang::Expr*, llvm::SmallVector<const clang::FunctionDecl*, 2>> uniformCalls_;

  llvm::DenseMap<const clang::ValueDecl*, Progress> progress_;
  llvm::DenseSet<const clang::ValueDecl*> countedByRows_;  ///< variables that loops over rows count up
  bool refining_ = false;  ///< see refinePowers
  llvm::DenseMap<const clang::ValueDecl*, Value> freshDecls_;
  llvm::DenseMap<const clang::FunctionDecl*, Value> freshReturns_;
  llvm::DenseMap<const clang::ValueDecl*, bool> parameters_;
  llvm::DenseSet<const clang::Expr*> held_;
  llvm::DenseSet<const clang::CXXRecordDecl*> heldModules_;
  llvm::DenseSet<const clang::CXXRecordDecl*> calledModules_;  ///< through a holder, by the author's code
  llvm::DenseSet<const clang::ValueDecl*> combinedFirst_;  ///< parameters, fields and variables that get what is combined over ranks already
  llvm::DenseSet<const clang::ValueDecl*> states_;         ///< of whose reads carriedStates_ has those that may meet rows of all ranks
  llvm::MapVector<const clang::Expr*, int> carriedStates_;
  llvm::DenseSet<const clang::Expr*> leaving_;  ///< means over counted terms, where they are formed, that are used elsewhere
  llvm::MapVector<const clang::Expr*, Value> reductions_, countedMeans_;
  llvm::MapVector<const clang::ValueDecl*, LeftBehind> leftBehind_;
  llvm::MapVector<const clang::Stmt*, llvm::SmallVector<const clang::Expr*, 4>> sampleLoops_;
  llvm::SetVector<const clang::Expr*> rowCounts_, localSizes_, sizesWrittenAgain_, squeezes_, likes_, wholeDraws_, ownRows_, sharedDraws_, localDraws_, alikeCalls_, uniformForwards_, shares_, opaqueForwards_, localSeeds_;
  llvm::SmallVector<const clang::Stmt*, 2> nestedSteps_;  ///< loops of steps that run inside a step of another loop
  llvm::MapVector<const clang::Expr*, const clang::Stmt*> localConditions_;
  std::vector<KindProblem> problems_;
  const clang::Expr* grownApart_ = nullptr;
};

/// The forward of a layer of the framework that has a row in the table, also through the call operator of the layer's holder; null for other objects.
const clang::CXXMethodDecl* knownForward(const Dialect& dialect, const clang::Expr* object);
/// Was the layer made with this option, and not with `false` for it? `unclear`: the answer where it is given what is no constant.
bool hasOption(const Definitions& definitions, llvm::StringRef option, const clang::Expr* object, bool unclear);

}  // namespace hvdize
