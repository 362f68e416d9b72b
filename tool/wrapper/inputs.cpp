// SPDX-License-Identifier: Apache-2.0
#include "tool/wrapper/inputs.h"

#include <set>

#include "tool/wrapper/elf.h"
#include "tool/wrapper/files.h"

namespace hvdize::wrapper {
namespace {

bool endsWith(const std::string& text, const std::string& tail) {
  return text.size() >= tail.size() && text.compare(text.size() - tail.size(), tail.size(), tail) == 0;
}

class Reader {
 public:
  explicit Reader(const Command& command) : command_(command) {}

  LinkInputs run() {
    for (const Argument& a : command_.arguments)
      if (a.role == Argument::Role::Linking && a.words[0].rfind("-L", 0) == 0) folders_.push_back(a.words.size() > 1 ? a.value : a.words[0].substr(2));
    for (const Argument& a : command_.arguments) {
      if (a.role == Argument::Role::Input) read(a.value);
      if (a.role == Argument::Role::Linking) readLinking(a);
    }
    return std::move(inputs_);
  }

 private:
  void readLinking(const Argument& a) {
    const std::string& word = a.words[0];
    if (word == "-static") static_ = true;
    if (word.rfind("-l", 0) == 0) library(a.words.size() > 1 ? a.value : word.substr(2));
    if (word.rfind("-Wl,", 0) == 0)
      for (const std::string& part : split(word.substr(4), ',')) linkerWord(part);
    if (word == "-Xlinker") linkerWord(a.value);
  }

  void linkerWord(const std::string& word) {
    if (word.rfind("-l", 0) == 0) library(word.substr(2));
    else if (endsWith(word, ".a") || endsWith(word, ".o") || endsWith(word, ".so")) read(word);
  }

  /// As the linker finds it: the shared library before the archive in each folder.
  void library(const std::string& name) {
    for (const std::string& folder : folders_) {
      if (name[0] == ':' && exists(folder + "/" + name.substr(1))) return read(folder + "/" + name.substr(1));
      if (!static_ && exists(folder + "/lib" + name + ".so")) return read(folder + "/lib" + name + ".so");
      if (exists(folder + "/lib" + name + ".a")) return read(folder + "/lib" + name + ".a");
    }
  }

  void read(const std::string& file) {
    if (!files_.insert(realPath(file)).second) return;
    for (const Member& m : readSections(file, kLibrarySection)) inputs_.sequentialLibraries.push_back(file + " (" + m.section + ")");
    const bool archive = endsWith(file, ".a");
    for (const Member& m : readSections(file, kSection))
      for (Unit& u : unitsOf(m.section))
        if (known_.insert(u.path() + "\n" + u.object).second) inputs_.units.push_back({std::move(u), file, archive});
  }

  const Command& command_;
  std::vector<std::string> folders_;
  bool static_ = false;
  std::set<std::string> files_, known_;
  LinkInputs inputs_;
};

}  // namespace

LinkInputs readInputs(const Command& command) { return Reader(command).run(); }

}  // namespace hvdize::wrapper
