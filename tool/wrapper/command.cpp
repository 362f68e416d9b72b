// SPDX-License-Identifier: Apache-2.0
#include "tool/wrapper/command.h"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>

#include "tool/wrapper/options.h"

namespace hvdize::wrapper {
namespace {

/// The words of a response file, as GCC reads them: blanks separate; quotes and backslashes keep blanks.
Words wordsOfText(const std::string& text) {
  Words words;
  std::string word;
  bool inside = false;
  char quote = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\\' && i + 1 < text.size()) word += text[++i], inside = true;
    else if (quote) c == quote ? static_cast<void>(quote = 0) : static_cast<void>(word += c);
    else if (c == '"' || c == '\'') quote = c, inside = true;
    else if (!std::isspace(static_cast<unsigned char>(c))) word += c, inside = true;
    else if (inside) words.push_back(std::move(word)), word.clear(), inside = false;
  }
  if (inside) words.push_back(std::move(word));
  return words;
}

/// A file that is not there stays a word, as in GCC.
void expand(const std::string& word, Words& out, int depth) {
  std::ifstream file;
  if (word.size() > 1 && word[0] == '@') file.open(word.substr(1));
  if (!file.is_open()) {
    out.push_back(word);
    return;
  }
  if (depth > 20) throw std::runtime_error("response files include each other: " + word);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  for (const std::string& w : wordsOfText(text)) expand(w, out, depth + 1);
}

bool startsWith(const std::string& word, const char* with) { return word.rfind(with, 0) == 0; }

class Parser {
 public:
  Parser(const Words& words, Command& command) : words_(words), c_(command) {}

  void run() {
    while (i_ < words_.size()) next();
    const bool sources = std::any_of(c_.arguments.begin(), c_.arguments.end(), [](const Argument& a) { return a.role == Argument::Role::Input; });
    if (asks_ || !sources) return;
    c_.mode = c_.has(Argument::Role::Compile) ? Command::Mode::Compile : Command::Mode::Link;
  }

 private:
  using Role = Argument::Role;

  void next() {
    const std::string& word = words_[i_++];
    if (word == "-" || word.empty()) asks_ = true;  // standard input
    if (word.empty() || word[0] != '-' || word == "-") return input(word);
    Argument a;
    a.words = {word};
    if (takesNextWord(word) && i_ < words_.size()) a.value = words_[i_++], a.words.push_back(a.value);
    if (word == "-x") forced_ = a.value == "none" ? std::string() : a.value;
    else if (joinedLanguage(word)) forced_ = word.substr(2) == "none" ? std::string() : word.substr(2);
    if (word == "-c" || word == "-dc" || word == "--compile") a.role = Role::Compile;
    else if (startsWith(word, "-o") && !startsWith(word, "-odir") && word.size() > 2 && word != "-objtemp") a.role = Role::Output, a.value = word.substr(2);
    else if (word == "-o") a.role = Role::Output;
    else if (isDependencyOption(word)) a.role = Role::Dependency, joined(a);
    else if (isLinkOption(word)) a.role = Role::Linking;
    else if (asksOnly(word)) asks_ = true;
    if (word != "-x" && !joinedLanguage(word)) c_.arguments.push_back(std::move(a));  // the language is kept with each input
  }

  /// "-xc++"; "-xHost" is a target of Intel's compilers.
  static bool joinedLanguage(const std::string& word) { return startsWith(word, "-x") && word.size() > 2 && std::islower(static_cast<unsigned char>(word[2])); }

  static void joined(Argument& a) {
    if (a.words.size() == 1 && a.words[0].size() > 3) a.value = a.words[0].substr(3);
  }

  void input(const std::string& word) {
    Argument a;
    a.role = Argument::Role::Input;
    a.value = word;
    a.language = forced_.empty() ? languageOfFile(word) : languageNamed(forced_);
    if (forced_.empty()) a.words = {word};
    else a.words = {"-x", forced_, word, "-x", "none"};
    c_.arguments.push_back(std::move(a));
  }

  const Words& words_;
  Command& c_;
  size_t i_ = 0;
  std::string forced_;
  bool asks_ = false;
};

/// hvdize-c++'s own words are taken out.
Words takeOwn(const Words& words, Command& command) {
  Words rest;
  for (const std::string& w : words) {
    if (!startsWith(w, "--hvdize-")) rest.push_back(w);
    else if (w == "--hvdize-off") command.off = true;
    else if (startsWith(w, "--hvdize-defer")) {
      if (w.substr(std::strlen("--hvdize-defer")) != "=off") throw std::runtime_error("'" + w + "': only 'off' is known");
      command.defers = false;
    }
    else command.options.push_back("--" + w.substr(9));
  }
  return rest;
}

}  // namespace

std::string Command::output() const {
  for (const Argument& a : arguments)
    if (a.role == Argument::Role::Output) return a.value;
  return "";
}

bool Command::has(Argument::Role role) const {
  return std::any_of(arguments.begin(), arguments.end(), [&](const Argument& a) { return a.role == role; });
}

Words Command::wordsOf(Argument::Role role) const {
  Words words;
  for (const Argument& a : arguments)
    if (a.role == role) words.insert(words.end(), a.words.begin(), a.words.end());
  return words;
}

bool Command::hasFlag(const std::string& word) const {
  return std::any_of(arguments.begin(), arguments.end(), [&](const Argument& a) { return a.words.front() == word; });
}

std::vector<const Argument*> Command::inputs() const {
  std::vector<const Argument*> found;
  for (const Argument& a : arguments)
    if (a.role == Argument::Role::Input) found.push_back(&a);
  return found;
}

Command parseCommand(const Words& given, const std::string& fallback) {
  Command command;
  size_t first = 0;
  while (first < given.size() && !startsWith(given[first], "-") && !startsWith(given[first], "@") && looksLikeCompiler(given[first])) {
    command.compiler.push_back(given[first++]);
    if (!looksLikeLauncher(command.compiler.back())) break;
  }
  command.launcher = first > 0;
  if (command.compiler.empty() || looksLikeLauncher(command.compiler.back())) command.compiler.push_back(fallback);
  const Words rest(given.begin() + static_cast<std::ptrdiff_t>(first), given.end());
  command.original = takeOwn(rest, command);
  Words words;
  for (const std::string& w : command.original) expand(w, words, 0);
  if (const Words kept = takeOwn(words, command); kept.size() != words.size()) words = command.original = kept;
  Parser(words, command).run();
  return command;
}

}  // namespace hvdize::wrapper
