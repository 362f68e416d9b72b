// SPDX-License-Identifier: Apache-2.0
// Loops over a loader that do not train: which of them can be shared out among the ranks, as training is.
#pragma once

#include <functional>
#include <vector>

#include "rewriters/program/batches.h"
#include "rewriters/program/evaluate.h"
#include "rewriters/source/edit.h"

namespace hvdize {

/// How `hvd::Sharded` gets into the construction of a loader.
struct SamplerPlace {
  enum class Form { Nowhere, Argument, Written, Default } form = Form::Nowhere;
  const clang::Expr* argument = nullptr;  ///< Argument: the sampler itself
  clang::SourceRange written;             ///< the sampler's type among the template arguments, when it is written out
  clang::SourceLocation name;             ///< Default: the name of the function, behind which the type comes
  clang::QualType type;                   ///< Default: the type to name
};

SamplerPlace samplerPlace(const Dialect& dialect, const clang::Expr* loader);

/// Shares out the evaluation loops whose numbers combine over ranks. A loop stays whole (`LoaderLoop::whole` says why) where its loader is
/// made out of sight, where its body is no function of the samples alone, or where a number in it has no kind.
class EvaluationLoops {
 public:
  using Derive = std::function<Kinds()>;

  EvaluationLoops(Batches& batches, const Definitions& definitions, const Sites& sites, const EditSet& edits)
      : batches_(batches), definitions_(definitions), sites_(sites), code_(sites.code()), dialect_(sites.dialect()), edits_(edits) {}

  /// Marks the loops in `batches` and gives the kinds that go with it. `derive` computes the kinds for the marks as they are.
  Kinds share(const Derive& derive);
  /// None is shared out.
  Kinds keepWhole(const Derive& derive, const char* why);

 private:
  const char* obstacle(const LoaderLoop& loop) const;
  const char* loaderObstacle(const LoaderLoop& loop) const;
  bool drawsInTrainingOnly(const clang::Expr* draw) const;
  const char* modeObstacle(const LoaderLoop& loop) const;
  bool holdsOneSample(const clang::Expr* loader) const;
  bool typeIsSpelled(const clang::Expr* loader) const;
  void settleNesting();
  void settlePlaces();
  bool keepCulprits(const Kinds& kinds, const std::vector<const clang::Expr*>& known);
  bool keepOneByTrial(const Derive& derive, const std::vector<const clang::Expr*>& known);
  bool covers(const LoaderLoop& loop, const clang::Stmt* s) const;

  Batches& batches_;
  const Definitions& definitions_;
  const Sites& sites_;
  const AuthorCode& code_;
  const Dialect& dialect_;
  const EditSet& edits_;
};

}  // namespace hvdize
