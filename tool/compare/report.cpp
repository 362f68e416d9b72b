// SPDX-License-Identifier: Apache-2.0
#include "tool/compare/report.h"

#include <algorithm>
#include <cstdio>

#include "tool/compare/table.h"

namespace hvdize::compare {
namespace {

std::string plural(size_t count, const std::string& noun) { return std::to_string(count) + " " + noun + (count == 1 ? "" : "s"); }

std::string outputCell(const RankReport& r) {
  if (!r.ran) return "-";
  if (!r.text.equal()) return "differs at " + std::to_string(r.text.difference->line) + ":" + std::to_string(r.text.difference->column);
  if (r.ranks == 1) return "identical";
  std::string cell = "equal";
  if (r.text.lastPlace > 0) cell += ", " + std::to_string(r.text.lastPlace) + " off in the last place";
  if (r.text.withinTolerance > 0) cell += ", " + std::to_string(r.text.withinTolerance) + " within the tolerance";
  if (cell != "equal") cell += " of " + plural(r.text.numbersCompared, "number");
  return cell;
}

std::string filesCell(const RankReport& r) {
  if (!r.ran) return "-";
  if (!r.files.equal()) return "differ";
  if (r.files.files == 0) return "none";
  return std::to_string(r.files.files) + (r.files.identical == r.files.files ? " identical" : " equal");
}

std::string differenceCell(const RankReport& r) {
  if (!r.ran || r.files.checkpoints == 0) return "-";
  char text[32];
  std::snprintf(text, sizeof text, "%.2g", r.files.largest);
  return text;
}

std::string verdictCell(const RankReport& r) { return r.equal() ? "equal" : r.ran ? "DIFFERENT" : "FAILED"; }

std::string whereCell(const RankReport& r) {
  return !r.ran || r.files.largest == 0 || r.files.largestWhere.empty() ? "-" : r.files.largestWhere;
}

std::vector<std::string> cells(const RankReport& r) {
  return {std::to_string(r.ranks), outputCell(r), filesCell(r), differenceCell(r), whereCell(r), verdictCell(r)};
}

std::string details(const RankReport& r) {
  const std::string ranks = plural(static_cast<size_t>(r.ranks), "rank") + ": ";
  if (!r.ran) return ranks + r.failure + "\n";
  std::string out;
  if (!r.text.equal()) {
    const TextDifference& d = *r.text.difference;
    out += ranks + "standard output, line " + std::to_string(d.line) + ", column " + std::to_string(d.column) + ":\n";
    out += "  sequential:  " + d.expected + "\n  distributed: " + d.actual + "\n";
  }
  if (!r.files.equal()) out += ranks + r.files.difference + "\n";
  return out;
}

std::string footer(const Options& options, const std::vector<RankReport>& reports) {
  std::string out;
  if (!options.excludeTensors.empty()) {
    out += "left out, tensors that match";
    for (const std::string& expression : options.excludeTensors) out += " '" + expression + "'";
    const std::vector<std::string>* names = nullptr;
    for (const RankReport& r : reports)
      if (r.ran && (!names || r.files.excluded.size() > names->size())) names = &r.files.excluded;
    out += ":";
    if (!names || names->empty()) out += " none did";
    else
      for (const std::string& name : *names) out += " " + name;
    out += "\n";
  }
  if (!options.ignoreLines.empty()) {
    out += "left out, lines that match";
    for (const std::string& expression : options.ignoreLines) out += " '" + expression + "'";
    size_t lines = 0;
    for (const RankReport& r : reports)
      if (r.ran) lines = std::max(lines, r.text.linesIgnored);
    out += ": " + plural(lines, "line") + " of standard output\n";
  }
  return out;
}

}  // namespace

std::string renderReport(const Options& options, const std::vector<RankReport>& reports) {
  std::vector<std::vector<std::string>> rows = {
      {"ranks", "standard output", "files", "largest relative difference of a tensor", "where", "verdict"}};
  std::string notes;
  for (const RankReport& r : reports) {
    rows.push_back(cells(r));
    notes += details(r);
  }
  return renderTable(rows) + footer(options, reports) + notes;
}

std::string renderRows(const Options& options, const std::vector<RankReport>& reports) {
  std::string out;
  for (const RankReport& r : reports) {
    out += options.label;
    for (const std::string& cell : cells(r)) out += "\t" + cell;
    out += "\n";
  }
  return out;
}

}  // namespace hvdize::compare
