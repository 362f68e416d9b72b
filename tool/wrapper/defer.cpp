// SPDX-License-Identifier: Apache-2.0
#include "tool/wrapper/defer.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <unistd.h>

#include "tool/wrapper/dependencies.h"
#include "tool/wrapper/elf.h"
#include "tool/wrapper/files.h"
#include "tool/wrapper/forced.h"
#include "tool/wrapper/options.h"
#include "tool/wrapper/process.h"
#include "tool/wrapper/scan.h"

namespace hvdize::wrapper {
namespace {

bool switchedOff() {
  const char* said = std::getenv("HVDIZE_DEFER");
  return said && std::string(said) == "off";
}

bool objectIsAll(const Words& flags) {
  for (size_t i = 0; i < flags.size(); ++i) {
    if (!makesObjectOnly(flags[i])) return false;
    if (takesNextWord(flags[i])) ++i;
  }
  return true;
}

/// Files that grow beside those that others wait for.
class Growing {
 public:
  Growing(const Translation& t, const std::string& what) : file(t.work + "/" + nameOf(t.output) + what) { makeFolders(t.work); }
  ~Growing() { unlink(file.c_str()); }
  Growing(const Growing&) = delete;
  Growing& operator=(const Growing&) = delete;
  const std::string file;
};

/// As the compiler writes it on the way to an object. What it says is said when it compiles.
bool writeDependencies(const Translation& t) {
  const DependencyRequest request(t.dependencies, t.output);
  if (!request.wanted) return true;
  const Unit& u = *t.unit;
  const Growing rule(t, ".rule.d"), messages(t, ".messages");
  Words c = u.compiler;
  c.insert(c.end(), u.flags.begin(), u.flags.end());
  c.insert(c.end(), request.flags.begin(), request.flags.end());
  c.insert(c.end(), {"-MF", rule.file});
  if (languageOfFile(u.source) != Language::Cxx) c.insert(c.end(), {"-x", "c++"});
  // With it GCC looks at a precompiled header as it does when it compiles.
  c.insert(c.end(), {"-fpch-preprocess", "-E", u.source, "-o", "/dev/null"});
  std::string text;
  if (run(shortened(c, u.compiler.size() - 1, t.work), "", messages.file) != 0 || !readFile(rule.file, text)) return false;
  writeFile(absolutePath(request.file, u.folder), text);
  return true;
}

/// An object that asks for a symbol that nobody has. It defines what the unit does, so that a linker that is not ours finds it in an archive,
/// and says that symbol's name.
bool writeObject(const Translation& t, const Words& defined) {
  const Unit& u = *t.unit;
  const Growing source(t, ".deferred.cpp"), object(t, ".deferred.o"), messages(t, ".messages");
  std::string text = "asm(\".pushsection .hvdize.guard,\\\"\\\",%progbits\\n";
  for (const std::string& name : defined) text += ".globl " + name + "\\n" + name + ":\\n";
  writeFile(source.file, text + ".quad " + kDeferredGuard + "\\n.popsection\\n\");\n");
  Words c = u.compiler;
  const Words flags = withoutForced(u.flags);
  c.insert(c.end(), flags.begin(), flags.end());
  c.insert(c.end(), {"-c", source.file, "-o", object.file});
  if (run(shortened(c, u.compiler.size() - 1, t.work), "", messages.file) != 0) return false;
  Unit deferred = u;
  deferred.kind = Unit::Kind::Deferred;
  return addSection(object.file, kSection, textOf(deferred), true) && std::rename(object.file.c_str(), absolutePath(t.output, u.folder).c_str()) == 0;
}

}  // namespace

bool mayDefer(const Unit& u, const Words& dependencies) {
  if (switchedOff() || !objectIsAll(withoutForced(u.flags))) return false;
  if (std::any_of(dependencies.begin(), dependencies.end(), [](const std::string& w) { return w.rfind("-Wp,", 0) == 0 || w == "-MJ"; })) return false;
  if (u.main) return true;
  bool backward = false, step = false;
  std::string text;
  for (const std::string& file : scanSource(u.source, u.flags, u.folder, true).files) {
    if (!readFile(absolutePath(file, u.folder), text)) continue;
    backward = backward || text.find("backward") != std::string::npos;
    step = step || text.find("step") != std::string::npos;
  }
  return backward && step;
}

bool changesForSure(const Unit& u, const Rewriting& alone) {
  return (alone.status == 0 || alone.status == 1) && (alone.trains || (u.main && alone.optimizers));
}

bool defer(const Translation& t, const Words& defined) { return writeDependencies(t) && writeObject(t, defined); }

}  // namespace hvdize::wrapper
