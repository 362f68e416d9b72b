// SPDX-License-Identifier: Apache-2.0
//
// Parses a program, by the shortest way that gives the same facts.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <llvm/ADT/ArrayRef.h>

#include "rewriters/parse/errors.h"
#include "rewriters/parse/invoke.h"

namespace clang {
class ASTContext;
}

namespace hvdize {

class Dialect;
class RepeatedHeaders;
struct IncludeList;

class Parser {
 public:
  using Work = std::function<void(clang::ASTContext&, const IncludeList&)>;

  /// `several`: the main file does nothing but include the sources of a program, and these are the headers of it that they repeat; null: it
  /// is a source itself. `cacheFolder`: of precompiled headers; empty: none are used.
  Parser(llvm::ArrayRef<const Dialect*> dialects, RepeatedHeaders* several, std::string cacheFolder)
      : dialects_(dialects), several_(several), cacheFolder_(std::move(cacheFolder)) {}

  /// Calls `work` when there were no errors, and says whether it did.
  bool everything(const ParseInput& input, const std::string& file, ErrorKeeper& errors, Work work) const;
  /// The same, without the bodies of functions in the headers of the frameworks; those headers precompiled where possible.
  bool withoutBodies(const ParseInput& input, const std::string& file, ErrorKeeper& errors, Work work);
  /// Only preprocesses: `work` sees the includes, and no declarations.
  bool includesOnly(const ParseInput& input, const std::string& file, ErrorKeeper& errors, Work work);

  /// What became of the precompiled headers, for people.
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  bool precompiled(const ParseInput& input, const std::string& file, const Work& work, bool includesOnly);
  bool parse(const ParseInput& input, const std::string& file, llvm::ArrayRef<const Dialect*> dialects, const IncludeList& known, const Work& work,
             ErrorKeeper& errors, bool includesOnly = false) const;

  llvm::ArrayRef<const Dialect*> dialects_;
  RepeatedHeaders* several_;
  std::string cacheFolder_;
  std::vector<std::string> notes_;
};

}  // namespace hvdize
