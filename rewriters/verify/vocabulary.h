// SPDX-License-Identifier: Apache-2.0
// What the calls that hvdize inserts mean to the verifier: docs/vocabulary.md as a table.
#pragma once

#include "clang/AST/Decl.h"
#include "clang/AST/Expr.h"
#include "llvm/ADT/StringRef.h"

namespace hvdize {

struct Word {
  /// Every rank must reach the call, in the same order.
  bool collective = false;
  enum class Result {
    OfArguments,  ///< as uniform as the arguments
    Uniform,      ///< the same on all ranks, whatever the arguments
    RankLocal     ///< what only this rank knows
  } result = Result::OfArguments;
  /// The arguments are functions that run on the root only.
  bool runsOnRoot = false;
};

/// Null for a function that is not part of the vocabulary.
const Word* wordOf(const clang::FunctionDecl* f);
const Word* wordOf(const clang::Expr* call);

/// `hvd::steps`, whose items are slices of this rank although every rank gets equally many.
bool isSteps(const clang::Expr* call);
/// `hvd::all_reduce_sum`, which changes its arguments to the same value on all ranks.
bool isSumInPlace(const clang::Expr* call);
/// `hvd::sync_batchnorm`: from then on the forward pass of a model communicates.
bool isSyncBatchNorm(const clang::Expr* call);
/// `hvd::root_only(f)(...)`: the call of what root_only gave.
bool isRootOnlyCall(const clang::FunctionDecl* f);
/// The word as the author reads it: "hvd::batch_mean", "backward".
std::string spelling(const clang::FunctionDecl* f);

}  // namespace hvdize
