// SPDX-License-Identifier: Apache-2.0
#include "nn/network/parse.hpp"

#include "io/file.hpp"

#include <algorithm>
#include <sstream>

namespace hvd::nn {

namespace {

[[noreturn]] void refuse(const std::string& source, int line, const std::string& why) {
  throw Error(source + ":" + std::to_string(line) + ": " + why);
}

bool is_name(const std::string& text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; });
}

NetworkLine parse_line(std::istringstream& words, const std::string& source, int number) {
  NetworkLine line;
  line.number = number;
  words >> line.name >> line.type;
  if (!is_name(line.name)) refuse(source, number, "'" + line.name + "' is no name: letters, digits and underscores expected");
  if (line.type.empty()) refuse(source, number, "'" + line.name + "' has no type; a line is: name type key=value ...");
  for (std::string word; words >> word;) {
    const size_t at = word.find('=');
    if (at == std::string::npos || at == 0 || at + 1 == word.size()) refuse(source, number, "'" + word + "' is not key=value");
    const std::string key = word.substr(0, at);
    for (const auto& [other, value] : line.values)
      if (other == key) refuse(source, number, "'" + key + "' is given twice");
    line.values.emplace_back(key, word.substr(at + 1));
  }
  return line;
}

}  // namespace

NetworkDescription parse_network(const std::string& text, const std::string& source) {
  constexpr size_t kMostLines = 100000;
  NetworkDescription description{source, {}};
  std::istringstream in(text);
  int number = 0;
  for (std::string whole; std::getline(in, whole);) {
    ++number;
    if (whole.find('\0') != std::string::npos) refuse(source, number, "not a text file");
    std::istringstream words(whole.substr(0, whole.find('#')));
    if (std::string first; !(std::istringstream(words.str()) >> first)) continue;
    description.lines.push_back(parse_line(words, source, number));
    if (description.lines.size() > kMostLines) refuse(source, number, "more than " + std::to_string(kMostLines) + " layers");
  }
  return description;
}

LineReader::LineReader(const NetworkLine& line, const std::map<std::string, int64_t>& variables)
    : line_(line), variables_(variables), used_(line.values.size(), false) {}

const std::string* LineReader::find(const std::string& key) {
  for (size_t i = 0; i < line_.values.size(); ++i)
    if (line_.values[i].first == key) return used_[i] = true, &line_.values[i].second;
  return nullptr;
}

int64_t LineReader::number_in(const std::string& key, const std::string& text) const {
  if (const auto variable = variables_.find(text); variable != variables_.end()) return variable->second;
  const bool digits = !text.empty() && text.size() <= 9 && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (!digits) throw Error(key + "=" + text + ": a whole number of at most 9 digits or a variable expected");
  return std::stoll(text);
}

int64_t LineReader::count(const std::string& key) {
  const std::string* text = find(key);
  if (!text) throw Error("'" + key + "' is missing");
  return number_in(key, *text);
}

int64_t LineReader::count(const std::string& key, int64_t fallback) {
  const std::string* text = find(key);
  return text ? number_in(key, *text) : fallback;
}

std::vector<int64_t> LineReader::counts(const std::string& key, std::vector<int64_t> fallback) {
  const std::string* text = find(key);
  if (!text) {
    if (fallback.empty()) throw Error("'" + key + "' is missing");
    return fallback;
  }
  std::vector<int64_t> out;
  std::istringstream parts(*text);
  for (std::string part; std::getline(parts, part, 'x');) out.push_back(number_in(key, part));
  return out;
}

std::vector<int64_t> LineReader::pair(const std::string& key, std::vector<int64_t> fallback) {
  std::vector<int64_t> out = counts(key, std::move(fallback));
  if (out.size() > 2) throw Error("'" + key + "' takes one number, or two with an x between them");
  return {out.front(), out.back()};
}

double LineReader::real(const std::string& key, double fallback) {
  const std::string* text = find(key);
  if (!text) return fallback;
  std::istringstream in(*text);
  double value = 0;
  if (!(in >> value) || !in.eof()) throw Error(key + "=" + *text + ": a number expected");
  return value;
}

bool LineReader::flag(const std::string& key, bool fallback) { return word(key, {"no", "yes"}, fallback ? "yes" : "no") == "yes"; }

std::string LineReader::word(const std::string& key, const std::vector<std::string>& known, const std::string& fallback) {
  const std::string* text = find(key);
  if (!text) return fallback;
  if (std::find(known.begin(), known.end(), *text) != known.end()) return *text;
  std::string list;
  for (const std::string& k : known) list += (list.empty() ? "" : ", ") + k;
  throw Error(key + "=" + *text + ": one of " + list + " expected");
}

std::vector<std::string> LineReader::names(const std::string& key) {
  const std::string* text = find(key);
  std::vector<std::string> out;
  if (!text) return out;
  std::istringstream parts(*text);
  for (std::string part; std::getline(parts, part, ',');) out.push_back(part);
  return out;
}

void LineReader::finish() const {
  for (size_t i = 0; i < used_.size(); ++i)
    if (!used_[i]) throw Error("a layer of type '" + line_.type + "' has no '" + line_.values[i].first + "'");
}

Network load_network(const std::string& path, const NetworkOptions& options) {
  const std::vector<uint8_t> bytes = io::read_file_or_gzip(path);
  return Network(parse_network(std::string(bytes.begin(), bytes.end()), path), options);
}

}  // namespace hvd::nn
