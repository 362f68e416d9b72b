// SPDX-License-Identifier: Apache-2.0
#include "rewriters/source/line_map.h"

#include <algorithm>

namespace hvdize {

std::vector<unsigned> lineStarts(llvm::StringRef text) {
  std::vector<unsigned> starts = {0};
  for (unsigned i = 0; i < text.size(); ++i)
    if (text[i] == '\n') starts.push_back(i + 1);
  return starts;
}

LineMap::LineMap(llvm::StringRef before, llvm::StringRef after)
    : oldLines_(lineStarts(before)),
      newLines_(lineStarts(after)),
      oldSize_(static_cast<unsigned>(before.size())),
      newSize_(static_cast<unsigned>(after.size())) {}

void LineMap::keep(unsigned before, unsigned after, unsigned length) {
  if (length == 0) return;
  if (!kept_.empty() && kept_.back().before + kept_.back().length == before && kept_.back().after + kept_.back().length == after)
    kept_.back().length += length;
  else
    kept_.push_back({before, after, length});
}

unsigned LineMap::oldOffset(unsigned newOffset) const {
  // The first segment that ends behind the offset.
  auto s = std::upper_bound(kept_.begin(), kept_.end(), newOffset,
                            [](unsigned offset, const Segment& g) { return offset < g.after + g.length; });
  if (s == kept_.end()) return oldSize_;
  return newOffset < s->after ? s->before : s->before + (newOffset - s->after);
}

bool LineMap::isKept(unsigned newOffset) const {
  auto s = std::upper_bound(kept_.begin(), kept_.end(), newOffset,
                            [](unsigned offset, const Segment& g) { return offset < g.after + g.length; });
  return s != kept_.end() && newOffset >= s->after;
}

LineMap::Line LineMap::oldLine(unsigned newLine) const {
  if (newLines_.empty() || newLine == 0) return {newLine, true};
  const size_t index = std::min<size_t>(newLine, newLines_.size()) - 1;
  const unsigned begin = newLines_[index];
  const unsigned end = index + 1 < newLines_.size() ? newLines_[index + 1] : newSize_;
  const unsigned old = oldOffset(begin);
  const auto line = std::upper_bound(oldLines_.begin(), oldLines_.end(), old) - oldLines_.begin();
  bool unchanged = isKept(begin) || begin == end;
  if (begin < end) unchanged = unchanged && isKept(end - 1) && oldOffset(end - 1) - old == end - 1 - begin;
  return {static_cast<unsigned>(line), unchanged};
}

}  // namespace hvdize
