// SPDX-License-Identifier: Apache-2.0
// Gradients that are read where no optimizer has a name.
#pragma once

#include <string>

#include "rewriters/program/model.h"

namespace hvdize {

/// The parameters whose gradients are read, as they can be named in front of the statement `before`: `net->parameters()` of a clipping and of a loop over them, `list` of
/// list[i].grad(), `{net->weight}`. Empty where they cannot.
std::string parametersRead(const Model& model, const Site& read, const clang::Stmt* before);

/// Are these gradients of another model than those that the optimizers of these names were made for? Only where the program has several of either.
bool readsAnotherModel(const Model& model, const Site& read, llvm::ArrayRef<std::string> optimizers);

}  // namespace hvdize
