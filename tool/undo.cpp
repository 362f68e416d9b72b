// SPDX-License-Identifier: Apache-2.0
#include "tool/undo.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/Support/FileSystem.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/Path.h>
#include <llvm/Support/xxhash.h>

#include "rewriters/source/output.h"
#include "tool/paths.h"

namespace hvdize::tool {
namespace {

namespace fs = llvm::sys::fs;

std::string listOf(const std::string& source) { return source + ".hvdize-undo"; }
std::string originalOf(const std::string& file) { return file + ".hvdize-orig"; }
std::string hashOf(llvm::StringRef text) { return std::to_string(llvm::xxh3_64bits(text)); }

bool readText(const std::string& file, std::string& text) {
  auto read = llvm::MemoryBuffer::getFile(file);
  if (read) text = (*read)->getBuffer().str();
  return static_cast<bool>(read);
}

/// What is put back; nothing is written before all of it is known.
struct Plan {
  std::vector<std::pair<std::string, std::string>> files;  ///< and their original texts
  std::vector<std::string> lists;

  bool names(const std::string& file) const {
    return llvm::any_of(files, [&](const auto& f) { return f.first == file; });
  }
  bool add(llvm::StringRef list, std::string* error) {
    llvm::SmallVector<llvm::StringRef, 8> lines;
    list.split(lines, '\n', -1, /*KeepEmpty=*/false);
    for (llvm::StringRef line : lines) {
      const auto [hash, file] = line.split('\t');
      if (names(file.str())) continue;
      std::string now, original;
      if (!readText(file.str(), now) || hash != hashOf(now)) *error = "'" + file.str() + "' has changed since it was rewritten: --undo would lose that; the original is in '" + originalOf(file.str()) + "'";
      else if (!readText(originalOf(file.str()), original)) *error = "cannot read '" + originalOf(file.str()) + "'";
      if (!error->empty()) return false;
      files.emplace_back(file.str(), std::move(original));
    }
    return true;
  }
};

}  // namespace

bool keepOriginals(const Outcome& outcome, std::string* error) {
  std::string list;
  for (const FileResult& f : outcome.result.files) {
    if (f.output == f.input) continue;
    if (!writeAtomically(originalOf(f.path), f.input, error)) return false;
    list += hashOf(f.output) + "\t" + absolutePath(f.path) + "\n";
  }
  return list.empty() || writeAtomically(listOf(outcome.job.file), list, error);
}

bool undo(llvm::ArrayRef<std::string> sources, std::vector<std::string>& untouched, std::string* error) {
  Plan plan;
  for (const std::string& source : sources) {
    std::string list;
    if (!readText(listOf(source), list)) continue;
    if (!plan.add(list, error)) return false;
    plan.lists.push_back(listOf(source));
  }
  for (const std::string& source : sources) {
    if (llvm::is_contained(plan.lists, listOf(source)) || plan.names(absolutePath(source))) continue;
    if (fs::exists(originalOf(source))) *error = "'" + source + "' was rewritten together with another source, beside which the list lies: name that one, too";
    else if (plan.lists.empty() || !fs::exists(source)) *error = "nothing to undo for '" + source + "': there is no '" + listOf(source) + "'";
    if (!error->empty()) return false;
    untouched.push_back(source);
  }
  for (const auto& [file, original] : plan.files)
    if (!writeAtomically(file, original, error)) return false;
  for (const auto& [file, original] : plan.files) fs::remove(originalOf(file));
  for (const std::string& list : plan.lists) fs::remove(list);
  return true;
}

}  // namespace hvdize::tool
