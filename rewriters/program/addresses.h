// SPDX-License-Identifier: Apache-2.0
// Pointers that are turned into numbers, and numbers into pointers.
#pragma once

#include "clang/AST/ExprCXX.h"

namespace hvdize {

/// reinterpret_cast<std::uintptr_t>(&x): a number that is another one in every process.
bool isAddress(const clang::Expr* e);

/// `(float*)(((size_t)raw + 15) & ~15)`: the pointer whose memory is aligned here, for what lies there is the same. Null for anything else.
const clang::Expr* alignedByHand(const clang::Expr* e);

}  // namespace hvdize
