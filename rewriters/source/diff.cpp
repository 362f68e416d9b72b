// SPDX-License-Identifier: Apache-2.0
//
// Greedy shortest edit script (E. Myers, "An O(ND) Difference Algorithm and Its Variations", Algorithmica 1986), by lines.
#include "rewriters/source/diff.h"

#include <algorithm>
#include <vector>

namespace hvdize {
namespace {

std::vector<llvm::StringRef> splitLines(llvm::StringRef text) {
  std::vector<llvm::StringRef> lines;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    const size_t length = end == llvm::StringRef::npos ? text.size() : end + 1;
    lines.push_back(text.take_front(length));
    text = text.drop_front(length);
  }
  return lines;
}

using Step = DiffStep;
using Lines = std::vector<llvm::StringRef>;

/// For each number of differences, how far each diagonal reached before it.
std::vector<std::vector<int>> searchForward(const Lines& a, const Lines& b) {
  const int n = static_cast<int>(a.size()), m = static_cast<int>(b.size()), most = n + m;
  std::vector<int> reach(static_cast<size_t>(2 * most + 3), 0);
  auto at = [&](int k) -> int& { return reach[static_cast<size_t>(k + most + 1)]; };
  std::vector<std::vector<int>> history;
  for (int d = 0; d <= most; ++d) {
    history.push_back(reach);
    for (int k = -d; k <= d; k += 2) {
      int x = k == -d || (k != d && at(k - 1) < at(k + 1)) ? at(k + 1) : at(k - 1) + 1;
      while (x < n && x - k < m && a[static_cast<size_t>(x)] == b[static_cast<size_t>(x - k)]) ++x;
      at(k) = x;
      if (x >= n && x - k >= m) return history;
    }
  }
  return history;
}

std::vector<Step> shortestScript(const Lines& a, const Lines& b) {
  const int most = static_cast<int>(a.size() + b.size());
  const auto history = searchForward(a, b);
  std::vector<Step> steps;
  int x = static_cast<int>(a.size()), y = static_cast<int>(b.size());
  for (int d = static_cast<int>(history.size()) - 1; d >= 0; --d) {
    auto at = [&](int k) { return history[static_cast<size_t>(d)][static_cast<size_t>(k + most + 1)]; };
    const int k = x - y;
    const int previous = k == -d || (k != d && at(k - 1) < at(k + 1)) ? k + 1 : k - 1;
    const int fromX = d == 0 ? 0 : at(previous), fromY = d == 0 ? 0 : fromX - previous;
    while (x > fromX && y > fromY) steps.push_back({' ', a[static_cast<size_t>(--x)]}), --y;
    if (d == 0) break;
    if (x == fromX) steps.push_back({'+', b[static_cast<size_t>(--y)]});
    else steps.push_back({'-', a[static_cast<size_t>(--x)]});
  }
  std::reverse(steps.begin(), steps.end());
  return steps;
}

std::string rangeText(size_t start, size_t count) {
  std::string text = std::to_string(count == 0 ? start : start + 1);
  return count == 1 ? text : text + "," + std::to_string(count);
}

constexpr size_t kContext = 3;

}  // namespace

std::vector<DiffStep> diffLines(llvm::StringRef before, llvm::StringRef after) { return shortestScript(splitLines(before), splitLines(after)); }

std::string unifiedDiff(llvm::StringRef before, llvm::StringRef after, llvm::StringRef beforeName, llvm::StringRef afterName) {
  if (before == after) return "";
  const std::vector<Step> steps = shortestScript(splitLines(before), splitLines(after));
  std::string out = ("--- " + beforeName + "\n+++ " + afterName + "\n").str();
  size_t oldLine = 0, newLine = 0, i = 0;
  while (i < steps.size()) {
    // A hunk: from three lines before the next change until six equal lines in a row.
    size_t change = i;
    while (change < steps.size() && steps[change].sign == ' ') ++change;
    if (change == steps.size()) break;
    const size_t begin = std::max(i, change - std::min(change, kContext));
    oldLine += begin - i;
    newLine += begin - i;
    size_t end = change, last = change;
    while (end < steps.size() && end - last <= 2 * kContext) {
      if (steps[end].sign != ' ') last = end;
      ++end;
    }
    end = std::min(steps.size(), last + 1 + kContext);
    size_t removed = 0, added = 0;
    std::string body;
    for (size_t s = begin; s < end; ++s) {
      removed += steps[s].sign != '+';
      added += steps[s].sign != '-';
      body += steps[s].sign;
      body += steps[s].line;
      if (!steps[s].line.ends_with("\n")) body += "\n\\ No newline at end of file\n";
    }
    out += "@@ -" + rangeText(oldLine, removed) + " +" + rangeText(newLine, added) + " @@\n" + body;
    oldLine += removed;
    newLine += added;
    i = end;
  }
  return out;
}

}  // namespace hvdize
