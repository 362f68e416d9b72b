// SPDX-License-Identifier: Apache-2.0
//
// From the sources of a program to its distributed form, in memory. Writing files is the tool's business.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "rewriters/context.h"
#include "rewriters/source/program_files.h"

namespace hvdize {

/// How the sources of one program are compiled.
struct CompileJob {
  std::string file;                ///< the source, or the first of several
  std::string directory;           ///< the working directory of the compiler
  std::vector<std::string> flags;  ///< without compiler name, input and output
  std::vector<std::string> further = {};  ///< the other sources of the program: analysed together with the first
  Placement place = {};            ///< where its files will be written; none: where they are
  std::string base = {};           ///< the folder that the result is compiled with -iquote of; empty: that of `file`
  std::string standard = {};       ///< the flag for a later standard than the program asks for, which the runtime's headers need; it is among `flags`
  bool lineDirectives = false;     ///< the result is for a compiler: it names the author's files and lines

  std::vector<std::string> sources() const;
};

enum class RewriteStatus {
  Written,       ///< `files` hold the distributed program
  Unchanged,     ///< nothing to do; `files` are the sources as they are
  Refused,       ///< diagnostics say why; no files
  DoesNotCompile ///< the compiler's messages are in `compilerOutput`; no files
};

struct RewriteResult {
  RewriteStatus status = RewriteStatus::DoesNotCompile;
  std::vector<FileResult> files;        ///< the sources, then the headers that change
  std::string compilerOutput;
  std::vector<std::string> userFiles;   ///< sources and non-system headers, for dependency files
  RewriteSummary summary;
  /// The folder whose headers the result includes with quotes: it is compiled with -iquote of it. Empty when it needs none.
  std::string quoteFolder;
  /// How the headers were read, for people who ask.
  std::vector<std::string> notes;
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
