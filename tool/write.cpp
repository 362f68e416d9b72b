// SPDX-License-Identifier: Apache-2.0
#include "tool/write.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/Support/FileSystem.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/Path.h>

#include "rewriters/source/diff.h"
#include "rewriters/source/output.h"
#include "tool/paths.h"
#include "tool/stale.h"
#include "tool/undo.h"

namespace hvdize::tool {
namespace {

namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

/// Below the output folder, at the path from the current one.
bool belowRoot(const Arguments& arguments, const std::string& source, std::string* out, std::string* error) {
  const std::string absolute = absolutePath(source);
  const std::string here = absolutePath(".") + "/";
  if (!llvm::StringRef(absolute).starts_with(here)) {
    *error = "--out-root: '" + source + "' is not below the current folder";
    return false;
  }
  llvm::SmallString<256> p(arguments.outputRoot);
  path::append(p, llvm::StringRef(absolute).drop_front(here.size()));
  *out = p.str().str();
  return true;
}

/// --units: at the author's absolute path below the folder.
std::string belowUnits(const Arguments& arguments, const std::string& file) { return absolutePath(arguments.units) + absolutePath(file); }

std::string placeOf(const Outcome& o, const FileResult& f) { return o.output == "-" ? o.output : o.job.place ? o.job.place(f) : f.path; }

/// Does the file hold what hvdize writes there, perhaps for an older text of the header: the same, one that includes the runtime, or, for a
/// header that only leads to one that changes, one that includes such a header?
bool looksRewritten(const std::string& file, const Outcome& o, const FileResult& f) {
  auto read = llvm::MemoryBuffer::getFile(file);
  if (!read) return false;
  const llvm::StringRef text = (*read)->getBuffer();
  if (text == f.output || text.contains("#include <" + o.result.summary.runtimeHeader + ">")) return true;
  return f.edits.empty() && llvm::any_of(o.result.files, [&](const FileResult& other) {
           return other.header && &other != &f && text.contains((path::filename(placeOf(o, other)) + "\"").str());
         });
}

/// Where a header goes when its program goes to `output`: beside it as it lay beside the source; where that is no place of its own, under
/// a name that begins with the output's.
std::string besideOutput(const std::string& header, const std::string& source, const std::string& output) {
  const std::string absolute = absolutePath(header), folder = path::parent_path(absolutePath(source)).str() + "/";
  const std::string target = path::parent_path(absolutePath(output)).str();
  const llvm::StringRef below = llvm::StringRef(absolute).starts_with(folder) ? llvm::StringRef(absolute).drop_front(folder.size()) : path::filename(absolute);
  llvm::SmallString<256> p(target);
  path::append(p, below);
  if (absolutePath(p) != absolute) return p.str().str();
  p = target;
  path::append(p, path::stem(output) + "_" + path::filename(absolute));
  return p.str().str();
}

/// Before anything is written: a header's place was not named by the user, and a file of theirs that happens to be there is not lost.
bool mayWrite(const Arguments& arguments, const Outcome& o, std::string* error) {
  for (const FileResult& f : o.result.files) {
    // What lies below --out-root is replaced, as the sources there are: that folder was named.
    if (!f.header || arguments.inPlace || !arguments.outputRoot.empty() || !arguments.units.empty() || o.output.empty()) continue;
    if (o.output == "-") {
      *error = "headers of '" + o.job.file + "' change too: say -o FILE or --out-root DIR";
      return false;
    }
    if (const std::string out = placeOf(o, f); fs::exists(out) && !looksRewritten(out, o, f)) {
      *error = "'" + out + "' would get the new form of '" + f.path + "', but it is a file that hvdize did not write; choose another place with -o or --out-root";
      return false;
    }
  }
  return true;
}

bool writeFile(const Arguments& arguments, const Outcome& o, const FileResult& f, std::string* error) {
  const std::string out = placeOf(o, f);
  if (out == "-") {
    llvm::outs() << f.output;
    return true;
  }
  const bool ownFolder = (f.header || !arguments.outputRoot.empty() || !arguments.units.empty()) && !path::parent_path(out).empty();
  if (std::error_code ec = ownFolder ? fs::create_directories(path::parent_path(out)) : std::error_code()) {
    *error = "cannot create the folder of '" + out + "': " + ec.message();
    return false;
  }
  return writeAtomically(out, f.output, error);
}

/// As make reads it: blanks, '#' and '$' escaped.
std::string escaped(llvm::StringRef file) {
  std::string out;
  for (char c : file) {
    if (c == ' ' || c == '#') out += '\\';
    if (c == '$') out += '$';
    out += c;
  }
  return out;
}

bool writeDepfile(const Arguments& arguments, const Outcome& o, std::string* error) {
  std::string text = escaped(arguments.output.empty() ? o.output : arguments.output) + ":";
  for (const std::string& file : o.result.userFiles) text += " \\\n  " + escaped(file);
  return writeAtomically(arguments.depfile, text + "\n", error);
}

/// What hvdize-c++ needs to know: one fact a line, its parts separated by tabs.
bool writeUnitList(const Arguments& arguments, const std::vector<Outcome>& outcomes, std::string* error) {
  std::string text;
  for (const Outcome& o : outcomes) {
    text += "runtime\t" + o.result.summary.runtimeHeader + "\n";
    if (!o.result.quoteFolder.empty()) text += "quote\t" + o.result.quoteFolder + "\n";
    for (const FileResult& f : o.result.files)
      if (f.output != f.input) text += std::string(f.header ? "header" : "source") + "\t" + f.path + "\t" + placeOf(o, f) + "\n";
  }
  return !fs::create_directories(arguments.units) && writeAtomically(arguments.units + "/list", text, error);
}

}  // namespace

bool outputPath(const Arguments& arguments, const std::string& source, std::string* out, std::string* error) {
  out->clear();
  if (arguments.check || arguments.rewrite.printModel) return true;
  if (arguments.inPlace) *out = source;
  if (!arguments.units.empty()) *out = belowUnits(arguments, source);
  if (!arguments.outputRoot.empty()) return belowRoot(arguments, source, out, error);
  if (arguments.output.empty()) return true;
  *out = arguments.output;
  bool same = false;
  if (!fs::equivalent(arguments.output, source, same) && same) {
    *error = "the output would replace the source '" + source + "'; say --in-place for that";
    return false;
  }
  return true;
}

Placement placement(const Arguments& arguments, const std::string& source, const std::string& output) {
  if (arguments.inPlace || (output.empty() && arguments.outputRoot.empty())) return nullptr;
  if (output == "-") return nullptr;
  if (!arguments.units.empty()) return [=](const FileResult& f) { return belowUnits(arguments, f.path); };
  return [=](const FileResult& f) -> std::string {
    std::string out, error;
    if (!arguments.outputRoot.empty()) {
      if (belowRoot(arguments, f.path, &out, &error)) return out;
      llvm::SmallString<256> p(arguments.outputRoot);  // a header from elsewhere
      path::append(p, path::filename(f.path));
      return p.str().str();
    }
    return f.header ? besideOutput(f.path, source, output) : output;
  };
}

bool writeUnitFacts(const Arguments& arguments, const std::vector<Outcome>& outcomes, std::string* error) {
  std::string text;
  for (const Outcome& o : outcomes) {
    if (o.result.summary.trainer) text += "trains\n";
    if (o.result.summary.optimizers) text += "optimizers\n";
    for (const std::string& name : o.result.summary.defined) text += "defines\t" + name + "\n";
  }
  return !fs::create_directories(arguments.units) && writeAtomically(arguments.units + "/facts", text, error);
}

bool writeOutputs(const Arguments& arguments, const std::vector<Outcome>& outcomes, std::string* error) {
  for (const Outcome& o : outcomes)
    if (!mayWrite(arguments, o, error) || (arguments.inPlace && arguments.backup && !keepOriginals(o, error))) return false;
  const bool below = !arguments.outputRoot.empty();
  if (below && !removeStale(arguments.outputRoot, outcomes, error)) return false;
  for (const Outcome& o : outcomes) {
    for (const FileResult& f : o.result.files) {
      const std::string out = placeOf(o, f);
      if (arguments.diff) llvm::outs() << unifiedDiff(f.input, f.output, f.path, out == "-" ? f.path : out);
      if ((arguments.inPlace || !arguments.units.empty()) && f.output == f.input) continue;
      if (!o.output.empty() && !writeFile(arguments, o, f, error)) return false;
    }
  }
  if (below && !noteWritten(arguments.outputRoot, outcomes, error)) return false;
  if (!arguments.units.empty() && !writeUnitList(arguments, outcomes, error)) return false;
  return arguments.depfile.empty() || writeDepfile(arguments, outcomes.front(), error);
}

}  // namespace hvdize::tool
