// SPDX-License-Identifier: Apache-2.0
#include "rewriters/source/layout.h"

#include <llvm/ADT/SmallVector.h>

namespace hvdize {
namespace {

constexpr llvm::StringLiteral kByteOrderMark = "\xEF\xBB\xBF";

bool isBlank(llvm::StringRef s) { return s.find_first_not_of(" \t") == llvm::StringRef::npos; }

}  // namespace

std::string lineEnding(llvm::StringRef text) {
  const size_t newline = text.find('\n');
  return newline != llvm::StringRef::npos && newline > 0 && text[newline - 1] == '\r' ? "\r\n" : "\n";
}

std::string indentationUnit(llvm::StringRef text) {
  llvm::StringRef rest = text;
  llvm::StringRef previous;
  while (!rest.empty()) {
    auto [line, next] = rest.split('\n');
    const llvm::StringRef body = line.rtrim();
    const llvm::StringRef indent = body.take_while([](char c) { return c == ' ' || c == '\t'; });
    const llvm::StringRef outer = previous.take_while([](char c) { return c == ' ' || c == '\t'; });
    // ` public:` and `case 1:` are often indented by less.
    if (previous.ends_with("{") && !body.empty() && !body.ends_with(":") && indent.size() > outer.size() && indent.starts_with(outer))
      return indent.drop_front(outer.size()).str();
    if (!body.empty()) previous = body;
    rest = next;
  }
  return "  ";
}

unsigned lineBegin(llvm::StringRef text, unsigned offset) {
  const size_t newline = text.take_front(offset).rfind('\n');
  if (newline != llvm::StringRef::npos) return static_cast<unsigned>(newline + 1);
  return text.starts_with(kByteOrderMark) && offset >= kByteOrderMark.size() ? static_cast<unsigned>(kByteOrderMark.size()) : 0;
}

unsigned lineEnd(llvm::StringRef text, unsigned offset) {
  size_t end = text.find('\n', offset);
  if (end == llvm::StringRef::npos) return static_cast<unsigned>(text.size());
  if (end > offset && text[end - 1] == '\r') --end;
  return static_cast<unsigned>(end);
}

llvm::StringRef indentationAt(llvm::StringRef text, unsigned offset) {
  return text.substr(lineBegin(text, offset)).take_while([](char c) { return c == ' ' || c == '\t'; });
}

bool isFirstOnLine(llvm::StringRef text, unsigned offset) {
  const unsigned begin = lineBegin(text, offset);
  return isBlank(text.slice(begin, offset));
}

bool onlyCommentFollows(llvm::StringRef text, unsigned offset) {
  llvm::StringRef rest = text.slice(offset, lineEnd(text, offset));
  while (true) {
    rest = rest.ltrim(" \t");
    if (rest.empty() || rest.starts_with("//")) return !rest.ends_with("\\");  // a continued comment reaches into the next line
    if (!rest.consume_front("/*")) return false;
    const size_t close = rest.find("*/");
    if (close == llvm::StringRef::npos) return false;
    rest = rest.drop_front(close + 2);
  }
}

std::string layOut(llvm::StringRef code, llvm::StringRef eol, llvm::StringRef indent) {
  llvm::SmallVector<llvm::StringRef, 4> lines;
  code.split(lines, '\n');
  std::string out;
  for (size_t i = 0; i < lines.size(); ++i) {
    if (i > 0) out += eol;
    if (i > 0 && !lines[i].empty()) out += indent;
    out += lines[i];
  }
  return out;
}

bool canShareLine(llvm::StringRef code) { return !code.contains('\n') && !code.contains("//") && !code.starts_with("#"); }

}  // namespace hvdize
