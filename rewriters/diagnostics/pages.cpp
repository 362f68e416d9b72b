// SPDX-License-Identifier: Apache-2.0
#include <llvm/Support/FileSystem.h>
#include <llvm/Support/Path.h>

#include "rewriters/diagnostics/print.h"
#include "rewriters/source/output.h"

namespace hvdize {
namespace {

const char* severityName(Severity severity) {
  switch (severity) {
    case Severity::Note: return "note";
    case Severity::Warning: return "warning";
    case Severity::Refusal: return "refusal: nothing is written";
    case Severity::Running: return "error at run time: the job ends on all ranks";
  }
  return "";
}

void codeBlock(llvm::raw_ostream& os, llvm::StringRef title, llvm::StringRef code) {
  if (code.empty()) return;
  os << "\n" << title << "\n\n```cpp\n" << code << "\n```\n";
}

std::string index() {
  std::string text = "# Diagnostics\n\nWritten by `hvdize --dump-diagnostics-docs`; `hvdize --explain ID` prints one page.\n\n"
                     "| ID | severity | message | `--assume` |\n|---|---|---|---|\n";
  llvm::raw_string_ostream os(text);
  for (const DiagInfo& row : allDiagnostics()) {
    const std::string id = idString(row.id);
    std::string message(row.message);
    for (size_t i = 0; (i = message.find('|', i)) != std::string::npos; i += 2) message.insert(i, "\\");
    os << "| [" << id << "](" << id << ".md) | " << llvm::StringRef(severityName(row.severity)).split(':').first << " | " << message << " | "
       << (row.isAssumption() ? "`" + std::string(row.assume) + "`" : "") << " |\n";
  }
  return text;
}

}  // namespace

void explain(llvm::raw_ostream& os, const DiagInfo& row) {
  os << "# " << idString(row.id) << " " << row.name << "\n\n> " << row.message << "\n\nSeverity: " << severityName(row.severity) << ".\n";
  if (row.isAssumption())
    os << "This is an assumption: `--assume=" << row.assume << "` confirms it, and `--strict` refuses it unless confirmed.\n";
  os << "\n" << row.explanation << "\n";
  const bool refusal = row.severity == Severity::Refusal || row.severity == Severity::Running;
  codeBlock(os, row.after.empty() ? "For example:" : refusal ? "Instead of" : "From", row.before);
  codeBlock(os, row.before.empty() ? "Inserted:" : refusal ? "write" : "to", row.after);
}

bool writeDiagnosticPages(llvm::StringRef directory, std::string* error) {
  if (std::error_code ec = llvm::sys::fs::create_directories(directory)) {
    *error = "cannot create '" + directory.str() + "': " + ec.message();
    return false;
  }
  auto write = [&](const std::string& name, const std::string& text) {
    llvm::SmallString<256> path(directory);
    llvm::sys::path::append(path, name);
    return writeAtomically(path, text, error);
  };
  for (const DiagInfo& row : allDiagnostics()) {
    std::string page;
    llvm::raw_string_ostream os(page);
    explain(os, row);
    if (!write(idString(row.id) + ".md", page)) return false;
  }
  return write("README.md", index());
}

}  // namespace hvdize
