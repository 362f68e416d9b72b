// SPDX-License-Identifier: Apache-2.0
#include "tool/wrapper/dependencies.h"

#include <cctype>

#include "tool/wrapper/files.h"

namespace hvdize::wrapper {
namespace {

std::string plain(const std::string& word) {
  std::string out;
  for (size_t i = 0; i < word.size(); ++i) {
    if (word[i] == '\\' && i + 1 < word.size() && (word[i + 1] == ' ' || word[i + 1] == '#')) ++i;
    else if (word[i] == '$' && i + 1 < word.size() && word[i + 1] == '$') ++i;
    out += word[i];
  }
  return out;
}

std::string escaped(const std::string& path) {
  std::string out;
  for (char c : path) {
    if (c == ' ' || c == '#') out += '\\';
    if (c == '$') out += '$';
    out += c;
  }
  return out;
}

/// Calls `space` for each run of separators and `word` for each word between them.
void eachWord(const std::string& text, const std::function<void(const std::string&)>& space, const std::function<void(const std::string&)>& word) {
  const auto separates = [&](size_t i) {
    return std::isspace(static_cast<unsigned char>(text[i])) || (text[i] == '\\' && i + 1 < text.size() && text[i + 1] == '\n');
  };
  for (size_t i = 0; i < text.size();) {
    size_t begin = i;
    while (i < text.size() && separates(i)) ++i;
    if (i > begin) space(text.substr(begin, i - begin));
    begin = i;
    while (i < text.size() && !separates(i)) i += text[i] == '\\' && i + 1 < text.size() ? 2 : 1;
    if (i > begin) word(text.substr(begin, i - begin));
  }
}

}  // namespace

DependencyRequest::DependencyRequest(const Words& words, const std::string& output) {
  bool target = false;
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string option = words[i].substr(0, 3);
    if (option == "-MF") file = words[i].size() > 3 ? words[i].substr(3) : i + 1 < words.size() ? words[++i] : "";
    else flags.push_back(words[i]);
    if (words[i] == "-MD" || words[i] == "-MMD") wanted = true;
    target = target || option == "-MT" || option == "-MQ";
  }
  if (file.empty() && wanted) file = output.substr(0, output.rfind('.') == std::string::npos || output.rfind('.') < output.rfind('/') + 1 ? output.size() : output.rfind('.')) + ".d";
  if (wanted && !target) flags.push_back("-MQ"), flags.push_back(output);
}

std::string mapDependencies(const std::string& text, const std::function<std::string(const std::string&)>& map) {
  std::string out;
  eachWord(text, [&](const std::string& space) { out += space; },
           [&](const std::string& word) {
             const bool rule = word.back() == ':';
             const std::string path = plain(rule ? word.substr(0, word.size() - 1) : word), to = map(path);
             if (to == path) out += word;
             else if (!to.empty()) out += escaped(to) + (rule ? ":" : "");
           });
  return out;
}

Words prerequisites(const std::string& text) {
  Words files;
  bool behind = false, done = false;
  eachWord(text, [&](const std::string& space) { done = done || (behind && space.find('\n') != std::string::npos && space.find('\\') == std::string::npos); },
           [&](const std::string& word) {
             if (done) return;
             if (behind) files.push_back(plain(word));
             else behind = word.back() == ':';
           });
  return files;
}

}  // namespace hvdize::wrapper
