// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include <llvm/Support/MemoryBufferRef.h>

namespace clang {
class DiagnosticConsumer;
class FrontendAction;
}  // namespace clang

namespace hvdize {

/// How a file is read: with which flags, from which folder, and which files have other texts than those on the disk.
struct ParseInput {
  std::string directory;           ///< the working directory of the compiler; empty: that of the process
  std::vector<std::string> flags;  ///< without compiler name, input and output
  std::string resourceDir;         ///< of the compiler's own headers
  std::map<std::string, std::string> texts = {};  ///< by path
  std::vector<llvm::MemoryBufferRef> buffers = {};  ///< further files that live in memory only, by their identifiers; they outlive the parse
};

/// Runs `action` on `file`. Messages go to `messages`. Whether it ran through without an error.
bool runAction(const ParseInput& input, const std::string& file, std::unique_ptr<clang::FrontendAction> action, clang::DiagnosticConsumer& messages);

}  // namespace hvdize
