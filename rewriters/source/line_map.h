// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llvm/ADT/StringRef.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace hvdize {

/// The way from the rewritten text back to the author's: which bytes were kept.
class LineMap {
 public:
  LineMap() = default;
  LineMap(llvm::StringRef before, llvm::StringRef after);

  /// `length` bytes at `before` of the old text are those at `after` of the new one. In increasing order.
  void keep(unsigned before, unsigned after, unsigned length);

  /// The byte of the old text; for an inserted byte that of the next kept one (or the end).
  unsigned oldOffset(unsigned newOffset) const;
  /// Was this byte of the new text written by the author?
  bool isKept(unsigned newOffset) const;

  struct Line {
    unsigned line;  ///< in the old text, from 1
    bool unchanged; ///< the new line has the same text
  };
  /// For a line of the new text, from 1.
  Line oldLine(unsigned newLine) const;

 private:
  struct Segment {
    unsigned before, after, length;
  };
  std::vector<Segment> kept_;
  std::vector<unsigned> oldLines_, newLines_;  // offsets of line starts
  unsigned oldSize_ = 0, newSize_ = 0;
};

/// By the path of the file, as the compiler was given it.
using LineMaps = std::map<std::string, LineMap, std::less<>>;

/// Offsets at which lines start.
std::vector<unsigned> lineStarts(llvm::StringRef text);

}  // namespace hvdize
