// SPDX-License-Identifier: Apache-2.0
#include "tool/undo.h"

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

bool undo(const std::string& source, std::string* error) {
  std::string list;
  if (!readText(listOf(source), list)) {
    *error = "nothing to undo for '" + source + "': there is no '" + listOf(source) + "'";
    return false;
  }
  llvm::SmallVector<llvm::StringRef, 8> lines;
  llvm::StringRef(list).split(lines, '\n', -1, /*KeepEmpty=*/false);
  std::vector<std::pair<std::string, std::string>> files;  // and their original texts
  for (llvm::StringRef line : lines) {
    const auto [hash, file] = line.split('\t');
    std::string now, original;
    if (!readText(file.str(), now) || hash != hashOf(now)) *error = "'" + file.str() + "' has changed since it was rewritten: --undo would lose that; the original is in '" + originalOf(file.str()) + "'";
    else if (!readText(originalOf(file.str()), original)) *error = "cannot read '" + originalOf(file.str()) + "'";
    if (!error->empty()) return false;
    files.emplace_back(file.str(), std::move(original));
  }
  for (const auto& [file, original] : files)
    if (!writeAtomically(file, original, error)) return false;
  for (const auto& [file, original] : files) fs::remove(originalOf(file));
  fs::remove(listOf(source));
  return true;
}

}  // namespace hvdize::tool
