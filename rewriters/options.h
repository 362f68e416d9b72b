// SPDX-License-Identifier: Apache-2.0
//
// What the author chose on the command line and what every pass may read.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace hvdize {

enum class BatchPolicy { PerRank, Global };
enum class LrScaling { Auto, Linear, Sqrt, None };
enum class StepPolicy { Keep, Divide };
enum class EvaluationPolicy { Sharded, Whole };

/// Warm-up of the scaled learning rate: in optimizer steps, or in epochs; zero of both is none.
struct Warmup {
  int64_t steps = 0;
  int64_t epochs = 0;
  bool any() const { return steps > 0 || epochs > 0; }
};

struct RewriteOptions {
  BatchPolicy batch = BatchPolicy::PerRank;
  /// The batch policy was asked for: a program for which it cannot be had is refused, not given the other one.
  bool batchAsked = false;
  LrScaling lrScaling = LrScaling::Auto;
  Warmup warmup;
  StepPolicy steps = StepPolicy::Keep;
  bool syncBatchNorm = false;
  /// Whole: every rank evaluates all samples. Sharded: the loops for which that is safe are shared out.
  EvaluationPolicy evaluation = EvaluationPolicy::Sharded;
  /// False: batches stay as large as they are, whatever the mode. Tried where only the rules for larger ones are not known.
  bool batchesGrow = true;
  /// An assumption that the author has not confirmed with --assume is a refusal.
  bool strict = false;
  /// IDs ("HVD2003") or short names ("independent"), as given.
  std::vector<std::string> assume;
  /// Passes that do not run (passesLeftOut in passes/choice.h).
  std::vector<std::string> passesOff;
  /// Print the program model to standard output and write nothing (for tests).
  bool printModel = false;
  /// Parse the output again and check it. Off only for measurements.
  bool verify = true;
  /// Leave out the bodies of functions in the framework's headers. Off only to compare.
  bool skipBodies = true;
  /// The folder of precompiled headers; empty: headers are read as text.
  std::string headerCache;
};

/// True when every policy is what hvdize chooses by itself; then `hvd::Session` needs no policy argument.
inline bool isDefaultPolicy(const RewriteOptions& o) {
  return o.batch == BatchPolicy::PerRank && o.lrScaling == LrScaling::Auto && !o.warmup.any() && o.steps == StepPolicy::Keep;
}

}  // namespace hvdize
