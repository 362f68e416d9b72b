// SPDX-License-Identifier: Apache-2.0
#include "tool/html.h"

#include <algorithm>
#include <map>
#include <set>

#include "rewriters/source/diff.h"
#include "tool/html_style.h"

namespace hvdize::tool {
namespace {

std::string escaped(llvm::StringRef text) {
  std::string out;
  for (char c : text) {
    if (c == '&') out += "&amp;";
    else if (c == '<') out += "&lt;";
    else if (c == '>') out += "&gt;";
    else if (c == '"') out += "&quot;";
    else out += c;
  }
  return out;
}

std::string link(const std::string& target, const std::string& text, const std::string& attributes = "") {
  return "<a href=\"#" + target + "\"" + attributes + ">" + text + "</a>";
}

std::string pageLink(DiagID id) { return link("page-" + idString(id), idString(id)); }

/// A line of the old file beside one of the new one; either may be missing (number 0).
struct Row {
  unsigned oldNumber = 0, newNumber = 0;
  llvm::StringRef oldText, newText;
  bool same() const { return oldNumber && newNumber && oldText == newText; }
};

/// Removed and added lines that stand together stand beside each other.
std::vector<Row> rowsOf(const FileResult& f) {
  std::vector<Row> rows;
  unsigned oldNumber = 0, newNumber = 0;
  size_t block = 0;  // the first row of the change that is under way
  for (const DiffStep& s : diffLines(f.input, f.output)) {
    const llvm::StringRef text = s.line.rtrim("\r\n");
    if (s.sign == ' ') {
      rows.push_back({++oldNumber, ++newNumber, text, text});
      block = rows.size();
    } else if (s.sign == '-') {
      auto at = std::find_if(rows.begin() + static_cast<std::ptrdiff_t>(block), rows.end(), [](const Row& r) { return !r.oldNumber; });
      if (at == rows.end()) at = rows.insert(rows.end(), Row());
      at->oldNumber = ++oldNumber, at->oldText = text;
    } else {
      auto at = std::find_if(rows.begin() + static_cast<std::ptrdiff_t>(block), rows.end(), [](const Row& r) { return !r.newNumber; });
      if (at == rows.end()) at = rows.insert(rows.end(), Row());
      at->newNumber = ++newNumber, at->newText = text;
    }
  }
  return rows;
}

class Page {
 public:
  std::string run(const std::vector<Outcome>& outcomes) {
    for (const Outcome& o : outcomes)
      for (const FileResult& f : o.result.files) numberOf(f.path);
    for (const Outcome& o : outcomes) program(o);
    pages();
    return "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>hvdize report</title><style>" +
           std::string(kStyle) + "</style></head>\n<body><h1>hvdize " HVDIZE_VERSION "</h1>\n" + body_ + "</body></html>\n";
  }

 private:
  static std::string verdict(RewriteStatus status) {
    switch (status) {
      case RewriteStatus::Written: return "rewritten";
      case RewriteStatus::Unchanged: return "nothing to do";
      case RewriteStatus::Refused: return "refused: nothing is written";
      case RewriteStatus::DoesNotCompile: return "does not compile";
    }
    return "";
  }

  std::string numberOf(const std::string& path) { return "file-" + std::to_string(files_.emplace(path, files_.size()).first->second); }
  std::string rowId(const std::string& path, unsigned line) { return numberOf(path) + "-" + std::to_string(line); }

  void program(const Outcome& o) {
    body_ += "<h2>" + escaped(o.job.file) + ": " + verdict(o.result.status) + "</h2>\n";
    if (!o.result.compilerOutput.empty()) body_ += "<pre class=\"code\">" + escaped(o.result.compilerOutput) + "</pre>\n";
    if (!o.diagnostics.empty()) diagnostics(o);
    for (const FileResult& f : o.result.files)
      if (f.output != f.input) file(f);
  }

  void diagnostics(const Outcome& o) {
    std::set<std::string> shown;
    for (const FileResult& f : o.result.files)
      if (f.output != f.input) shown.insert(f.path);
    size_t notes = 0;
    std::string loud, quiet;
    for (const Diagnostic& d : o.diagnostics) {
      notes += d.severity == Severity::Note;
      (d.severity == Severity::Note ? quiet : loud) += entry(d, shown);
    }
    if (!loud.empty()) body_ += "<ul class=\"list\">\n" + loud + "</ul>\n";
    if (notes) body_ += "<details><summary>" + std::to_string(notes) + (notes == 1 ? " note" : " notes") + "</summary><ul class=\"list\">\n" + quiet + "</ul></details>\n";
  }

  std::string entry(const Diagnostic& d, const std::set<std::string>& shown) {
    used_.insert(d.id);
    const char* severity = d.severity == Severity::Note ? "note" : d.severity == Severity::Warning ? "warning" : "error";
    std::string place = escaped(d.place.file) + (d.place.line ? ":" + std::to_string(d.place.line) : "");
    if (d.place.line && shown.count(d.place.file)) place = link(rowId(d.place.file, d.place.line), place), marked_.insert({d.place.file, d.place.line});
    std::string text = "<li><span class=\"place\">" + place + "</span> <span class=\"severity-" + severity + "\">" + severity + "</span> " + escaped(d.message) + " " + pageLink(d.id);
    if (d.place.line && !shown.count(d.place.file) && !d.place.lineText.empty()) text += "<div class=\"code text\">" + escaped(d.place.lineText) + "</div>";
    for (const auto& [at, note] : d.notes) text += "<br><span class=\"place\">" + escaped(at.file) + ":" + std::to_string(at.line) + "</span> " + escaped(note);
    return text + "</li>\n";
  }

  void file(const FileResult& f) {
    const std::string name = numberOf(f.path);
    std::map<unsigned, std::string> why;  // links to the edits of a line
    std::string list;
    for (size_t i = 0; i < f.edits.size(); ++i) {
      const Edit& e = f.edits[i];
      if (e.kind == Edit::Kind::Braces) continue;
      const std::string id = name + "-edit-" + std::to_string(i);
      used_.insert(e.why.id);
      marked_.insert({f.path, f.editLines[i]});
      why[f.editLines[i]] += link(id, idString(e.why.id), " class=\"why\" title=\"" + escaped(e.why.text) + "\"");
      list += "<li id=\"" + id + "\">" + link(rowId(f.path, f.editLines[i]), "line " + std::to_string(f.editLines[i])) + ": " + escaped(e.why.text) + " " + pageLink(e.why.id) + "</li>\n";
    }
    body_ += "<h3 id=\"" + name + "\">" + escaped(f.path) + "</h3>\n";
    if (!list.empty()) body_ += "<details><summary>each edit with its reason</summary><ul class=\"list\">\n" + list + "</ul></details>\n";
    sideBySide(f, why);
  }

  void sideBySide(const FileResult& f, const std::map<unsigned, std::string>& why) {
    const std::vector<Row> rows = rowsOf(f);
    const int n = static_cast<int>(rows.size()), context = 3;
    std::vector<bool> near(rows.size(), false);
    for (int i = 0; i < n; ++i) {
      const Row& r = rows[static_cast<size_t>(i)];
      if (r.same() && !marked_.count({f.path, r.oldNumber})) continue;
      for (int k = std::max(0, i - context); k <= std::min(n - 1, i + context); ++k) near[static_cast<size_t>(k)] = true;
    }
    body_ += "<div class=\"code\">\n";
    for (size_t i = 0; i < rows.size();) {
      size_t end = i;
      while (end < rows.size() && near[end] == near[i]) ++end;
      if (!near[i]) body_ += "<details><summary>" + std::to_string(end - i) + " unchanged lines</summary>\n";
      const bool folded = !near[i];
      for (; i < end; ++i) row(f, rows[i], why);
      if (folded) body_ += "</details>\n";
    }
    body_ += "</div>\n";
  }

  void row(const FileResult& f, const Row& r, const std::map<unsigned, std::string>& why) {
    const auto cells = [&](unsigned number, llvm::StringRef text, const char* place, const char* change, const std::string& links) {
      const std::string classes = std::string(place) + (number ? r.same() ? "" : std::string(" ") + change : " empty");
      return "<div class=\"number " + classes + "\">" + (number ? std::to_string(number) : "") + "</div><div class=\"text " + classes + "\">" + links + escaped(text) + "</div>";
    };
    const auto links = why.find(r.oldNumber);
    body_ += std::string("<div class=\"row") + (r.same() ? " same" : "") + "\"" + (r.oldNumber ? " id=\"" + rowId(f.path, r.oldNumber) + "\"" : "") + ">" +
             cells(r.oldNumber, r.oldText, "before", "removed", links == why.end() ? "" : links->second) + cells(r.newNumber, r.newText, "after", "added", "") + "</div>\n";
  }

  void pages() {
    if (used_.empty()) return;
    body_ += "<h2>What the numbers mean</h2>\n";
    for (DiagID id : used_) {
      std::string text;
      llvm::raw_string_ostream os(text);
      explain(os, diagInfo(id));
      body_ += "<section class=\"page\" id=\"page-" + idString(id) + "\"><pre>" + escaped(text) + "</pre></section>\n";
    }
  }

  std::string body_;
  std::map<std::string, size_t> files_;
  std::set<std::pair<std::string, unsigned>> marked_;
  std::set<DiagID> used_;
};

}  // namespace

std::string htmlReport(const std::vector<Outcome>& outcomes) { return Page().run(outcomes); }

}  // namespace hvdize::tool
