// SPDX-License-Identifier: Apache-2.0
#include "rewriters/source/line_directives.h"

#include <clang/Basic/LangOptions.h>
#include <clang/Lex/Lexer.h>

#include <algorithm>
#include <vector>

namespace hvdize {
namespace {

/// For each line: may a directive stand in front of it?
std::vector<bool> directivePlaces(llvm::StringRef text, llvm::ArrayRef<unsigned> starts) {
  std::vector<bool> free(starts.size(), true);
  const auto block = [&](unsigned begin, unsigned end) {  // the lines that begin inside of these bytes
    for (auto s = std::upper_bound(starts.begin(), starts.end(), begin); s != starts.end() && *s < end; ++s) free[s - starts.begin()] = false;
  };
  for (size_t i = 1; i < starts.size(); ++i) {
    llvm::StringRef before = text.slice(starts[i - 1], starts[i]).rtrim("\r\n");
    if (before.ends_with("\\")) free[i] = false;
  }
  clang::LangOptions lo;
  lo.CPlusPlus = lo.CPlusPlus11 = lo.CPlusPlus20 = lo.LineComment = true;
  const std::string buffer = text.str();  // ends with a zero, as the lexer wants
  clang::Lexer lexer(clang::SourceLocation::getFromRawEncoding(1), lo, buffer.data(), buffer.data(), buffer.data() + buffer.size());
  lexer.SetKeepWhitespaceMode(false);
  lexer.SetCommentRetentionState(true);
  clang::Token token;
  for (bool last = false; !last;) {
    last = lexer.LexFromRawLexer(token);
    const unsigned end = static_cast<unsigned>(lexer.getBufferLocation() - buffer.data());
    if (!last) block(end - token.getLength(), end);
  }
  return free;
}

std::string quoted(llvm::StringRef name) {
  std::string out = "\"";
  for (char c : name) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

}  // namespace

std::string withLineDirectives(llvm::StringRef text, const LineMap& map, llvm::StringRef name) {
  const bool marked = text.consume_front("\xEF\xBB\xBF");  // a byte order mark stays first
  const std::vector<unsigned> starts = lineStarts(text);
  const std::vector<bool> free = directivePlaces(text, starts);
  const llvm::StringRef eol = text.contains("\r\n") ? "\r\n" : "\n";
  std::string out = ((marked ? "\xEF\xBB\xBF" : "") + llvm::Twine("#line 1 ") + quoted(name) + eol).str();
  unsigned expected = 1;
  for (size_t i = 0; i < starts.size(); ++i) {
    const unsigned end = i + 1 < starts.size() ? starts[i + 1] : static_cast<unsigned>(text.size());
    const unsigned line = map.oldLine(static_cast<unsigned>(i + 1)).line;
    if (line != expected && free[i] && starts[i] < end) {
      out += ("#line " + llvm::Twine(line) + eol).str();
      expected = line;
    }
    out += text.slice(starts[i], end);
    ++expected;
  }
  return out;
}

}  // namespace hvdize
