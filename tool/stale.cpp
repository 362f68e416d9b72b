// SPDX-License-Identifier: Apache-2.0
#include "tool/stale.h"

#include <map>
#include <set>

#include <llvm/Support/FileSystem.h>
#include <llvm/Support/MD5.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/Path.h>

#include "rewriters/source/output.h"
#include "tool/paths.h"

namespace hvdize::tool {
namespace {

namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

std::string sumOf(llvm::StringRef text) {
  llvm::MD5 sum;
  sum.update(text);
  llvm::MD5::MD5Result result;
  sum.final(result);
  return result.digest().str().str();
}

// One file for each source, so that runs beside each other do not meet: the headers that go with it, each behind the sum of what was written.
using Headers = std::map<std::string, std::string>;

std::string notesFolder(const std::string& root) { return root + "/.hvdize"; }
std::string notesOf(const std::string& root, const std::string& source) { return notesFolder(root) + "/" + sumOf(absolutePath(source)); }

Headers read(const std::string& notes) {
  Headers out;
  auto text = llvm::MemoryBuffer::getFile(notes);
  if (!text) return out;
  llvm::StringRef rest = (*text)->getBuffer();
  while (!rest.empty()) {
    const auto [line, behind] = rest.split('\n');
    const auto [sum, file] = line.split('\t');
    if (!file.empty()) out[file.str()] = sum.str();
    rest = behind;
  }
  return out;
}

// At its path below the folder, so that the folder can be moved.
std::string below(const std::string& root, const std::string& file) {
  const std::string folder = absolutePath(root) + "/", absolute = absolutePath(file);
  return llvm::StringRef(absolute).starts_with(folder) ? absolute.substr(folder.size()) : std::string();
}

Headers writtenFor(const std::string& root, const Outcome& o) {
  Headers out;
  for (const FileResult& f : o.result.files)
    if (f.header && o.job.place)
      if (const std::string file = below(root, o.job.place(f)); !file.empty()) out[file] = sumOf(f.output);
  return out;
}

}  // namespace

bool removeStale(const std::string& root, const std::vector<Outcome>& outcomes, std::string* error) {
  std::set<std::string> ours, needed;
  Headers earlier;
  for (const Outcome& o : outcomes) {
    const std::string notes = notesOf(root, o.job.file);
    ours.insert(notes);
    for (const auto& [file, sum] : read(notes)) earlier[file] = sum;
    for (const auto& [file, sum] : writtenFor(root, o)) needed.insert(file);
  }
  if (earlier.empty()) return true;
  std::error_code ec;
  for (fs::directory_iterator it(notesFolder(root), ec), end; it != end && !ec; it.increment(ec))
    if (!ours.count(it->path()))
      for (const auto& [file, sum] : read(it->path())) needed.insert(file);
  for (const auto& [file, sum] : earlier) {
    const std::string place = root + "/" + file;
    if (needed.count(file)) continue;
    auto text = llvm::MemoryBuffer::getFile(place);
    if (!text) continue;  // gone
    if (sumOf((*text)->getBuffer()) != sum) {
      *error = "'" + place + "' is the new form of a header that needs none now, and it has been changed since: move it away, or the program would include it";
      return false;
    }
    if (std::error_code failed = fs::remove(place)) {
      *error = "cannot remove '" + place + "', which an earlier run has written: " + failed.message();
      return false;
    }
  }
  return true;
}

bool noteWritten(const std::string& root, const std::vector<Outcome>& outcomes, std::string* error) {
  for (const Outcome& o : outcomes) {
    const std::string notes = notesOf(root, o.job.file);
    std::string text;
    for (const auto& [file, sum] : writtenFor(root, o)) text += sum + "\t" + file + "\n";
    if (text.empty()) {
      fs::remove(notes);
    } else if (fs::create_directories(notesFolder(root)) || !writeAtomically(notes, text, error)) {
      if (error->empty()) *error = "cannot write '" + notes + "'";
      return false;
    }
  }
  return true;
}

}  // namespace hvdize::tool
