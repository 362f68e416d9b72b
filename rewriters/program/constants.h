// SPDX-License-Identifier: Apache-2.0
// Numbers whose value the compiler must know: a variable among them cannot become one that is known only when the program runs.
#pragma once

#include <cstdint>
#include <optional>

#include "llvm/ADT/DenseSet.h"

#include "rewriters/program/sites.h"

namespace hvdize {

struct ConstantUses {
  explicit ConstantUses(clang::ASTContext& context, const AuthorFiles& files);

  /// Extents of arrays, template arguments, labels of cases, enumerators, and constants made from them: with another number this would be
  /// another program.
  llvm::DenseSet<const clang::ValueDecl*> fixed;
  /// Static assertions: they may stay as they are.
  llvm::DenseSet<const clang::ValueDecl*> asserted;
  /// Is this a number from a macro that is used where `fixed` ones are?
  bool isFixedMacro(const clang::Expr* e) const;
  llvm::DenseSet<clang::SourceLocation> macros;
  const clang::SourceManager& sources;
};

/// The type, as text, to which a number must be cast where it stands in braces, once the compiler does not know it any more: {batch_size, -1} of an
/// unsigned `batch_size`. Empty where no cast is needed. `element`: an initialiser of the list.
std::string castInBraces(const clang::Expr* element, clang::ASTContext& context);

/// The number that a local variable has from its declaration on, `int64_t dim = 1;`, where nothing but reads of its value follow: no assignment,
/// reference or address. Nothing for what is no such variable.
std::optional<int64_t> unchangedNumber(const clang::Expr* e, clang::ASTContext& context);

}  // namespace hvdize
