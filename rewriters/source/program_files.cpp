// SPDX-License-Identifier: Apache-2.0
#include "rewriters/source/program_files.h"

#include <clang/Basic/FileManager.h>
#include <clang/Basic/SourceManager.h>
#include <llvm/Support/FileSystem.h>
#include <llvm/Support/Path.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "rewriters/source/format.h"
#include "rewriters/source/line_directives.h"
#include "rewriters/source/system_header.h"

namespace hvdize {
namespace {

std::string realPath(const std::string& file) {
  llvm::SmallString<256> real;
  if (!llvm::sys::fs::real_path(file, real)) return real.str().str();
  return file;
}

std::string folderOf(const std::string& file) { return llvm::sys::path::parent_path(file).str(); }

/// `to` as seen from `folder`, with '/'.
std::string relativePath(const std::string& to, const std::string& folder) {
  return std::filesystem::path(to).lexically_relative(folder).generic_string();
}

std::string absolutePath(const std::string& file) {
  llvm::SmallString<256> p(file);
  llvm::sys::fs::make_absolute(p);
  llvm::sys::path::remove_dots(p, /*remove_dot_dot=*/true);
  return p.str().str();
}

class Collector {
 public:
  Collector(clang::SourceManager& sm, const EditSet& edits, const IncludeList& includes) : sm_(sm), edits_(edits), includes_(includes) {}

  std::vector<FileResult> run(const std::vector<std::string>& sources) {
    for (const std::string& s : sources) add(s, false);
    for (unsigned n = 0; n < edits_.files().size(); ++n)
      if (edited(n)) add(edits_.files()[n].path, true);
    // Whoever includes a header that changes must be written too, so that it finds the new one.
    for (size_t known = 0; known != files_.size();) {
      known = files_.size();
      for (const Include& i : includes_.direct) {
        const auto entry = sm_.getFileEntryRefForID(i.file);
        if (entry && isHeader(realPath(i.path))) add(entry->getName().str(), true);
      }
    }
    return std::move(files_);
  }

 private:
  bool edited(unsigned n) const {
    return std::any_of(edits_.edits().begin(), edits_.edits().end(), [&](const Edit& e) { return e.range.file == n; });
  }
  bool isHeader(const std::string& real) const {
    const auto it = real_.find(real);
    return it != real_.end() && files_[it->second].header;
  }

  void add(const std::string& path, bool header) {
    if (!real_.emplace(realPath(path), files_.size()).second) return;
    FileResult f;
    f.path = plainPath(path);
    f.header = header;
    f.input = f.output = asWritten(textOf(path));
    for (unsigned n = 0; n < edits_.files().size(); ++n)
      if (realPath(edits_.files()[n].path) == realPath(path))
        for (const Edit& e : edits_.edits())
          if (e.range.file == n) f.edits.push_back(e), f.editLines.push_back(edits_.lineOf(e));
    for (const Include& i : includes_.direct)
      if (const auto entry = sm_.getFileEntryRefForID(i.file); entry && realPath(entry->getName().str()) == realPath(path)) f.includes.push_back(i);
    f.output = applyEdits(f.input, f.edits, &f.map);
    files_.push_back(std::move(f));
  }

  std::string textOf(const std::string& path) const {
    const auto entry = sm_.getFileManager().getOptionalFileRef(path);
    const auto text = entry ? sm_.getMemoryBufferForFileOrNone(*entry) : std::nullopt;
    return text ? text->getBuffer().str() : "";
  }

  clang::SourceManager& sm_;
  const EditSet& edits_;
  const IncludeList& includes_;
  std::vector<FileResult> files_;
  std::map<std::string, size_t> real_;
};

}  // namespace

std::vector<FileResult> collectFiles(clang::SourceManager& sm, const EditSet& edits, const IncludeList& includes,
                                     const std::vector<std::string>& sources) {
  return Collector(sm, edits, includes).run(sources);
}

namespace {

class Settler {
 public:
  Settler(const std::vector<FileResult>& files, const Placement& place, const std::string& base) : base_(realPath(base)) {
    for (const FileResult& f : files)
      if (const std::string out = place ? place(f) : ""; !out.empty()) written_[realPath(f.path)] = absolutePath(out);
  }

  /// Edits of the #include directives of a file that is written elsewhere.
  std::vector<Edit> redirect(const FileResult& f) {
    std::vector<Edit> edits;
    const std::string old = realPath(f.path);
    const auto self = written_.find(old);
    if (self == written_.end() || self->second == old) return edits;
    for (const Include& i : f.includes) {
      const std::string name = i.path.empty() ? "" : newName(i, folderOf(old), folderOf(self->second));
      if (name.empty()) continue;
      const unsigned number = f.edits.empty() ? 0 : f.edits.front().range.file;
      edits.push_back({Edit::Kind::Replace, {i.nameBegin, i.end, number}, "\"" + name + "\"", "", {DiagID::HeaderIncluded, "the rewritten header"}, {}, {}});
    }
    return edits;
  }

  bool needsBase() const { return needsBase_; }

 private:
  /// Empty: the directive stays.
  std::string newName(const Include& i, const std::string& oldFolder, const std::string& newFolder) {
    const std::string header = realPath(i.path);
    const auto target = written_.find(header);
    if (target != written_.end()) {
      const bool reached = !i.angled && absolutePath(newFolder + "/" + i.name) == target->second;
      return reached ? "" : relativePath(target->second, newFolder);
    }
    const bool neighbour = !i.angled && absolutePath(oldFolder + "/" + i.name) == header;
    if (!neighbour || newFolder == oldFolder) return "";
    needsBase_ = true;
    return oldFolder == base_ ? "" : relativePath(header, base_);
  }

  std::string base_;
  std::map<std::string, std::string> written_;  // real path of the original to the new place
  bool needsBase_ = false;
};

}  // namespace

bool settle(std::vector<FileResult>& files, const Placement& place, const std::string& base, bool lineDirectives) {
  Settler settler(files, place, base);
  for (FileResult& f : files) {
    std::vector<Edit> edits = settler.redirect(f);
    edits.insert(edits.begin(), f.edits.begin(), f.edits.end());
    f.output = applyEdits(f.input, edits, &f.map);
    if (f.output == f.input) continue;
    f.output = lineDirectives ? withLineDirectives(f.output, f.map, f.path) : formatChangedLines(f.output, f.map, f.path);
  }
  return settler.needsBase();
}

}  // namespace hvdize
