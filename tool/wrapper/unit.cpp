// SPDX-License-Identifier: Apache-2.0
#include "tool/wrapper/unit.h"

#include <array>
#include <cstdlib>
#include <stdexcept>
#include <utility>

#include "tool/wrapper/files.h"

namespace hvdize::wrapper {
namespace {

constexpr const char* kHead = "hvdize-unit 2\n";
constexpr std::array<const char*, 5> kKinds = {"plain", "unchanged", "rewritten", "unsupported", "deferred"};

std::string escaped(const std::string& word) {
  std::string out;
  for (char c : word) {
    if (c == '%') out += "%25";
    else if (c == '\n') out += "%0a";
    else out += c;
  }
  return out;
}

std::string unescaped(const std::string& word) {
  std::string out;
  for (size_t i = 0; i < word.size(); ++i) {
    if (word[i] == '%' && i + 2 < word.size()) out += static_cast<char>(std::strtol(word.substr(i + 1, 2).c_str(), nullptr, 16)), i += 2;
    else out += word[i];
  }
  return out;
}

/// The text fields, by the word that stands for them.
template <typename U, typename F>
void eachText(U& u, F&& f) {
  f("folder", u.folder), f("source", u.source), f("hash", u.sourceHash), f("object", u.object), f("key", u.key), f("texts", u.texts), f("runtime", u.runtime);
}
template <typename U, typename F>
void eachList(U& u, F&& f) {
  f("option", u.options), f("compiler", u.compiler), f("flag", u.flags);
}
template <typename U, typename F>
void eachFact(U& u, F&& f) {
  f("framework", u.framework), f("words", u.words), f("main", u.main);
}

void readLine(Unit& u, const std::string& word, const std::string& value) {
  if (word == "kind")
    for (size_t i = 0; i < kKinds.size(); ++i)
      if (value == kKinds[i]) u.kind = static_cast<Unit::Kind>(i);
  eachText(u, [&](const char* name, std::string& field) { if (word == name) field = value; });
  eachList(u, [&](const char* name, Words& field) { if (word == name) field.push_back(value); });
  eachFact(u, [&](const char* name, bool& field) { if (word == name) field = true; });
}

}  // namespace

std::string Unit::path() const { return absolutePath(source, folder); }

std::string textOf(const Unit& unit) {
  std::string text = kHead;
  const auto line = [&](const std::string& word, const std::string& value) { text += word + " " + escaped(value) + "\n"; };
  line("kind", kKinds[static_cast<size_t>(unit.kind)]);
  eachText(unit, [&](const char* name, const std::string& field) { line(name, field); });
  eachList(unit, [&](const char* name, const Words& field) { for (const std::string& w : field) line(name, w); });
  eachFact(unit, [&](const char* name, bool field) { if (field) line(name, "yes"); });
  return text + "end\n";
}

std::vector<Unit> unitsOf(const std::string& section) {
  std::vector<Unit> units;
  const std::string head = kHead;
  for (size_t at = 0; at < section.size();) {
    if (section[at] == '\0') {  // between sections that a linker has joined
      ++at;
      continue;
    }
    if (section.compare(at, head.size(), head) != 0) throw std::runtime_error("an object was compiled by another version of hvdize-c++: build again from the start");
    at += head.size();
    Unit u;
    for (bool end = false; !end;) {
      const size_t eol = section.find('\n', at);
      if (eol == std::string::npos) throw std::runtime_error("the summary of '" + u.source + "' is damaged: compile it again");
      const std::string line = section.substr(at, eol - at);
      const size_t blank = line.find(' ');
      at = eol + 1;
      end = line == "end";
      if (!end && blank != std::string::npos) readLine(u, line.substr(0, blank), unescaped(line.substr(blank + 1)));
    }
    units.push_back(std::move(u));
  }
  return units;
}

}  // namespace hvdize::wrapper
