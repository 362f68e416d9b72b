// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llvm/Support/JSON.h>
#include <llvm/Support/raw_ostream.h>

#include "rewriters/diagnostics/diagnostics.h"

namespace hvdize {

struct PrintOptions {
  bool color = false;
  bool carets = true;
  /// Leave out notes (--quiet).
  bool notes = true;
};

/// Like a compiler's: place, severity, message, ID, the source line and a caret.
void printDiagnostic(llvm::raw_ostream& os, const Diagnostic& d, const PrintOptions& options);
void printDiagnostics(llvm::raw_ostream& os, llvm::ArrayRef<Diagnostic> diagnostics, const PrintOptions& options);

/// The form of the JSON report, see docs/diagnostics.md.
llvm::json::Value toJson(const Diagnostic& d);

/// The page of one row: for --explain (plain) and docs/diagnostics (Markdown).
void explain(llvm::raw_ostream& os, const DiagInfo& row);
/// Writes one page for each row and an index into `directory`. False, with `*error`, when a file cannot be written.
bool writeDiagnosticPages(llvm::StringRef directory, std::string* error);

}  // namespace hvdize
