// SPDX-License-Identifier: Apache-2.0
#include "tool/wrapper/merge.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <stdexcept>

#include "tool/wrapper/files.h"
#include "tool/wrapper/options.h"
#include "tool/wrapper/rewrite.h"
#include "tool/wrapper/scan.h"

namespace hvdize::wrapper {
namespace {

bool isFolder(const std::string& word) {
  for (const char* option : {"-I", "-isystem", "-iquote", "-idirafter", "-include", "-imacros"})
    if (word.rfind(option, 0) == 0) return true;
  return false;
}

bool isMacro(const std::string& word) { return word.rfind("-D", 0) == 0 || word.rfind("-U", 0) == 0; }

/// Flags with their values: "-I" "dir" is "-Idir" here, and "-isystem" "dir" stays two words. Folders absolute.
std::vector<Words> entriesOf(const Unit& u) {
  std::vector<Words> entries;
  const Words flags = parseFlags(u.flags);
  for (size_t i = 0; i < flags.size(); ++i) {
    Words entry = {flags[i]};
    if (takesNextWord(flags[i]) && i + 1 < flags.size()) entry.push_back(flags[++i]);
    if (entry.size() == 2 && (entry[0] == "-I" || entry[0] == "-D" || entry[0] == "-U")) entry = {entry[0] + entry[1]};
    const bool file = entry[0] == "-include" || entry[0] == "-imacros";
    if (isFolder(entry[0]) && entry.size() == 2 && (!file || exists(absolutePath(entry[1], u.folder)))) entry[1] = absolutePath(entry[1], u.folder);
    else if (entry[0].rfind("-I", 0) == 0 && entry.size() == 1 && entry[0].size() > 2) entry[0] = "-I" + absolutePath(entry[0].substr(2), u.folder);
    entries.push_back(std::move(entry));
  }
  return entries;
}

/// What each macro is on the command line: the last word about it.
std::map<std::string, std::string> macrosOf(const std::vector<Words>& entries) {
  std::map<std::string, std::string> macros;
  for (const Words& e : entries)
    if (isMacro(e[0])) macros[e[0].substr(2, e[0].find_first_of("=(", 2) - 2)] = e[0].rfind("-U", 0) == 0 ? "" : e[0].substr(2);
  macros.erase("");
  return macros;
}

bool mentions(const std::string& text, const std::string& name) {
  const auto isWord = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
  for (size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + 1))
    if ((at == 0 || !isWord(text[at - 1])) && (at + name.size() == text.size() || !isWord(text[at + name.size()]))) return true;
  return false;
}

/// The macros that are not the same in all units, with a unit that has each.
std::map<std::string, const Unit*> differences(const std::vector<const Unit*>& units) {
  std::map<std::string, const Unit*> differ;
  std::vector<std::map<std::string, std::string>> all;
  for (const Unit* u : units) all.push_back(macrosOf(entriesOf(*u)));
  for (size_t i = 0; i < all.size(); ++i)
    for (const auto& [name, text] : all[i])
      for (const auto& other : all)
        if (const auto it = other.find(name); it == other.end() ? !text.empty() : it->second != text) differ.emplace(name, units[i]);
  return differ;
}

void checkMacros(const std::vector<const Unit*>& units) {
  const auto differ = differences(units);
  if (differ.empty()) return;
  std::set<std::string> seen;
  std::string text;
  for (const Unit* u : units)
    for (const std::string& file : scanSource(u->source, u->flags, u->folder, true).files)
      if (seen.insert(file).second && readFile(file, text))
        for (const auto& [name, unit] : differ)
          if (mentions(text, name))
            throw std::runtime_error("the units of this program are not compiled with the same macro '" + name + "' (see '" + unit->source + "'), and '" + file +
                                     "' mentions it: hvdize reads them together, so compile them all with the same");
}

/// Flags other than folders and macros decide how all units read: they must be the same.
void checkOthers(const std::vector<const Unit*>& units) {
  const auto others = [](const Unit& u) {
    std::set<std::string> set;
    for (const Words& e : entriesOf(u))
      if (!isFolder(e[0]) && !isMacro(e[0]) && (e[0].rfind("-std", 0) == 0 || e[0].rfind("-f", 0) == 0) && e[0].rfind("-fPI", 0) != 0 && e[0].rfind("-fpi", 0) != 0) set.insert(e[0]);
    return set;
  };
  for (const Unit* u : units)
    if (others(*u) != others(*units[0]))
      throw std::runtime_error("'" + u->source + "' and '" + units[0]->source + "' are compiled for other standards or language options: hvdize reads the units of a program together");
}

}  // namespace

Reading readingOf(const LinkInputs& inputs) {
  std::vector<const Unit*> units;
  std::set<std::string> known;
  for (const LinkedUnit& l : inputs.units)
    if (l.unit.kind != Unit::Kind::Unsupported && known.insert(realPath(l.unit.path())).second) units.push_back(&l.unit);
  std::stable_sort(units.begin(), units.end(), [](const Unit* a, const Unit* b) { return a->main > b->main; });
  Reading reading;
  reading.folder = units.front()->folder;
  if (units.size() > 1) checkMacros(units), checkOthers(units);
  std::set<Words> given;
  for (const Unit* u : units) {
    reading.sources.push_back(u->folder == reading.folder ? u->source : u->path());
    if (units.size() == 1) reading.flags = parseFlags(u->flags);
    else
      for (const Words& e : entriesOf(*u))
        if (given.insert(e).second && (u == units.front() || isFolder(e[0]) || isMacro(e[0]))) reading.flags.insert(reading.flags.end(), e.begin(), e.end());
  }
  return reading;
}

}  // namespace hvdize::wrapper
