// SPDX-License-Identifier: Apache-2.0
#include "tool/compare/text.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>

namespace hvdize::compare {
namespace {

bool isDigit(char c) { return c >= '0' && c <= '9'; }
bool isSpace(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }
bool isWordCharacter(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

size_t skipDigits(const std::string& s, size_t at) {
  while (at < s.size() && isDigit(s[at])) ++at;
  return at;
}

// Length of the number that starts at `at`, 0 when none does.
size_t numberLength(const std::string& s, size_t at) {
  if (at > 0 && isWordCharacter(s[at - 1])) return 0;
  size_t end = at;
  if (s[end] == '-' || s[end] == '+') ++end;
  const size_t whole = end;
  end = skipDigits(s, end);
  bool digits = end > whole;
  if (end < s.size() && s[end] == '.') {
    const size_t fraction = skipDigits(s, end + 1);
    // "5." at the end of a sentence is the number 5.
    if (fraction > end + 1) {
      digits = true;
      end = fraction;
    }
  }
  if (!digits) return 0;
  if (end < s.size() && (s[end] == 'e' || s[end] == 'E')) {
    size_t exponent = end + 1;
    if (exponent < s.size() && (s[exponent] == '-' || s[exponent] == '+')) ++exponent;
    if (skipDigits(s, exponent) > exponent) end = skipDigits(s, exponent);
  }
  return end - at;
}

bool isWhole(const std::string& number) { return number.find_first_of(".eE") == std::string::npos; }

// The value of one unit in the last printed place: 0.001 for 1.234, 1e-8 for 1.234e-05.
double lastPlace(const std::string& number) {
  const size_t mark = number.find_first_of("eE");
  const std::string mantissa = number.substr(0, mark);
  const int exponent = mark == std::string::npos ? 0 : std::atoi(number.c_str() + mark + 1);
  const size_t point = mantissa.find('.');
  const int decimals = point == std::string::npos ? 0 : static_cast<int>(mantissa.size() - point - 1);
  return std::pow(10.0, exponent - decimals);
}

struct Line {
  size_t number;
  std::string text;  ///< with its line end, if it has one
};

std::vector<Line> split(const std::string& text, const std::vector<std::regex>& ignored, size_t* ignoredCount) {
  std::vector<Line> lines;
  size_t number = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t newline = text.find('\n', at);
    const size_t end = newline == std::string::npos ? text.size() : newline + 1;
    std::string line = text.substr(at, end - at);
    at = end;
    ++number;
    const bool drop = std::any_of(ignored.begin(), ignored.end(), [&](const std::regex& r) { return std::regex_search(line, r); });
    if (drop && ignoredCount) ++*ignoredCount;
    if (!drop) lines.push_back({number, std::move(line)});
  }
  return lines;
}

// A line for a message: no line end, no endless text.
std::string excerpt(std::string line) {
  while (!line.empty() && (line.back() == '\n' || line.back() == '\r')) line.pop_back();
  if (line.size() > 100) line = line.substr(0, 97) + "...";
  return line;
}

std::optional<TextDifference> exactDifference(const Line& a, const Line& b) {
  if (a.text == b.text) return std::nullopt;
  const size_t common = std::mismatch(a.text.begin(), a.text.end(), b.text.begin(), b.text.end()).first - a.text.begin();
  return TextDifference{a.number, common + 1, excerpt(a.text), excerpt(b.text)};
}

std::optional<TextDifference> tokenDifference(const Line& a, const Line& b, const TextRules& rules, TextComparison& counts) {
  const std::vector<Token> left = tokenize(a.text), right = tokenize(b.text);
  for (size_t i = 0; i < std::max(left.size(), right.size()); ++i) {
    const size_t column = i < left.size() ? left[i].column : a.text.size();
    if (i >= left.size() || i >= right.size() || left[i].kind != right[i].kind)
      return TextDifference{a.number, column, excerpt(a.text), excerpt(b.text)};
    const bool number = left[i].kind == Token::Number;
    if (number) ++counts.numbersCompared;
    if (left[i].text == right[i].text) continue;
    const Agreement agreement = number ? numbersAgree(left[i].text, right[i].text, rules.tolerance) : Agreement::None;
    if (agreement == Agreement::None) return TextDifference{a.number, column, excerpt(a.text), excerpt(b.text)};
    if (agreement == Agreement::LastPlace) ++counts.lastPlace;
    if (agreement == Agreement::Tolerance) ++counts.withinTolerance;
  }
  return std::nullopt;
}

}  // namespace

std::vector<Token> tokenize(const std::string& line) {
  std::vector<Token> tokens;
  for (size_t at = 0; at < line.size();) {
    if (isSpace(line[at])) {
      ++at;
      continue;
    }
    if (const size_t length = numberLength(line, at)) {
      tokens.push_back({Token::Number, line.substr(at, length), at + 1});
      at += length;
      continue;
    }
    const size_t start = at++;
    while (at < line.size() && !isSpace(line[at]) && numberLength(line, at) == 0) ++at;
    tokens.push_back({Token::Word, line.substr(start, at - start), start + 1});
  }
  return tokens;
}

Agreement numbersAgree(const std::string& a, const std::string& b, double tolerance) {
  if (a == b) return Agreement::Same;
  const double x = std::strtod(a.c_str(), nullptr), y = std::strtod(b.c_str(), nullptr);
  if (isWhole(a) && isWhole(b)) return x == y && std::fabs(x) < 9e15 ? Agreement::Same : Agreement::None;
  const double difference = std::fabs(x - y);
  // A unit and a bit: 0.3 - 0.2 is not exactly 0.1.
  if (difference <= std::min(lastPlace(a), lastPlace(b)) * (1 + 1e-6)) return Agreement::LastPlace;
  return difference <= tolerance * std::max(std::fabs(x), std::fabs(y)) ? Agreement::Tolerance : Agreement::None;
}

TextComparison compareText(const std::string& expected, const std::string& actual, const TextRules& rules) {
  TextComparison result;
  const std::vector<Line> left = split(expected, rules.ignoredLines, &result.linesIgnored);
  const std::vector<Line> right = split(actual, rules.ignoredLines, nullptr);
  for (size_t i = 0; i < std::min(left.size(), right.size()); ++i) {
    result.difference = rules.exact ? exactDifference(left[i], right[i]) : tokenDifference(left[i], right[i], rules, result);
    if (result.difference) return result;
  }
  if (left.size() > right.size()) {
    result.difference = TextDifference{left[right.size()].number, 1, excerpt(left[right.size()].text), "(the text ends)"};
  } else if (right.size() > left.size()) {
    const size_t line = left.empty() ? 1 : left.back().number + 1;
    result.difference = TextDifference{line, 1, "(the text ends)", excerpt(right[left.size()].text)};
  }
  return result;
}

}  // namespace hvdize::compare
