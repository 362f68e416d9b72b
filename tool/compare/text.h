// SPDX-License-Identifier: Apache-2.0
//
// Comparison of text: standard output, logs, CSV files.
#pragma once

#include <cstddef>
#include <optional>
#include <regex>
#include <string>
#include <vector>

namespace hvdize::compare {

/// A word or a number of a line. Numbers are what a trainer prints: 12, -0.5, 1.3e-05. A digit that follows a letter, as in
/// conv1, is part of the word.
struct Token {
  enum Kind { Word, Number } kind;
  std::string text;
  size_t column;  ///< from 1
};

/// The tokens of one line; spaces only separate them, because a column's padding depends on the digits of its numbers.
std::vector<Token> tokenize(const std::string& line);

enum class Agreement { Same, LastPlace, Tolerance, None };

/// How two numbers, as printed, agree: whole numbers exactly or not at all; others to one unit in the last place of the one that
/// is printed finer, or else within `tolerance`, relative to the larger.
Agreement numbersAgree(const std::string& a, const std::string& b, double tolerance);

struct TextRules {
  bool exact = false;  ///< every byte, apart from ignored lines
  double tolerance = 1e-10;
  std::vector<std::regex> ignoredLines;
};

struct TextDifference {
  size_t line, column;  ///< in the expected text, from 1
  std::string expected, actual;
};

struct TextComparison {
  std::optional<TextDifference> difference;  ///< the first one; none: equal
  size_t numbersCompared = 0;
  size_t lastPlace = 0;        ///< not printed alike, but to one unit in the last place
  size_t withinTolerance = 0;  ///< further apart than that, but within the tolerance
  size_t linesIgnored = 0;     ///< in the expected text

  bool equal() const { return !difference; }
};

TextComparison compareText(const std::string& expected, const std::string& actual, const TextRules& rules);

}  // namespace hvdize::compare
