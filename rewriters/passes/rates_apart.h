// SPDX-License-Identifier: Apache-2.0
// Rates that optimizers with different rules make from the same numbers.
#pragma once

#include <string>
#include <vector>

#include "llvm/ADT/STLFunctionalExtras.h"

#include "rewriters/program/model.h"
#include "rewriters/program/quantities.h"

namespace hvdize {

/// A number that becomes a rate, with how it is scaled there.
struct Sink {
  const clang::Expr *call, *rate;
  std::string suffix;
};

/// Is it the optimizer that knows its rule?
bool isAsked(const std::string& suffix);

/// Rates enter the program, and are scaled, in one place. Where optimizers with different rules share what they are made from, each scales its rate
/// for itself: which do. `rates`: a quantity that has traced nothing.
std::vector<bool> sinksApart(const Model& m, llvm::ArrayRef<Sink> sinks, llvm::function_ref<Quantity()> rates);

/// `setting.rate / base`, where the rate is made from the base, which is not scaled: the share that it is of it, whatever the number of ranks.
bool isShareOfBase(const Model& m, const Quantity& q, const clang::Expr* rate);

}  // namespace hvdize
