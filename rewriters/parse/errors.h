// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string>

#include <clang/Basic/Diagnostic.h>
#include <clang/Frontend/TextDiagnosticPrinter.h>
#include <llvm/Support/raw_ostream.h>

namespace hvdize {

/// The first error of a parse, and everything the compiler printed.
class ErrorKeeper : public clang::DiagnosticConsumer {
 public:
  explicit ErrorKeeper(std::string& text);
  void BeginSourceFile(const clang::LangOptions& lo, const clang::Preprocessor* pp) override { printer_.BeginSourceFile(lo, pp); }
  void EndSourceFile() override { printer_.EndSourceFile(); }
  void HandleDiagnostic(clang::DiagnosticsEngine::Level level, const clang::Diagnostic& info) override;

  void clear() override;

  std::string firstMessage, firstFile;
  unsigned firstLine = 0;
  std::set<std::string> files;  ///< real paths of the files that have errors

 private:
  void place(const clang::Diagnostic& info);

  std::string& text_;
  llvm::raw_string_ostream os_;
  clang::TextDiagnosticPrinter printer_;
};

}  // namespace hvdize
