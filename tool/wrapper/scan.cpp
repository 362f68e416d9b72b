// SPDX-License-Identifier: Apache-2.0
#include "tool/wrapper/scan.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <cstring>
#include <sys/stat.h>
#include <unordered_set>

#include "tool/wrapper/files.h"
#include "tool/wrapper/forced.h"
#include "tool/wrapper/frameworks.h"

namespace hvdize::wrapper {
namespace {

struct Include {
  std::string name;
  bool angled = false, computed = false;
};

const char* skipBlanks(const char* p, const char* end) {
  while (p < end && (*p == ' ' || *p == '\t')) ++p;
  return p;
}

/// `#include`, `#include_next` and `#import` at the beginnings of lines; also those in comments and branches that are not taken.
std::vector<Include> includesOf(const std::string& text) {
  std::vector<Include> found;
  const char *p = text.data(), *end = p + text.size();
  while (p < end) {
    const char* line = skipBlanks(p, end);
    const char* eol = static_cast<const char*>(std::memchr(line, '\n', static_cast<size_t>(end - line)));
    if (!eol) eol = end;
    p = eol + 1;
    if (line == eol || *line != '#') continue;
    line = skipBlanks(line + 1, eol);
    if (eol - line < 6 || (std::memcmp(line, "includ", 6) != 0 && std::memcmp(line, "import", 6) != 0)) continue;
    while (line < eol && (std::isalnum(static_cast<unsigned char>(*line)) || *line == '_')) ++line;
    line = skipBlanks(line, eol);
    if (line == eol) continue;
    const char close = *line == '<' ? '>' : *line == '"' ? '"' : '\0';
    const char* stop = close ? static_cast<const char*>(std::memchr(line + 1, close, static_cast<size_t>(eol - line - 1))) : nullptr;
    if (stop) found.push_back({std::string(line + 1, stop), close == '>', false});
    else found.push_back({"", false, true});
  }
  return found;
}

bool endsWithPath(const std::string& name, const std::string& tail) {
  return name.size() >= tail.size() && name.compare(name.size() - tail.size(), tail.size(), tail) == 0 &&
         (name.size() == tail.size() || name[name.size() - tail.size() - 1] == '/');
}

bool namesFramework(const std::string& name) {
  for (const char* header : kFrameworkHeaders)
    if (endsWithPath(name, header)) return true;
  for (const char* folder : kFrameworkFolders)
    if (const size_t at = name.find(std::string(folder) + "/"); at != std::string::npos && (at == 0 || name[at - 1] == '/')) return true;
  return false;
}

bool isWord(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

/// Gradients come from a backward pass, and steps are an optimizer's, from a namespace `optim`.
bool speaksOfTraining(const std::string& text) {
  if (text.find("backward") != std::string::npos || text.find("autograd") != std::string::npos) return true;
  for (size_t at = text.find("optim"); at != std::string::npos; at = text.find("optim", at + 5))
    if (at + 5 == text.size() || !isWord(text[at + 5])) return true;
  return false;
}

bool mayDefineMain(const std::string& text) {
  for (size_t at = text.find("main"); at != std::string::npos; at = text.find("main", at + 4)) {
    size_t next = at + 4;
    if ((at > 0 && isWord(text[at - 1])) || (next < text.size() && isWord(text[next]))) continue;
    while (next < text.size() && std::isspace(static_cast<unsigned char>(text[next]))) ++next;
    if (next < text.size() && text[next] == '(') return true;
  }
  return false;
}

/// The folders in which includes are looked for.
struct Search {
  std::vector<std::string> quoted, angled, system;
  std::unordered_set<std::string> isystem;  ///< those of `angled` that are the system's by -isystem
  std::vector<std::string> forced;  ///< -include
  bool unsure = false;              ///< flags move the folders in ways that are not followed here

  Search(const Words& given, const std::string& folder) {
    const Words flags = asText(given);
    const auto absolute = [&](const std::string& path) { return path.empty() || path[0] == '/' ? path : folder + "/" + path; };
    for (size_t i = 0; i < flags.size(); ++i) {
      const auto value = [&](const char* option) -> std::string {
        const size_t n = std::strlen(option);
        if (flags[i].compare(0, n, option) != 0) return "";
        return flags[i].size() > n ? flags[i].substr(n) : i + 1 < flags.size() ? flags[++i] : "";
      };
      if (const std::string v = value("-iquote"); !v.empty()) quoted.push_back(absolute(v));
      else if (const std::string s = value("-isystem"); !s.empty()) angled.push_back(absolute(s)), isystem.insert(absolute(s));
      else if (const std::string a = value("-idirafter"); !a.empty()) angled.push_back(absolute(a));
      else if (flags[i] == "-include" || flags[i] == "-imacros") forced.push_back(++i < flags.size() ? flags[i] : "");
      else if (const std::string d = value("-I"); !d.empty()) angled.push_back(absolute(d));
      else if (flags[i].find("sysroot") != std::string::npos || flags[i].compare(0, 8, "-iprefix") == 0 || flags[i].compare(0, 5, "-iwit") == 0 ||
               flags[i] == "-include-pch" || flags[i] == "-ivfsoverlay" || flags[i] == "-Xclang" || flags[i].compare(0, 4, "-Wp,") == 0 || flags[i] == "-Xpreprocessor")
        unsure = true;
    }
    for (const char* name : {"CPATH", "CPLUS_INCLUDE_PATH"})
      if (const char* list = std::getenv(name))
        for (const std::string& d : split(list, ':')) angled.push_back(absolute(d.empty() ? "." : d));
    system = {"/usr/local/include", "/usr/include"};
  }
};

class Scanner {
 public:
  Scanner(const Search& search, const std::string& folder, bool all) : search_(search), folder_(folder), all_(all) {}

  Scan run(const std::string& source) {
    const std::string path = source[0] == '/' ? source : folder_ + "/" + source;
    if (search_.unsure) scan_.framework = scan_.words = true;
    queue_.push_back({path, false});
    for (const std::string& f : search_.forced) follow({f, false, false}, folder_ + "/x", false);
    for (size_t i = 0; i < queue_.size(); ++i) {
      if (i > 0 && scan_.mayTrain() && !all_) break;
      read(queue_[i].first, queue_[i].second, i == 0);
    }
    return std::move(scan_);
  }

 private:
  void read(const std::string path, bool system, bool source) {
    std::string text;
    if (!readFile(path, text)) return;
    if (source) scan_.main = mayDefineMain(text);
    scan_.words = scan_.words || speaksOfTraining(text);
    scan_.files.push_back(path);
    for (const Include& i : includesOf(text)) follow(i, path, system);
  }

  void follow(const Include& i, const std::string& from, bool system) {
    // A name made by macros: outside of the system's headers it may be anything.
    if (i.computed && !system) scan_.framework = scan_.words = true;
    if (i.computed) return;
    if (namesFramework(i.name)) {
      scan_.framework = true;
      return;
    }
    if (i.name[0] == '/') return add(i.name, system);
    if (!i.angled) {
      if (add(from.substr(0, from.rfind('/') + 1) + i.name, system), found_) return;
      for (const std::string& d : search_.quoted)
        if (add(d + "/" + i.name, false), found_) return;
    }
    for (const std::string& d : search_.angled)
      if (add(d + "/" + i.name, system || isSystem(d)), found_) return;
    for (const std::string& d : search_.system)
      if (add(d + "/" + i.name, true), found_) return;
  }

  bool isSystem(const std::string& folder) const {
    for (const std::string& d : search_.system)
      if (folder.compare(0, d.size(), d) == 0) return true;
    return search_.isystem.count(folder) > 0;
  }

  /// All places that exist count once; `found_` says that this one does.
  void add(const std::string& path, bool system) {
    struct stat status;
    found_ = known_.count(path) > 0;
    if (found_) return;
    found_ = stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode);
    if (!found_) return;
    known_.insert(path);
    queue_.push_back({path, system});
  }

  const Search& search_;
  const std::string& folder_;
  const bool all_;
  bool found_ = false;
  std::vector<std::pair<std::string, bool>> queue_;
  std::unordered_set<std::string> known_;
  Scan scan_;
};

}  // namespace

Scan scanSource(const std::string& source, const Words& flags, const std::string& folder, bool all) {
  const Search search(flags, folder);
  return Scanner(search, folder, all).run(source);
}

}  // namespace hvdize::wrapper
