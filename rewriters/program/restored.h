// SPDX-License-Identifier: Apache-2.0
// Numbers that a program writes to a file, and reads back from it when it is run again.
#pragma once

#include "rewriters/program/model.h"

namespace hvdize {

struct Restored {
  llvm::DenseSet<const clang::ValueDecl*> variables;
  llvm::DenseSet<const clang::Expr*> values;  ///< `std::stod(line)`, of a line of such a file: what a variable gets from there
};

/// The variables and fields that are read from a file to which the program writes them (or a rate that an optimizer holds).
Restored restoredFromFiles(const Model& model);

}  // namespace hvdize
