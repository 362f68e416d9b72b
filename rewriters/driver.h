// SPDX-License-Identifier: Apache-2.0
//
// From one source file to its distributed form, in memory. Writing files is the tool's business.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "rewriters/context.h"

namespace hvdize {

/// How one file is compiled.
struct CompileJob {
  std::string file;
  std::string directory;           ///< the working directory of the compiler
  std::vector<std::string> flags;  ///< without compiler name, input and output
};

enum class RewriteStatus {
  Written,       ///< `output` is the distributed program
  Unchanged,     ///< nothing to do; `output` is the input
  Refused,       ///< diagnostics say why; `output` is empty
  DoesNotCompile ///< the compiler's messages are in `compilerOutput`; `output` is empty
};

struct RewriteResult {
  RewriteStatus status = RewriteStatus::DoesNotCompile;
  std::string input, output;
  std::string compilerOutput;
  std::vector<Edit> edits;
  std::vector<unsigned> editLines;      ///< line of each edit in the input
  std::vector<std::string> userFiles;   ///< source and non-system headers, for dependency files
  RewriteSummary summary;
};

/// The two stages that know what training is. Tests of the driver put others in their place.
struct Stages {
  std::function<void(PassContext&)> passes;
  std::function<void(clang::ASTContext&, const Dialect&, DiagEngine&, const std::string& frameworkFolder)> verify;
  /// runPasses and verifyRewritten.
  static Stages usual();
};

/// Parses, analyses, edits, parses again, verifies, formats. Of `dialects` (at least one) the one whose headers the file includes is taken.
/// Diagnostics go to `diags`. `resourceDir` holds the compiler's own headers. Throws nothing; every failure is in the status.
RewriteResult rewrite(const RewriteOptions& options, const CompileJob& job, llvm::ArrayRef<const Dialect*> dialects, const std::string& resourceDir,
                      DiagEngine& diags, const Stages& stages = Stages::usual());

}  // namespace hvdize
