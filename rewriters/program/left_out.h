// SPDX-License-Identifier: Apache-2.0
// Sources that are as their author wrote them, in a program whose others are distributed already.
#pragma once

#include <string>
#include <vector>

#include "rewriters/dialects/dialect.h"
#include "rewriters/program/author.h"

namespace hvdize {

/// Those of the files that run a backward pass, as their text says, and have nothing of the runtime: a quick look, comments count.
std::vector<std::string> filesLeftOut(llvm::ArrayRef<std::string> files, const std::string& directory);

/// A backward pass in one of these files; null where there is none after all.
const clang::Expr* backwardIn(llvm::ArrayRef<std::string> files, const std::string& directory, clang::ASTContext& ast, const AuthorFiles& author, const Dialect& dialect);

}  // namespace hvdize
