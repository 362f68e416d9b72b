// SPDX-License-Identifier: Apache-2.0
#include "tool/wrapper/archive.h"

#include <algorithm>
#include <cstdio>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <utility>

#include "tool/wrapper/elf.h"
#include "tool/wrapper/files.h"
#include "tool/wrapper/mapped.h"

namespace hvdize::wrapper {
namespace {

constexpr size_t kHeader = 60;

size_t numberOf(std::string_view digits) { return std::strtoull(std::string(digits).c_str(), nullptr, 10); }

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.back() == ' ' || text.back() == '/')) text.remove_suffix(1);
  return text;
}

/// The symbols by the `at` of the member that defines them. The table holds how many there are, where their members are (big-endian numbers),
/// and their names.
std::multimap<uint64_t, std::string> indexOf(const Archive& a) {
  std::multimap<uint64_t, std::string> index;
  const std::string_view table = a.symbols;
  const size_t width = a.width;
  const auto number = [&](size_t at) {
    uint64_t n = 0;
    for (size_t i = 0; i < width; ++i) n = n << 8 | static_cast<unsigned char>(table[at + i]);
    return n;
  };
  if (table.size() < width) return index;
  const uint64_t count = number(0);
  if (count > table.size() / width - 1) return index;
  size_t name = width * (count + 1);
  for (uint64_t i = 0; i < count && name < table.size(); ++i) {
    const size_t end = std::min(table.find('\0', name), table.size());
    index.emplace(number(width * (i + 1)), table.substr(name, end - name));
    name = end + 1;
  }
  return index;
}

std::string bigEndian(size_t number) {
  std::string text;
  for (int shift = 24; shift >= 0; shift -= 8) text += static_cast<char>(number >> shift & 0xff);
  return text;
}

std::string header(const std::string& name, size_t size) {
  char text[kHeader + 1];
  std::snprintf(text, sizeof text, "%-16s%-12s%-6s%-6s%-8s%-10zu`\n", name.c_str(), "0", "0", "0", "644", size);
  return text;
}

void append(std::string& text, const std::string& name, std::string_view content) {
  text += header(name, content.size());
  text += content;
  if (content.size() % 2) text += '\n';
}

size_t sizeIn(size_t content) { return kHeader + content + content % 2; }

}  // namespace

bool parseArchive(std::string_view bytes, const std::string& file, Archive& archive) {
  archive.thin = bytes.substr(0, 8) == "!<thin>\n";
  if (!archive.thin && bytes.substr(0, 8) != "!<arch>\n") return false;
  std::string_view longNames;
  for (size_t at = 8; at + kHeader <= bytes.size();) {
    const std::string_view field = bytes.substr(at, 16);
    const size_t size = numberOf(bytes.substr(at + 48, 10)), begin = at + kHeader;
    const bool table = field.substr(0, 2) == "//", wide = field.substr(0, 7) == "/SYM64/", symbols = wide || field.substr(0, 2) == "/ ";
    const bool stored = !archive.thin || table || symbols;
    if (stored && size > bytes.size() - begin) break;
    const std::string_view content = stored ? bytes.substr(begin, size) : std::string_view();
    if (table) longNames = content;
    else if (symbols) archive.symbols = content, archive.width = wide ? 8 : 4;
    else {
      std::string_view name = field;
      if (field[0] == '/') name = longNames.substr(std::min(longNames.size(), numberOf(field.substr(1)))), name = name.substr(0, name.find('\n'));
      Archive::Entry e{at, std::string(trimmed(name)), content, ""};
      if (archive.thin) e.path = absolutePath(e.name, folderOf(file));
      archive.members.push_back(std::move(e));
    }
    at = begin + (stored ? size + size % 2 : 0);
  }
  return true;
}

bool writeArchive(const std::string& from, const std::map<size_t, std::string>& objects, const std::string& to) {
  const Mapped mapped(from);
  Archive a;
  if (!parseArchive(mapped.bytes(), from, a)) return false;
  std::string names, bodies;
  const std::multimap<uint64_t, std::string> old = indexOf(a);
  std::vector<std::pair<std::string, size_t>> index;  // with places in `bodies`
  for (const Archive::Entry& e : a.members) {
    const auto object = objects.find(e.at);
    const Mapped other(object != objects.end() ? object->second : e.path);
    const std::string_view content = object == objects.end() && !a.thin ? e.content : other.bytes();
    if (object != objects.end() || a.symbols.empty()) {
      std::vector<std::string> defined;
      if (!definedSymbols(content, defined)) return false;
      for (std::string& s : defined) index.emplace_back(std::move(s), bodies.size());
    } else {
      for (auto [it, end] = old.equal_range(e.at); it != end; ++it) index.emplace_back(it->second, bodies.size());
    }
    const std::string name = nameOf(e.name);
    append(bodies, name.size() < 16 ? name + "/" : "/" + std::to_string(names.size()), content);
    if (name.size() >= 16) names += name + "/\n";
  }
  size_t table = 4;
  for (const auto& entry : index) table += 4 + entry.first.size() + 1;
  const size_t first = 8 + sizeIn(table) + (names.empty() ? 0 : sizeIn(names.size()));
  if (first + bodies.size() > std::numeric_limits<uint32_t>::max()) return false;
  std::string symbols = bigEndian(index.size());
  for (const auto& entry : index) symbols += bigEndian(first + entry.second);
  for (const auto& entry : index) symbols += entry.first + '\0';
  std::string text = "!<arch>\n";
  append(text, "/", symbols);
  if (!names.empty()) append(text, "//", names);
  writeFile(to, text + bodies);
  return true;
}

}  // namespace hvdize::wrapper
