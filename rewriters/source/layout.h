// SPDX-License-Identifier: Apache-2.0
//
// How a file is laid out: line ends, indentation, what shares a line. Plain text, no AST.
#pragma once

#include <llvm/ADT/StringRef.h>

#include <string>

namespace hvdize {

/// "\r\n" when the first line ends so, else "\n".
std::string lineEnding(llvm::StringRef text);
/// One level of indentation as the file uses it: a tab, or the spaces of the first indented line after a '{', labels aside; two spaces when
/// there is none.
std::string indentationUnit(llvm::StringRef text);
/// Offset of the first byte of the line that holds `offset` (behind a byte order mark).
unsigned lineBegin(llvm::StringRef text, unsigned offset);
/// Offset of the end of that line: of its "\n", "\r\n" or the end of the file.
unsigned lineEnd(llvm::StringRef text, unsigned offset);
/// The blanks and tabs that the line of `offset` begins with.
llvm::StringRef indentationAt(llvm::StringRef text, unsigned offset);
/// Only blanks before `offset` on its line?
bool isFirstOnLine(llvm::StringRef text, unsigned offset);
/// Only blanks and comments that end on the same line between `offset` and the end of its line?
bool onlyCommentFollows(llvm::StringRef text, unsigned offset);
/// `code` with its lines separated by `eol` + `indent` (the first line gets neither; empty lines no indentation).
std::string layOut(llvm::StringRef code, llvm::StringRef eol, llvm::StringRef indent);
/// Can `code` share a line with what follows it?
bool canShareLine(llvm::StringRef code);

}  // namespace hvdize
