// SPDX-License-Identifier: Apache-2.0
// Numbers that a program writes to a file, and reads back from it when it is run again.
#pragma once

#include "rewriters/program/model.h"

namespace hvdize {

/// The variables and fields that are read from a file to which the program writes them (or a rate that an optimizer holds).
llvm::DenseSet<const clang::ValueDecl*> restoredFromFiles(const Model& model);

}  // namespace hvdize
