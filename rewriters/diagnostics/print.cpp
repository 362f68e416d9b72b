// SPDX-License-Identifier: Apache-2.0
#include "rewriters/diagnostics/print.h"

#include <algorithm>

namespace hvdize {
namespace {

struct TextWord {
  const char* text;
  llvm::raw_ostream::Colors color;
};

TextWord severityWord(Severity severity) {
  switch (severity) {
    case Severity::Note: return {"note: ", llvm::raw_ostream::CYAN};
    case Severity::Warning: return {"warning: ", llvm::raw_ostream::MAGENTA};
    case Severity::Refusal: case Severity::Running: return {"error: ", llvm::raw_ostream::RED};
  }
  return {"", llvm::raw_ostream::WHITE};
}

class Painter {
 public:
  Painter(llvm::raw_ostream& os, bool on) : os_(os), on_(on) {
    if (on) os.enable_colors(true);
  }
  void with(llvm::raw_ostream::Colors color, bool bold, llvm::StringRef text) {
    if (on_) os_.changeColor(color, bold);
    os_ << text;
    if (on_) os_.resetColor();
  }

 private:
  llvm::raw_ostream& os_;
  bool on_;
};

std::string placeText(const DiagPlace& place) {
  std::string out = place.file.empty() ? "hvdize" : place.file;
  if (place.line > 0) out += ":" + std::to_string(place.line) + ":" + std::to_string(place.column);
  return out + ": ";
}

/// Width on the screen: tabs to multiples of 8, one column for a UTF-8 sequence.
void appendExpanded(std::string& out, llvm::StringRef text, size_t& column) {
  for (char c : text) {
    if (c == '\t') {
      const size_t n = 8 - column % 8;
      out.append(n, ' ');
      column += n;
    } else {
      out += c;
      if ((static_cast<unsigned char>(c) & 0xC0) != 0x80) ++column;
    }
  }
}

void printSnippet(llvm::raw_ostream& os, Painter& paint, const DiagPlace& place) {
  if (place.line == 0 || place.lineText.empty()) return;
  const llvm::StringRef line = place.lineText;
  const size_t begin = std::min<size_t>(place.column - 1, line.size());
  const bool oneLine = place.endLine == place.line && place.endColumn > place.column;
  const size_t end = place.endLine > place.line ? line.size() : oneLine ? std::min<size_t>(place.endColumn - 1, line.size()) : begin;
  std::string shown;
  size_t column = 0;
  appendExpanded(shown, line.take_front(begin), column);
  const size_t caretAt = column;
  appendExpanded(shown, line.slice(begin, end), column);
  const size_t caretEnd = column;
  appendExpanded(shown, line.drop_front(std::max(begin, end)), column);
  std::string margin = place.inRewritten ? "+" : std::to_string(place.line);
  margin.insert(0, margin.size() < 5 ? 5 - margin.size() : 0, ' ');
  os << margin << " | " << shown << "\n" << std::string(margin.size(), ' ') << " | " << std::string(caretAt, ' ');
  paint.with(llvm::raw_ostream::GREEN, true, "^" + std::string(caretEnd > caretAt + 1 ? caretEnd - caretAt - 1 : 0, '~'));
  os << "\n";
}

std::string idTag(const Diagnostic& d) {
  const DiagInfo& row = diagInfo(d.id);
  std::string tag = idString(d.id);
  if (row.isAssumption()) {
    tag += ", --assume=" + std::string(row.assume);
    if (d.refusedByStrict) tag += ", refused by --strict";
    if (d.severity == Severity::Note) tag += " given";
  }
  return tag;
}

llvm::json::Object placeJson(const DiagPlace& p) {
  llvm::json::Object o{{"file", p.file}};
  if (p.line > 0) {
    o["line"] = p.line;
    o["column"] = p.column;
    o["endLine"] = p.endLine;
    o["endColumn"] = p.endColumn;
  }
  if (p.inRewritten) o["inRewrittenText"] = true;
  return o;
}

}  // namespace

void printDiagnostic(llvm::raw_ostream& os, const Diagnostic& d, const PrintOptions& options) {
  Painter paint(os, options.color);
  const TextWord word = severityWord(d.severity);
  paint.with(llvm::raw_ostream::SAVEDCOLOR, true, placeText(d.place));
  // The first line of a report is about the file: it reads better without "note:".
  if (d.severity != Severity::Note || d.place.line > 0) paint.with(word.color, true, word.text);
  os << d.message << " [" << idTag(d) << "]\n";
  if (options.carets) printSnippet(os, paint, d.place);
  for (const auto& [place, text] : d.notes) {
    paint.with(llvm::raw_ostream::SAVEDCOLOR, true, placeText(place));
    os << "  " << text << "\n";
    if (options.carets) printSnippet(os, paint, place);
  }
}

void printDiagnostics(llvm::raw_ostream& os, llvm::ArrayRef<Diagnostic> diagnostics, const PrintOptions& options) {
  for (const Diagnostic& d : diagnostics)
    if (options.notes || d.severity != Severity::Note) printDiagnostic(os, d, options);
}

llvm::json::Value toJson(const Diagnostic& d) {
  const DiagInfo& row = diagInfo(d.id);
  const char* severity = d.severity == Severity::Note ? "note" : d.severity == Severity::Warning ? "warning" : "refusal";
  llvm::json::Object o{{"id", idString(d.id)}, {"name", std::string(row.name)}, {"severity", severity}, {"message", d.message},
                       {"place", placeJson(d.place)}};
  if (row.isAssumption()) o["assume"] = std::string(row.assume);
  if (d.refusedByStrict) o["refusedByStrict"] = true;
  llvm::json::Array notes;
  for (const auto& [place, text] : d.notes) notes.push_back(llvm::json::Object{{"place", placeJson(place)}, {"message", text}});
  if (!notes.empty()) o["notes"] = std::move(notes);
  return o;
}

}  // namespace hvdize
