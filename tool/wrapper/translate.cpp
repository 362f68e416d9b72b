// SPDX-License-Identifier: Apache-2.0
#include "tool/wrapper/translate.h"

#include <cstdio>
#include <stdexcept>
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

/// Another name for the object while it grows. Compilers name further files (.gcno, .dwo, .su) after it without its ending, so that
/// these come out as the author knows them.
std::string growing(const std::string& output) {
  const size_t slash = output.rfind('/'), dot = output.rfind('.');
  const bool ends = dot != std::string::npos && (slash == std::string::npos || dot > slash);
  return output.substr(0, ends ? dot : output.size()) + ".hvdize-growing";
}

class Step {
 public:
  Step(const Site& site, const Translation& t)
      : site_(site), t_(t), u_(*t.unit), request_(t.dependencies, t.output), output_(absolutePath(t.output, u_.folder)), object_(absolutePath(growing(t.output), u_.folder)) {
    guarded_ = u_.mayTrain() && u_.kind != Unit::Kind::Unsupported;
    source_ = t.rewriting ? t.rewriting->find(u_.path()) : nullptr;
  }

  int run(Words* files) {
    if (guarded_) prepareGuard();
    const std::string folder = u_.folder == currentFolder() ? "" : u_.folder;
    const int status = wrapper::run(shortened(command(), u_.compiler.size() - 1, own("")), folder);
    if (status == 0) {
      settleDependencies(files);
      finish();
    }
    unlink(object_.c_str());
    if (!keepsTexts() && guarded_) unlink(guard().c_str());
    return status;
  }

 private:
  /// Of this object alone: units of one program may be compiled side by side.
  std::string own(const char* what) const { return t_.work + "/" + nameOf(output_) + what; }
  std::string guard() const { return own(".guard.h"); }
  std::string ownRule() const { return own(".rule.d"); }
  /// Compiled through us, so that its rule does not show what is ours.
  bool ownsRule() const { return guarded_ || t_.rewriting; }

  void prepareGuard() {
    makeFolders(t_.work);
    writeFile(guard(), std::string("asm(\".pushsection .hvdize.guard,\\\"\\\",%progbits\\n.quad ") + kGuard + "\\n.popsection\\n\");\n");
  }

  Words command() {
    Words c = u_.compiler;
    if (t_.rewriting && !t_.rewriting->quoteFolder.empty()) c.insert(c.end(), {"-iquote", t_.rewriting->quoteFolder});
    if (source_) {
      const std::string folder = folderOf(u_.source);
      c.insert(c.end(), {"-iquote", folder.empty() ? "." : folder});
    }
    const Words flags = t_.rewriting ? withNewTexts(u_.flags, u_.folder, *t_.rewriting) : u_.flags;
    c.insert(c.end(), flags.begin(), flags.end());
    if (t_.rewriting) addForRewritten(c);
    if (guarded_) c.insert(c.end(), {"-include", guard()});
    c.insert(c.end(), request_.flags.begin(), request_.flags.end());
    if (ownsRule() && !request_.wanted) c.push_back("-MMD");
    if (ownsRule()) c.insert(c.end(), {"-MF", ownRule()});
    else if (request_.wanted) c.insert(c.end(), {"-MF", request_.file});
    if (source_) c.insert(c.end(), {"-x", "c++"});
    else if (languageOfFile(u_.source) != Language::Cxx) c.insert(c.end(), {"-x", "c++"});
    c.insert(c.end(), {"-c", source_ ? source_->rewritten : u_.source, "-o", object_});
    return c;
  }

  void addForRewritten(Words& c) const {
    for (const std::string& folder : site_.includes) c.insert(c.end(), {"-idirafter", folder});
    if (const std::string standard = neededStandard(u_.flags); !standard.empty()) c.insert(c.end(), {standard, "-Wno-invalid-pch"});
    c.push_back("-ffile-prefix-map=" + t_.work + "=");  // the texts lie below it at the author's paths
  }

  void settleDependencies(Words* files) {
    if (!ownsRule()) return;
    std::string text;
    if (!readFile(ownRule(), text)) throw std::runtime_error("the compiler wrote no dependencies for '" + u_.source + "'");
    const Words read = prerequisites(text);
    if (t_.rewriting) checkHeaders(read);
    if (files) *files = read;
    if (!keepsTexts()) unlink(ownRule().c_str());
    if (!request_.wanted) return;
    text = mapDependencies(text, [&](const std::string& file) -> std::string {
      if (file == guard()) return "";
      if (file.compare(0, t_.work.size(), t_.work) != 0) return file;
      const std::string original = file.substr(t_.work.size());
      return realPath(original) == realPath(u_.path()) ? u_.source : original;
    });
    writeFile(absolutePath(request_.file, u_.folder), text);
  }

  /// A header that was rewritten is read in its new form, or the object is not what hvdize has checked.
  void checkHeaders(Words read) const {
    // GCC names a precompiled header, and not what it was made of.
    for (size_t i = 0, n = read.size(); i < n; ++i)
      if (const std::string& file = read[i]; file.size() > 4 && file.compare(file.size() - 4, 4, ".gch") == 0) {
        const Words inside = scanSource(absolutePath(file.substr(0, file.size() - 4), u_.folder), u_.flags, u_.folder, true).files;
        read.insert(read.end(), inside.begin(), inside.end());
      }
    for (const Changed& c : t_.rewriting->changed)
      for (const std::string& file : read)
        if (c.header && realPath(absolutePath(file, u_.folder)) == realPath(c.original))
          throw std::runtime_error("'" + c.original + "' changes in the distributed program, but '" + u_.source +
                                   "' reads its old form too, through a precompiled header, -include or an #include by a macro: include it by its name");
  }

  void finish() {
    if (!addSection(object_, kSection, textOf(u_), true) && u_.mayTrain())
      throw std::runtime_error("'" + u_.source + "' may train, and its object has a form that hvdize-c++ cannot add a summary to: compile it without -flto");
    if (std::rename(object_.c_str(), output_.c_str()) != 0) throw std::runtime_error("cannot write '" + output_ + "'");
  }

  const Site& site_;
  const Translation& t_;
  const Unit& u_;
  const DependencyRequest request_;
  const std::string output_, object_;
  const Changed* source_ = nullptr;
  bool guarded_ = false;
};

}  // namespace

int translate(const Site& site, const Translation& t, Words* files) { return Step(site, t).run(files); }

}  // namespace hvdize::wrapper
