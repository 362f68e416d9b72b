// SPDX-License-Identifier: Apache-2.0
#include "tool/wrapper/replaced.h"

#include <stdexcept>
#include <unistd.h>

#include "tool/wrapper/archive.h"
#include "tool/wrapper/files.h"

namespace hvdize::wrapper {
namespace {

/// What becomes of a file: for each place in it how many units it holds there, and the new object.
struct File {
  bool archived = false;
  std::map<size_t, size_t> units;
  std::map<size_t, std::string> objects;
};

}  // namespace

Replacements::Replacements(const LinkInputs& inputs, const Program& program, const std::string& folder) : inputs_(inputs) {
  std::map<std::string, File> files;
  const auto add = [&](const LinkedUnit& l, const std::string& name, bool archived, size_t at) {
    File& file = files[name];
    file.archived = archived;
    ++file.units[at];
    if (const auto it = program.replaced.find(&l.unit); it != program.replaced.end()) file.objects[at] = it->second;
  };
  for (const LinkedUnit& l : inputs.units) add(l, l.file, l.archived, l.at);
  for (const Copy& c : inputs.copies) add(inputs.units[c.unit], c.file, c.archived, c.at);
  for (const auto& [name, file] : files) {
    if (file.objects.empty()) continue;
    for (const auto& [at, object] : file.objects)
      if (file.units.at(at) > 1)
        throw std::runtime_error("'" + name + "' was linked of several objects (-r), and one of them changes in the distributed program: link these objects themselves");
    if (!file.archived) {
      files_[realPath(name)] = file.objects.begin()->second;
      continue;
    }
    const std::string archive = folder + "/" + stemOf(name) + "-" + hashOf(realPath(name)).substr(0, 8) + ".a";
    if (writeArchive(name, file.objects, archive)) files_[realPath(name)] = archive, archives_.push_back(archive);
    else for (const auto& entry : file.objects) inFront.push_back(entry.second);
  }
}

std::string Replacements::fileFor(const std::string& file) const {
  const auto it = files_.find(realPath(file));
  return it == files_.end() ? "" : it->second;
}

std::string Replacements::linkerWordFor(const std::string& word) const {
  if (word.rfind("-l", 0) == 0) {
    const auto library = inputs_.libraries.find(word.substr(2));
    const std::string file = library == inputs_.libraries.end() ? "" : fileFor(library->second);
    return file.empty() ? word : file;
  }
  const std::string file = word.empty() || word[0] == '-' ? "" : fileFor(word);
  return file.empty() ? word : file;
}

Words Replacements::wordsFor(const Argument& a) const {
  if (a.role == Argument::Role::Input) {
    const std::string file = fileFor(a.value);
    return file.empty() ? a.words : Words{file};
  }
  if (a.role != Argument::Role::Linking) return a.words;
  const std::string& word = a.words[0];
  if (word.rfind("-l", 0) == 0) {
    const std::string whole = a.words.size() > 1 ? "-l" + a.value : word, file = linkerWordFor(whole);
    return file == whole ? a.words : Words{file};
  }
  if (word == "-Xlinker") return {word, linkerWordFor(a.value)};
  if (word.rfind("-Wl,", 0) != 0) return a.words;
  std::string joined = "-Wl";
  for (const std::string& part : split(word.substr(4), ',')) (joined += ',') += linkerWordFor(part);
  return {joined};
}

void Replacements::removeArchives() const {
  for (const std::string& archive : archives_) unlink(archive.c_str());
}

}  // namespace hvdize::wrapper
