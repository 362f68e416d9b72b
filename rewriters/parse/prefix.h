// SPDX-License-Identifier: Apache-2.0
//
// What stands in front of a program's first header of a framework. Precompiled headers are read before everything else; they stand for
// the headers' text only where nothing in front of it matters to it, and it does not matter to what is in front.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/StringSet.h>

#include "rewriters/parse/invoke.h"

namespace hvdize {

class Dialect;
struct HeaderRecord;

struct Prefix {
  /// The system's headers in front of the framework's, without those of the standard library, and the framework's: name and real path.
  std::vector<std::pair<std::string, std::string>> headers;
  /// Macros that the author's files define or undefine in front of it.
  llvm::StringSet<> defined;
  /// Names that the author's files use in front of it and that are no macros there; names that they test and that are not defined.
  llvm::StringSet<> used;
  /// The folders of -iquote and -I, in the order in which they are searched.
  std::vector<std::string> folders;
  /// Why nothing can be precompiled for this program; empty when it can.
  std::string unsuitable;
  /// Equal for programs that read the same headers in the same way.
  std::string key;

  /// The text that is precompiled.
  std::string text() const;
  /// Why these precompiled headers do not stand for the text; empty when they do.
  std::string conflictWith(const HeaderRecord& record) const;
};

/// Preprocesses `file` as far as the first header that reveals one of `dialects`.
Prefix scanPrefix(const ParseInput& input, const std::string& file, llvm::ArrayRef<const Dialect*> dialects);

}  // namespace hvdize
