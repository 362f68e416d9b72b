// SPDX-License-Identifier: Apache-2.0
#include "tool/wrapper/rewrite.h"

#include <cstdlib>
#include <stdexcept>

#include "tool/wrapper/files.h"
#include "tool/wrapper/forced.h"
#include "tool/wrapper/options.h"
#include "tool/wrapper/process.h"

namespace hvdize::wrapper {
namespace {

void readList(Rewriting& r, const std::string& file, const std::string& folder) {
  std::string text;
  if (!readFile(file, text)) throw std::runtime_error("hvdize did not write '" + file + "'");
  for (const std::string& line : split(text, '\n')) {
    const std::vector<std::string> parts = split(line, '\t');
    if (parts.size() == 2 && parts[0] == "runtime") r.runtime = parts[1];
    if (parts.size() == 2 && parts[0] == "quote") r.quoteFolder = parts[1];
    if (parts.size() == 3) r.changed.push_back({parts[0] == "header", absolutePath(parts[1], folder), parts[2]});
  }
}

void readFacts(Rewriting& r, const std::string& file) {
  std::string text;
  if (!readFile(file, text)) return;
  for (const std::string& line : split(text, '\n')) {
    if (line == "trains") r.trains = true;
    if (line == "optimizers") r.optimizers = true;
    if (line.rfind("defines\t", 0) == 0) r.defined.push_back(line.substr(8));
  }
}

}  // namespace

const Changed* Rewriting::find(const std::string& absoluteSource) const {
  for (const Changed& c : changed)
    if (!c.header && realPath(c.original) == realPath(absoluteSource)) return &c;
  return nullptr;
}

std::string Rewriting::hash() const {
  std::string all, text;
  for (const Changed& c : changed)
    if (readFile(c.rewritten, text)) all += c.original + "\n" + text;
  return hashOf(all);
}

Words parseFlags(const Words& given) {
  const Words flags = asText(given);
  Words out;
  for (size_t i = 0; i < flags.size(); ++i) {
    const bool two = takesNextWord(flags[i]) && i + 1 < flags.size();
    if (decidesParsing(flags[i])) out.push_back(flags[i]);
    if (decidesParsing(flags[i]) && two) out.push_back(flags[i + 1]);
    if (two) ++i;
  }
  if (const std::string standard = neededStandard(flags); !standard.empty()) out.push_back(standard);
  // What GCC lets pass with a warning; the real compiler has the last word.
  out.insert(out.end(), {"-Wno-c++11-narrowing", "-Wno-register"});
  return out;
}

Rewriting rewrite(const Site& site, const Words& sources, const std::string& folder, const Words& flags, const Words& options, const std::string& work,
                  const std::string& messages) {
  if (!exists(site.hvdize)) throw std::runtime_error("there is no '" + site.hvdize + "': hvdize-c++ works beside hvdize");
  removeTree(work);
  makeFolders(work);
  Words command = {site.hvdize};
  command.insert(command.end(), sources.begin(), sources.end());
  command.push_back("--units=" + work);
  command.push_back("--quiet");
  command.insert(command.end(), options.begin(), options.end());
  command.push_back("--");
  command.insert(command.end(), flags.begin(), flags.end());
  Rewriting r;
  r.status = run(command, folder, messages);
  if (r.status == 0) readList(r, work + "/list", folder.empty() ? currentFolder() : folder);
  readFacts(r, work + "/facts");
  return r;
}

bool keepsTexts() {
  const char* keep = std::getenv("HVDIZE_KEEP");
  return keep && *keep;
}

std::string workFolder(const std::string& product) {
  const std::string path = absolutePath(product, currentFolder());
  if (!keepsTexts()) return path + ".hvdize";
  return absolutePath(std::getenv("HVDIZE_KEEP"), currentFolder()) + "/" + nameOf(path) + "-" + hashOf(path).substr(0, 8);
}

}  // namespace hvdize::wrapper
