// SPDX-License-Identifier: Apache-2.0
#include "rewriters/source/format.h"

#include <clang/Format/Format.h>

#include <algorithm>

#include "rewriters/source/layout.h"

namespace hvdize {
namespace {

namespace format = clang::format;

/// Formatting options that change more than white space, or lines beyond the given ones, are switched off.
void onlyWhiteSpace(format::FormatStyle& style) {
  style.SortIncludes = format::FormatStyle::SI_Never;
  style.SortUsingDeclarations = format::FormatStyle::SUD_Never;
  style.QualifierAlignment = format::FormatStyle::QAS_Leave;
  style.InsertTrailingCommas = format::FormatStyle::TCS_None;
  style.RemoveParentheses = format::FormatStyle::RPS_Leave;
  style.SeparateDefinitionBlocks = format::FormatStyle::SDS_Leave;
  style.InsertBraces = style.RemoveBracesLLVM = style.RemoveSemicolon = false;
  style.FixNamespaceComments = style.InsertNewlineAtEOF = style.ReflowComments = false;
}

struct Span {
  unsigned begin, end;
};

/// The changed lines, neighbouring ones joined, without the end of the last.
std::vector<Span> changedLines(llvm::StringRef text, const LineMap& map) {
  std::vector<Span> spans;
  const std::vector<unsigned> starts = lineStarts(text);
  for (size_t i = 0; i < starts.size(); ++i) {
    if (map.oldLine(static_cast<unsigned>(i + 1)).unchanged) continue;
    const Span line{starts[i], lineEnd(text, starts[i])};
    if (!spans.empty() && i > 0 && spans.back().begin <= starts[i - 1] && spans.back().end == lineEnd(text, starts[i - 1]))
      spans.back().end = line.end;
    else
      spans.push_back(line);
  }
  return spans;
}

std::string withoutWhiteSpace(llvm::StringRef text) {
  std::string out;
  std::copy_if(text.begin(), text.end(), std::back_inserter(out), [](char c) { return c != ' ' && c != '\t' && c != '\n' && c != '\r'; });
  return out;
}

struct Change {
  unsigned begin, end;
  llvm::StringRef text;
};

/// The part of a replacement that differs from what it replaces.
Change trimmed(llvm::StringRef text, const clang::tooling::Replacement& r) {
  Change c{r.getOffset(), r.getOffset() + r.getLength(), r.getReplacementText()};
  while (c.begin < c.end && !c.text.empty() && text[c.end - 1] == c.text.back()) --c.end, c.text = c.text.drop_back();
  while (c.begin < c.end && !c.text.empty() && text[c.begin] == c.text.front()) ++c.begin, c.text = c.text.drop_front();
  return c;
}

}  // namespace

std::string formatChangedLines(llvm::StringRef text, const LineMap& map, llvm::StringRef path) {
  auto style = format::getStyle("file", path, "none", text);
  if (!style) {
    llvm::consumeError(style.takeError());  // an author's broken .clang-format is no reason to fail
    return text.str();
  }
  if (style->DisableFormat) return text.str();
  onlyWhiteSpace(*style);
  const std::vector<Span> spans = changedLines(text, map);
  std::vector<clang::tooling::Range> ranges;
  for (const Span& s : spans) ranges.emplace_back(s.begin, s.end - s.begin);
  std::string out;
  unsigned cursor = 0;
  for (const clang::tooling::Replacement& r : format::reformat(*style, text, ranges, path)) {
    const Change c = trimmed(text, r);
    const bool inside = std::any_of(spans.begin(), spans.end(), [&](const Span& s) { return s.begin <= c.begin && c.end <= s.end; });
    if (!inside || c.begin < cursor) continue;
    out += text.slice(cursor, c.begin);
    out += c.text;
    cursor = c.end;
  }
  out += text.substr(cursor);
  return withoutWhiteSpace(out) == withoutWhiteSpace(text) ? out : text.str();
}

}  // namespace hvdize
