// SPDX-License-Identifier: Apache-2.0
#include "rewriters/parse/header_record.h"

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/StringExtras.h>
#include <llvm/Support/FileSystem.h>
#include <llvm/Support/Path.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Support/xxhash.h>

#include <algorithm>

namespace hvdize {
namespace {

const char* const kTitle = "hvdize headers 1";

/// Sorted, so that equal records are equal bytes.
void addNames(llvm::raw_ostream& os, const char* word, const llvm::StringSet<>& names) {
  std::vector<llvm::StringRef> sorted;
  for (const auto& n : names) sorted.push_back(n.getKey());
  llvm::sort(sorted);
  for (llvm::StringRef n : sorted) os << word << " " << n << "\n";
}

bool addFile(llvm::StringRef rest, std::vector<FileState>& files) {
  FileState f;
  auto [size, behind] = rest.split(' ');
  auto [modified, path] = behind.split(' ');
  if (size.getAsInteger(10, f.size) || modified.getAsInteger(10, f.modified) || path.empty()) return false;
  f.path = path.str();
  files.push_back(std::move(f));
  return true;
}

bool addLine(llvm::StringRef word, llvm::StringRef rest, HeaderRecord& r) {
  if (word == "identifier") return r.identifiers.insert(rest), true;
  if (word == "macro") return r.macros.insert(rest), true;
  if (word == "global") return r.globals.insert(rest), true;
  if (word == "file") return addFile(rest, r.files);
  if (word == "folder") return r.folders.push_back(rest.str()), true;
  if (word == "user") return r.userFiles.push_back(rest.str()), true;
  if (word == "checksum") return r.checksum = rest.str(), true;
  if (word == "size") return !rest.getAsInteger(10, r.size);
  if (word != "include" && word != "search") return false;
  const auto [name, path] = rest.split('\t');
  (word == "include" ? r.includes : r.searched)[name.str()] = path.str();
  return true;
}

llvm::StringSet<> entriesOf(const std::string& folder) {
  llvm::StringSet<> names;
  std::error_code ec;
  for (llvm::sys::fs::directory_iterator it(folder, ec), end; it != end && !ec; it.increment(ec)) names.insert(llvm::sys::path::filename(it->path()));
  return names;
}

}  // namespace

std::optional<FileState> FileState::of(const std::string& path) {
  llvm::sys::fs::file_status status;
  if (llvm::sys::fs::status(path, status) || !llvm::sys::fs::is_regular_file(status)) return std::nullopt;
  return FileState{path, status.getSize(), status.getLastModificationTime().time_since_epoch().count()};
}

bool FileState::isCurrent() const {
  const std::optional<FileState> now = of(path);
  return now && now->size == size && now->modified == modified;
}

bool HeaderRecord::isCurrent() const {
  return llvm::all_of(files, [](const FileState& f) { return f.isCurrent(); });
}

std::string HeaderRecord::foundElsewhere(const std::vector<std::string>& now) const {
  for (const std::string& folder : folders)
    if (!llvm::is_contained(now, folder)) return folder;
  std::vector<llvm::StringSet<>> entries;
  for (const std::string& folder : now) entries.push_back(entriesOf(folder));
  for (const auto& [name, path] : searched) {
    const llvm::StringRef first = llvm::StringRef(name).split('/').first;
    for (size_t i = 0; i < now.size(); ++i) {
      const std::string there = now[i] + "/" + name;
      if (first != ".." && (!entries[i].contains(first) || !llvm::sys::fs::exists(there))) continue;
      if (there != path) return name;
      break;
    }
  }
  return "";
}

std::string HeaderRecord::text() const {
  std::string out;
  llvm::raw_string_ostream os(out);
  os << kTitle << "\nchecksum " << checksum << "\nsize " << size << "\n";
  for (const FileState& f : files) os << "file " << f.size << " " << f.modified << " " << f.path << "\n";
  for (const auto& [name, path] : includes) os << "include " << name << "\t" << path << "\n";
  for (const auto& [name, path] : searched) os << "search " << name << "\t" << path << "\n";
  for (const std::string& f : folders) os << "folder " << f << "\n";
  for (const std::string& f : userFiles) os << "user " << f << "\n";
  addNames(os, "identifier", identifiers);
  addNames(os, "macro", macros);
  addNames(os, "global", globals);
  os << "end\n";
  return out;
}

std::optional<HeaderRecord> HeaderRecord::parse(llvm::StringRef text) {
  if (!text.consume_front(kTitle) || !text.consume_front("\n") || !text.ends_with("\nend\n")) return std::nullopt;
  std::optional<HeaderRecord> r(std::in_place);
  while (!text.empty()) {
    auto [line, behind] = text.split('\n');
    if (line == "end") return behind.empty() && r->checksum.size() == 32 ? r : std::nullopt;
    const auto [word, rest] = line.split(' ');
    if (!addLine(word, rest, *r)) return std::nullopt;
    text = behind;
  }
  return std::nullopt;  // its end is missing
}

std::string checksumOf(llvm::StringRef bytes) {
  const auto hash = llvm::xxh3_128bits(llvm::arrayRefFromStringRef(bytes));
  return llvm::utohexstr(hash.high64, /*LowerCase=*/true, 16) + llvm::utohexstr(hash.low64, true, 16);
}

}  // namespace hvdize
