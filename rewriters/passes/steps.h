// SPDX-License-Identifier: Apache-2.0
// One function per transformation: the program model in, edits and diagnostics out.
#pragma once

#include "rewriters/program/model.h"

namespace hvdize {

void addSession(Model& model);           ///< communicator and policy
std::string policyOf(const Model& model);  ///< the session's argument; empty for the default
void startBeforeMain(Model& model);      ///< after all others: a session for what is made before main begins
void bindDevices(Model& model);          ///< the program's choice of a device
void shardBatches(Model& model);         ///< loaders, samplers and hand-written batch loops
void keepToOwnSamples(Model& model);      ///< loops over all samples of a batch that write rows
void scaleBatchSize(Model& model);
void castConstants(Model& model);        ///< numbers in braces that were constants
/// `FUNCTION(`, or `FUNCTION<TYPE>(` where `e` stands in braces that need the type.
std::string numberIn(const Model& model, const char* function, const clang::Expr* e);
void countSteps(Model& model);           ///< step counts written in the program
void countBatches(Model& model);         ///< numbers of batches that are computed from the number of rows
void scaleLearningRate(Model& model);
void broadcastState(Model& model);       ///< initial broadcast, loads, synchronised batch norm
void reduceGradients(Model& model);      ///< loss kinds, weights, reduction, overlap
void reduceUpdatedByHand(Model& model);     ///< where no optimizer steps
void broadcastUpdatedByHand(Model& model);
void keepBatchDimension(Model& model);   ///< squeeze without a dimension
void reduceNumbers(Model& model);        ///< metrics, counts of rows, gathered values
void checkInstances(Model& model);       ///< texts that several instantiations share need the same edits
void agreeOnExtents(Model& model);       ///< extents of a batch on which the number of steps depends
void refuseThreadData(Model& model);     ///< data of the steps that a running thread makes
void agreeDecisions(Model& model);       ///< conditions and seeds that differ between ranks
bool growsWithBatch(const Model& model, const clang::Expr* rate);  ///< is the number a product of the batch size, or of its root?
void agreeOnInputFiles(Model& model);    ///< conditions that test an input file before a load
void shareInput(Model& model);           ///< standard input
void keepOutputToRoot(Model& model);     ///< prints, files, checkpoints
void noteOpaqueCalls(Model& model);      ///< what functions write that are only declared
void synchroniseBuffers(Model& model);   ///< running statistics before evaluation and saving

/// Are these the gradients of a tensor that no optimizer is given, as far as can be shown?
bool isOfNoOptimizer(const Model& model, const Site& read);
/// What a mean over counted terms is divided by on this rank, as an expression that can stand at `at`. Reported and empty when it cannot.
std::string countAt(Model& model, const Value& mean, const clang::Expr* at);

/// The batch that only this count of rows asks, `batch.x` in `batch.x.size(0)`, where it is whole as it stands; null elsewhere.
const clang::Expr* countedWhole(const Model& model, const clang::Expr* count);

/// Rows that all ranks need and that lie here whole: they would be cut for this use, and gathered again.
bool gatheredWhole(const Model& model, const clang::Expr* rows);

/// Rows that are cut to this rank's where they stand, and what is put around them there.
struct RowCut {
  const clang::Expr* rows = nullptr;
  std::string before, after;
  bool draw = false;  ///< random numbers that are drawn for the whole batch
};
std::vector<RowCut> rowCuts(const Model& model);

/// A statement's expression that writes to the console, and the console stream or function it names.
bool isConsoleOutput(const Model& model, const clang::Expr* e);

}  // namespace hvdize
