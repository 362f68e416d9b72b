// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/SmallVector.h>

#include "rewriters/parse/header_record.h"
#include "rewriters/parse/invoke.h"

namespace hvdize {

class Dialect;
struct Prefix;

/// Headers in the compiler's own form, without the bodies of the frameworks' functions, and what is known about them.
struct Precompiled {
  llvm::SmallVector<char, 0> bytes;
  HeaderRecord record;
};

/// The name under which the text of precompiled headers is known to the compiler. No such file exists.
extern const char* const kPrecompiledText;

/// Of the headers of `prefix`. Nothing when they do not compile by themselves.
std::optional<Precompiled> precompile(const ParseInput& input, const Prefix& prefix, llvm::ArrayRef<const Dialect*> dialects);

}  // namespace hvdize
