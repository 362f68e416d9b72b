// SPDX-License-Identifier: Apache-2.0
// Parameters that a program updates by hand, `w -= rate * w.grad();`, with no optimizer.
#pragma once

#include <vector>

#include "rewriters/program/sites.h"

namespace hvdize {

struct Model;

/// Gradients that one place reads to update parameters, and how the parameters are named in front of it.
struct HandUpdate {
  const clang::Expr* read = nullptr;    ///< the first read
  const clang::Stmt* before = nullptr;  ///< in front of this statement the gradients must be whole
  /// `w` of single tensors; of lists `params`, `net->parameters()`, which are reduced each by a call of its own.
  std::vector<const clang::Expr*> tensors, lists;
  bool updates = false;  ///< they are updated in the same function, and not only looked at
  /// What names them in front of `start`, the outermost training loop; null where nothing does.
  const clang::Stmt* start = nullptr;
  std::vector<const clang::Expr*> initial;
};

/// Those of a program in which nothing steps; empty where an optimizer does, or where gradients are looked at but no parameter is changed.
/// Gradients of what depends on samples are not among them.
std::vector<HandUpdate> updatesByHand(Model& m);

/// Where a program that calls no backward gets gradients from a function, `autograd::grad({loss}, parameters)`, and changes tensors with them in the
/// same loop: it trains.
std::vector<const clang::Expr*> updatesWithGradientsOf(Model& m);

}  // namespace hvdize
