// SPDX-License-Identifier: Apache-2.0
#include "tool/compare/table.h"

#include <algorithm>

namespace hvdize::compare {
namespace {

size_t width(const std::string& text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

}  // namespace

std::string renderTable(const std::vector<std::vector<std::string>>& rows) {
  std::vector<size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], width(row[c]));
  }
  std::string out;
  for (size_t r = 0; r < rows.size(); ++r) {
    std::string line;
    for (size_t c = 0; c < rows[r].size(); ++c) {
      line += (c ? "  " : "") + rows[r][c];
      if (c + 1 < rows[r].size()) line += std::string(widths[c] - width(rows[r][c]), ' ');
    }
    out += line + "\n";
    if (r > 0) continue;
    for (size_t c = 0; c < widths.size(); ++c) out += (c ? "  " : "") + std::string(widths[c], '-');
    out += "\n";
  }
  return out;
}

}  // namespace hvdize::compare
