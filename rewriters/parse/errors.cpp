// SPDX-License-Identifier: Apache-2.0
#include "rewriters/parse/errors.h"

#include <clang/Basic/FileManager.h>
#include <clang/Basic/SourceManager.h>
#include <llvm/ADT/SmallString.h>

#include "rewriters/diagnostics/diagnostics.h"

namespace hvdize {

ErrorKeeper::ErrorKeeper(std::string& text) : text_(text), os_(text), printer_(os_, new clang::DiagnosticOptions) {}

void ErrorKeeper::HandleDiagnostic(clang::DiagnosticsEngine::Level level, const clang::Diagnostic& info) {
  DiagnosticConsumer::HandleDiagnostic(level, info);
  const bool placed = info.hasSourceManager() && info.getLocation().isValid();
  if (level >= clang::DiagnosticsEngine::Error && placed) {
    const clang::SourceManager& sm = info.getSourceManager();
    const auto entry = sm.getFileEntryRefForID(sm.getFileID(sm.getExpansionLoc(info.getLocation())));
    if (entry) files.insert(entry->getFileEntry().tryGetRealPathName().str());
  }
  if (level >= clang::DiagnosticsEngine::Error && firstMessage.empty()) {
    llvm::SmallString<128> text;
    info.FormatDiagnostic(text);
    firstMessage = text.str().str();
    if (placed) place(info);
  }
  printer_.HandleDiagnostic(level, info);
}

void ErrorKeeper::clear() {
  DiagnosticConsumer::clear();
  os_.flush();
  text_.clear();
  firstMessage.clear(), firstFile.clear(), files.clear();
  firstLine = 0;
}

void ErrorKeeper::place(const clang::Diagnostic& info) {
  const clang::SourceManager& sm = info.getSourceManager();
  firstLine = sm.getExpansionLineNumber(info.getLocation());
  firstFile = plainPath(sm.getFilename(sm.getExpansionLoc(info.getLocation())));
}

}  // namespace hvdize
