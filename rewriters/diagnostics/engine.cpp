// SPDX-License-Identifier: Apache-2.0
#include <clang/AST/Decl.h>
#include <clang/Basic/SourceManager.h>
#include <clang/Lex/Lexer.h>

#include <algorithm>
#include <tuple>

#include "rewriters/diagnostics/diagnostics.h"
#include "rewriters/source/line_map.h"

namespace hvdize {
namespace {

// An author's expression may go over several lines; a message is one, so that tools which read it find its ID.
std::string onOneLine(llvm::StringRef text) {
  std::string out;
  for (; !text.empty(); text = text.ltrim(" \t\r\n")) {
    const auto [line, rest] = text.split('\n');
    const bool more = line.size() < text.size() && !rest.ltrim(" \t\r\n").empty();
    out += (more ? line.rtrim(" \t\r") : line).str() + (more ? " " : "");
    text = rest;
  }
  return out;
}

std::string substitute(std::string_view message, llvm::ArrayRef<std::string> arguments) {
  std::string out;
  for (size_t i = 0; i < message.size(); ++i) {
    if (message[i] == '%' && i + 1 < message.size() && message[i + 1] >= '0' && message[i + 1] <= '9') {
      const size_t n = static_cast<size_t>(message[++i] - '0');
      if (n < arguments.size()) out += onOneLine(arguments[n]);
    } else {
      out += message[i];
    }
  }
  return out;
}

std::string lineAt(llvm::StringRef buffer, unsigned offset) {
  const size_t start = buffer.rfind('\n', offset) + 1;  // in front of the offset; npos + 1 is 0
  const llvm::StringRef line = buffer.substr(start).take_until([](char c) { return c == '\n'; });
  return line.rtrim('\r').str();
}

}  // namespace

std::string plainPath(llvm::StringRef path) {
  while (path.consume_front("./")) path = path.ltrim('/');
  return path.str();
}

DiagEngine::DiagEngine(bool strict, llvm::ArrayRef<std::string> assume) : strict_(strict) {
  for (const std::string& word : assume)
    if (const DiagInfo* row = findDiagnostic(word)) assumed_.push_back(row->id);
}

std::vector<std::string> DiagEngine::unknownAssumptions(llvm::ArrayRef<std::string> assume) {
  std::vector<std::string> unknown;
  for (const std::string& word : assume) {
    const DiagInfo* row = findDiagnostic(word);
    if (!row || !row->isAssumption()) unknown.push_back(word);
  }
  return unknown;
}

void DiagEngine::setSource(const clang::SourceManager& sm, const clang::LangOptions& lo, const LineMaps* maps) {
  sm_ = &sm;
  lo_ = &lo;
  maps_ = maps;
}

std::string DiagEngine::argument(const clang::NamedDecl* decl) { return decl ? decl->getNameAsString() : "?"; }

DiagPlace DiagEngine::resolve(clang::SourceRange range) const {
  DiagPlace place;
  if (!sm_) return place;
  if (range.isInvalid()) {
    if (auto entry = sm_->getFileEntryRefForID(sm_->getMainFileID())) place.file = plainPath(program_.empty() ? entry->getName() : llvm::StringRef(program_));
    return place;
  }
  // A range that begins or ends inside a macro is shown where the macro is used.
  clang::CharSourceRange chars = clang::Lexer::makeFileCharRange(clang::CharSourceRange::getTokenRange(range), *sm_, *lo_);
  if (chars.isInvalid()) chars = clang::Lexer::getAsCharRange(sm_->getExpansionRange(range), *sm_, *lo_);
  const auto [file, begin] = sm_->getDecomposedLoc(chars.getBegin());
  auto [endFile, end] = sm_->getDecomposedLoc(chars.getEnd());
  if (endFile != file || end < begin) end = begin;
  const llvm::StringRef buffer = sm_->getBufferData(file);
  if (auto entry = sm_->getFileEntryRefForID(file)) place.file = plainPath(entry->getName());
  place.line = sm_->getLineNumber(file, begin);
  place.column = sm_->getColumnNumber(file, begin);
  place.endLine = sm_->getLineNumber(file, end);
  place.endColumn = sm_->getColumnNumber(file, end);
  place.lineText = lineAt(buffer, begin);
  const auto found = maps_ ? maps_->find(place.file) : LineMaps::const_iterator();
  if (maps_ && found != maps_->end()) {
    const LineMap& map = found->second;
    const LineMap::Line old = map.oldLine(place.line);
    place.inRewritten = !old.unchanged;
    place.endLine = place.endLine == place.line ? old.line : map.oldLine(place.endLine).line;
    place.line = old.line;
  }
  return place;
}

DiagEngine::Handle DiagEngine::add(DiagID id, DiagPlace place, std::vector<std::string> arguments) {
  Diagnostic d{id, severityOf(id), false, substitute(diagInfo(id).message, arguments), std::move(place), {}};
  d.refusedByStrict = d.severity == Severity::Refusal && diagInfo(id).severity != Severity::Refusal;
  const std::string key = idString(id) + '\0' + d.place.file + ':' + std::to_string(d.place.line) + ':' +
                          std::to_string(d.place.column) + (d.place.inRewritten ? "r" : "") + '\0' + d.message;
  if (!seen_.insert(key).second) return Handle(*this, std::nullopt);
  diagnostics_.push_back(std::move(d));
  return Handle(*this, diagnostics_.size() - 1);
}

DiagEngine::Handle& DiagEngine::Handle::note(clang::SourceRange range, std::string text) {
  if (index_) engine_.diagnostics_[*index_].notes.emplace_back(engine_.resolve(range), std::move(text));
  return *this;
}

void DiagEngine::changeTexts(const std::function<void(std::string&)>& change) {
  for (Diagnostic& d : diagnostics_) {
    change(d.message), change(d.place.lineText);
    for (auto& [place, text] : d.notes) change(place.lineText), change(text);
  }
}

bool DiagEngine::isAssumed(DiagID id) const { return std::find(assumed_.begin(), assumed_.end(), id) != assumed_.end(); }

Severity DiagEngine::severityOf(DiagID id) const {
  const DiagInfo& row = diagInfo(id);
  if (!row.isAssumption()) return row.severity;
  if (isAssumed(id)) return Severity::Note;
  return strict_ ? Severity::Refusal : row.severity;
}

size_t DiagEngine::count(Severity severity) const {
  return static_cast<size_t>(
      std::count_if(diagnostics_.begin(), diagnostics_.end(), [&](const Diagnostic& d) { return d.severity == severity; }));
}

size_t DiagEngine::count(DiagID id) const {
  return static_cast<size_t>(std::count_if(diagnostics_.begin(), diagnostics_.end(), [&](const Diagnostic& d) { return d.id == id; }));
}

std::vector<Diagnostic> DiagEngine::sorted() const {
  std::vector<Diagnostic> out = diagnostics_;
  std::stable_sort(out.begin(), out.end(), [](const Diagnostic& a, const Diagnostic& b) {
    return std::tie(a.place.file, a.place.line, a.place.column, a.id) < std::tie(b.place.file, b.place.line, b.place.column, b.id);
  });
  return out;
}

}  // namespace hvdize
