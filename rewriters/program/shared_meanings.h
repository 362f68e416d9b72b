// SPDX-License-Identifier: Apache-2.0
// Numbers that mean two things: `constexpr int kEight = 8;` for the size of a batch and for the number of classes, `kTenth` for a rate and for a
// momentum. Only one of the two follows the number of ranks.
#pragma once

#include "rewriters/program/sites.h"

namespace hvdize {

struct Model;
class Quantity;

/// Where the size of a batch is used for what is no batch: an extent of a layer, a number of classes, a table that no sample meets row by row. Null
/// where it is used for batches only.
const clang::Expr* otherUseOfBatchSize(const Model& m);

/// Is this read of a scaled number an option of the framework's that is no learning rate, or a factor in an operation on tensors?
bool isOtherOption(const Model& m, const clang::Expr* read);

/// Does a function of the program get what is read here?
bool isGivenToProgram(const Model& m, const clang::Expr* read);

}  // namespace hvdize
