// SPDX-License-Identifier: Apache-2.0
#include "rewriters/source/system_header.h"

#include <llvm/ADT/StringRef.h>

namespace hvdize {
namespace {

/// `from` and `to`, of the same length, stand in front of "GCC system_header" on a line.
std::string exchanged(std::string text, llvm::StringRef from, llvm::StringRef to) {
  for (size_t at = 0; (at = text.find("system_header", at)) != std::string::npos; ++at) {
    const size_t newline = text.rfind('\n', at), begin = newline == std::string::npos ? 0 : newline + 1;
    const llvm::StringRef line = llvm::StringRef(text).slice(begin, at).ltrim();
    llvm::StringRef words = line;
    if (!words.consume_front(from)) continue;
    words = words.trim();
    if (words == "GCC" || words == "clang") text.replace(at - line.size(), from.size(), to.str());
  }
  return text;
}

}  // namespace

std::string readAsAuthors(std::string text) { return exchanged(std::move(text), "#pragma", "//ragma"); }
std::string asWritten(std::string text) { return exchanged(std::move(text), "//ragma", "#pragma"); }

}  // namespace hvdize
