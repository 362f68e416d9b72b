// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <tuple>

#include "rewriters/source/edit.h"

namespace hvdize {
namespace {

using EditKind = Edit::Kind;

bool isWrap(const Edit& e) { return e.kind == EditKind::Wrap || e.kind == EditKind::Braces; }
bool disjoint(const FileRange& a, const FileRange& b) { return a.file != b.file || a.end <= b.begin || b.end <= a.begin; }

/// A piece of new text at one place of the old one. At one place, what closes or follows earlier text comes first, from the
/// inside out; then what opens or precedes later text, from the outside in; then replaced text.
struct Piece {
  unsigned at;
  int phase;           // 0 closing, 1 opening, 2 replacing
  int64_t reach;       // closing: begin of the owner, larger (inner) first; opening: end of the owner, larger (outer) first
  int rank, order;
  const std::string* text;
  unsigned skip;       // bytes of the old text that it replaces

  auto key() const { return std::make_tuple(at, phase, -reach, rank, order); }
};

void addPieces(std::vector<Piece>& pieces, const Edit& e, int index) {
  const int closingRank = e.kind == EditKind::Wrap ? 0 : e.kind == EditKind::Insert ? 1 : 2;
  const int openingRank = e.kind == EditKind::Braces ? 0 : e.kind == EditKind::Insert ? 1 : 2;
  if (e.kind == EditKind::Replace) {
    pieces.push_back({e.range.begin, 2, 0, 0, index, &e.before, e.range.end - e.range.begin});
  } else if (e.kind == EditKind::Insert && e.side == Edit::Side::AfterPrevious) {
    pieces.push_back({e.range.begin, 0, e.owner.begin, closingRank, index, &e.before, 0});
  } else if (e.kind == EditKind::Insert) {
    pieces.push_back({e.range.begin, 1, e.owner.end, openingRank, index, &e.before, 0});
  } else {
    pieces.push_back({e.range.begin, 1, e.range.end, openingRank, -index, &e.before, 0});
    pieces.push_back({e.range.end, 0, e.range.begin, closingRank, index, &e.after, 0});
  }
}

}  // namespace

bool inConflict(const Edit& a, const Edit& b) {
  if (a.range.file != b.range.file) return false;
  if (a.kind == EditKind::Insert && b.kind == EditKind::Insert) return false;
  if (b.kind == EditKind::Replace && a.kind != EditKind::Replace) return inConflict(b, a);
  if (a.kind == EditKind::Replace) {
    if (b.kind == EditKind::Replace) return !disjoint(a.range, b.range);
    if (b.kind == EditKind::Insert) return a.range.begin < b.range.begin && b.range.begin < a.range.end;
    return !disjoint(a.range, b.range) && !b.range.contains(a.range);
  }
  if (!isWrap(a) || !isWrap(b)) return false;
  return !disjoint(a.range, b.range) && !a.range.contains(b.range) && !b.range.contains(a.range);
}

std::string applyEdits(llvm::StringRef buffer, llvm::ArrayRef<Edit> edits, LineMap* map) {
  std::vector<Piece> pieces;
  for (size_t i = 0; i < edits.size(); ++i) addPieces(pieces, edits[i], static_cast<int>(i));
  std::sort(pieces.begin(), pieces.end(), [](const Piece& a, const Piece& b) { return a.key() < b.key(); });

  std::string out;
  struct Kept {
    unsigned before, after, length;
  };
  std::vector<Kept> kept;
  unsigned cursor = 0;
  auto keepUpTo = [&](unsigned end) {
    if (end <= cursor) return;
    kept.push_back({cursor, static_cast<unsigned>(out.size()), end - cursor});
    out += buffer.slice(cursor, end);
    cursor = end;
  };
  for (const Piece& p : pieces) {
    keepUpTo(p.at);
    out += *p.text;
    cursor += p.skip;
  }
  keepUpTo(static_cast<unsigned>(buffer.size()));
  if (map) {
    *map = LineMap(buffer, out);
    for (const Kept& k : kept) map->keep(k.before, k.after, k.length);
  }
  return out;
}

}  // namespace hvdize
