// SPDX-License-Identifier: Apache-2.0
#include "tool/wrapper/inputs.h"

#include <cctype>
#include <set>

#include "tool/wrapper/elf.h"
#include "tool/wrapper/files.h"

namespace hvdize::wrapper {
namespace {

bool endsWith(const std::string& text, const std::string& tail) {
  return text.size() >= tail.size() && text.compare(text.size() - tail.size(), tail.size(), tail) == 0;
}

// Does the object define or call a function of this name? As names of C++ are written in it: with their length in front, so that std::copy_backward is none.
bool callsBackward(const std::string& file) {
  std::string bytes;
  if (!readFile(file, bytes)) return false;
  for (const std::string name : {"8backward", "9_backward"})
    for (size_t at = bytes.find(name); at != std::string::npos; at = bytes.find(name, at + 1))
      if (at > 0 && !std::isdigit(static_cast<unsigned char>(bytes[at - 1]))) return true;
  return false;
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
    else if (word == "-Bstatic" || word == "-dn" || word == "-non_shared" || word == "-static") static_ = true;
    else if (word == "-Bdynamic" || word == "-dy" || word == "-call_shared") static_ = false;
    else if (endsWith(word, ".a") || endsWith(word, ".o") || endsWith(word, ".so")) read(word);
  }

  /// As the linker finds it: the shared library before the archive in each folder.
  void library(const std::string& name) {
    for (const std::string& folder : folders_) {
      const auto found = [&](const std::string& file) {
        if (!exists(folder + "/" + file)) return false;
        inputs_.libraries[name] = folder + "/" + file;
        read(folder + "/" + file);
        return true;
      };
      if (name[0] == ':' ? found(name.substr(1)) : (!static_ && found("lib" + name + ".so")) || found("lib" + name + ".a")) return;
    }
  }

  void read(const std::string& file) {
    if (!files_.insert(realPath(file)).second) return;
    for (const Member& m : readSections(file, kLibrarySection)) inputs_.sequentialLibraries.push_back(file + " (" + m.section + ")");
    const std::vector<Member> members = readSections(file, kSection);
    if (members.empty() && endsWith(file, ".o") && callsBackward(file)) inputs_.foreignTraining.push_back(file);
    for (const Member& m : members)
      for (Unit& u : unitsOf(m.section))
        if (const auto [it, first] = known_.emplace(u.path() + "\n" + u.object, inputs_.units.size()); first) inputs_.units.push_back({std::move(u), file, m.at > 0, m.at});
        else inputs_.copies.push_back({it->second, file, m.at > 0, m.at});
  }

  const Command& command_;
  std::vector<std::string> folders_;
  bool static_ = false;
  std::set<std::string> files_;
  std::map<std::string, size_t> known_;  // index of the unit
  LinkInputs inputs_;
};

}  // namespace

LinkInputs readInputs(const Command& command) { return Reader(command).run(); }

}  // namespace hvdize::wrapper
