// SPDX-License-Identifier: Apache-2.0
// Random numbers that are drawn while samples are read.
#pragma once

#include <string>
#include <vector>

#include "rewriters/program/batches.h"

namespace hvdize {

using DataFunctions = llvm::DenseSet<const clang::FunctionDecl*>;

/// What the framework calls to read a sample, with what that calls: data sets, and functions of samples that nobody in the program calls (transforms).
DataFunctions readersOfSamples(const AuthorCode& code, const Dialect& dialect);
/// Those, what overrides the framework's functions from tensor to tensor (a transform of each sample's tensor), and functions of tensors that the
/// framework gets to call.
DataFunctions transformsOfSamples(const AuthorCode& code, const Dialect& dialect);
/// Functions that the framework gives samples, or the numbers of samples, and that nobody else calls: data sets, transforms, collations.
std::vector<const clang::FunctionDecl*> calledWithSamples(const AuthorCode& code, const Dialect& dialect);
/// Adds the function and what it calls.
void addReached(const AuthorCode& code, const clang::FunctionDecl* f, DataFunctions& out);
/// Does the method override one of a class of the framework's that is no module?
bool overridesFrameworks(const Dialect& dialect, const clang::FunctionDecl* f);
/// Does the function get samples, one or a list of them?
bool takesExamples(const Dialect& dialect, const clang::FunctionDecl* f);

/// A draw from a generator that data sets or transforms of a shared-out loader draw from too. A rank reads its own samples only, so its
/// generator would from then on give other numbers than those of the other ranks.
struct SharedGenerator {
  const clang::Expr* use = nullptr;  ///< the draw outside of the data
  std::string name;
};

std::vector<SharedGenerator> generatorsSharedWithData(const AuthorCode& code, const Dialect& dialect, const Definitions& definitions, const Batches& batches);

/// Something that reading a sample changes step by step (a counter, a weight that decays), and that is read elsewhere or goes into samples.
struct StateOfData {
  const clang::Expr* change = nullptr;
  std::string name;
  bool kept = false;  ///< a tensor that the data set keeps, changed in place
};

std::vector<StateOfData> stateOfData(const AuthorCode& code, const Dialect& dialect, const Definitions& definitions, const Batches& batches);

/// The variable that a batch is bound to by a reference through which it could be changed, `auto& x = batches[i];`; null for any other.
const clang::VarDecl* referenceTo(const AuthorCode& code, const clang::Expr* batch);

/// Changes in place, under another name, of batches that are parts of tensors which live longer than the step: on a rank only its own rows of
/// those would change. `name`: of the tensor.
std::vector<StateOfData> partsChanged(const AuthorCode& code, const Dialect& dialect, const Definitions& definitions, const Batches& batches);

/// Is the expression what a call or an operator changes, `kept.slice(0, i, i + n)` of `kept.slice(0, i, i + n).copy_(rows)`?
bool isChangedThere(const AuthorCode& code, const Dialect& dialect, const clang::Expr* e);

/// Functions by which the framework gets a whole list of samples at a time (a data set's get_batch, a collation), and which seem to compute
/// something from several of them: on a rank they see its samples only.
std::vector<const clang::FunctionDecl*> mixersOfBatches(const AuthorCode& code, const Dialect& dialect, const Definitions& definitions, const Batches& batches);
/// The draws from engines of <random>, and of rand(), that are made while a rank reads its samples: one place for each generator.
std::vector<const clang::Expr*> drawsOfData(const AuthorCode& code, const Dialect& dialect, const Batches& batches);

}  // namespace hvdize
