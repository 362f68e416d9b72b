// SPDX-License-Identifier: Apache-2.0
#include "tool/write.h"

#include <llvm/Support/FileSystem.h>
#include <llvm/Support/Path.h>

#include "rewriters/source/diff.h"
#include "rewriters/source/output.h"

namespace hvdize::tool {
namespace {

namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

std::string absolutePath(llvm::StringRef file) {
  llvm::SmallString<256> p(file);
  fs::make_absolute(p);
  path::remove_dots(p, /*remove_dot_dot=*/true);
  return p.str().str();
}

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

bool writeOne(const Arguments& arguments, const Outcome& o, std::string* error) {
  if (o.output == "-") {
    llvm::outs() << o.result.output;
    return true;
  }
  if (!arguments.outputRoot.empty()) {
    if (std::error_code ec = fs::create_directories(path::parent_path(o.output))) {
      *error = "cannot create the folder of '" + o.output + "': " + ec.message();
      return false;
    }
  }
  return writeAtomically(o.output, o.result.output, error);
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
  std::string text = escaped(arguments.output) + ":";
  for (const std::string& file : o.result.userFiles) text += " \\\n  " + escaped(file);
  return writeAtomically(arguments.depfile, text + "\n", error);
}

}  // namespace

bool outputPath(const Arguments& arguments, const std::string& source, std::string* out, std::string* error) {
  out->clear();
  if (arguments.check || arguments.rewrite.printModel) return true;
  if (arguments.inPlace) *out = source;
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

bool writeOutputs(const Arguments& arguments, const std::vector<Outcome>& outcomes, std::string* error) {
  for (const Outcome& o : outcomes) {
    if (arguments.diff) llvm::outs() << unifiedDiff(o.result.input, o.result.output, o.job.file, o.output.empty() ? o.job.file : o.output);
    if (!o.output.empty() && !writeOne(arguments, o, error)) return false;
  }
  return arguments.depfile.empty() || writeDepfile(arguments, outcomes.front(), error);
}

}  // namespace hvdize::tool
