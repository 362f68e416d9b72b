// SPDX-License-Identifier: Apache-2.0
#include "rewriters/source/repeated_headers.h"

#include <clang/Basic/SourceManager.h>
#include <clang/Lex/HeaderSearch.h>
#include <clang/Lex/PPCallbacks.h>
#include <clang/Lex/Preprocessor.h>

#include <algorithm>

namespace hvdize {

class RepeatedHeaders::Watcher : public clang::PPCallbacks {
 public:
  Watcher(RepeatedHeaders& headers, clang::Preprocessor& pp) : headers_(headers), pp_(pp) {}

  void FileChanged(clang::SourceLocation loc, FileChangeReason reason, clang::SrcMgr::CharacteristicKind kind, clang::FileID) override {
    if (reason != EnterFile || clang::SrcMgr::isSystem(kind)) return;
    const clang::SourceManager& sm = pp_.getSourceManager();
    const clang::FileID id = sm.getFileID(loc), source = sourceOf(id);
    const clang::OptionalFileEntryRef entry = sm.getFileEntryRefForID(id);
    if (!entry || source.isInvalid() || source == id) return;
    const std::string path = entry->getFileEntry().tryGetRealPathName().str();
    ++headers_.entered_[path][source.getHashValue()].times;
    if (headers_.once_.count(path)) pp_.getHeaderSearchInfo().MarkFileIncludeOnce(*entry);
  }

  void MacroExpands(const clang::Token& name, const clang::MacroDefinition& macro, clang::SourceRange, const clang::MacroArgs*) override { asks(name, macro); }
  void Ifdef(clang::SourceLocation, const clang::Token& name, const clang::MacroDefinition& macro) override { asks(name, macro); }
  void Ifndef(clang::SourceLocation, const clang::Token& name, const clang::MacroDefinition& macro) override { asks(name, macro); }
  void Elifdef(clang::SourceLocation, const clang::Token& name, const clang::MacroDefinition& macro) override { asks(name, macro); }
  void Elifndef(clang::SourceLocation, const clang::Token& name, const clang::MacroDefinition& macro) override { asks(name, macro); }
  void Defined(const clang::Token& name, const clang::MacroDefinition& macro, clang::SourceRange) override { asks(name, macro); }

 private:
  /// Macros that the header itself defines were not there when a source had it alone.
  void asks(const clang::Token& name, const clang::MacroDefinition& macro) {
    const clang::SourceManager& sm = pp_.getSourceManager();
    const clang::MacroInfo* info = macro.getMacroInfo();
    if (!info || sm.isInSystemHeader(sm.getExpansionLoc(name.getLocation()))) return;
    const clang::FileID file = sm.getFileID(sm.getExpansionLoc(name.getLocation()));
    const auto known = headers_.entered_.find(pathOf(file));
    if (known == headers_.entered_.end()) return;
    const auto [where, offset] = sm.getDecomposedExpansionLoc(info->getDefinitionLoc());
    if (const std::string path = pathOf(where); path != known->first)
      known->second[sourceOf(file).getHashValue()].macros += path + ":" + std::to_string(offset) + "\n";
  }
  std::string pathOf(clang::FileID file) const {
    const clang::OptionalFileEntryRef entry = pp_.getSourceManager().getFileEntryRefForID(file);
    return entry ? entry->getFileEntry().tryGetRealPathName().str() : "";
  }

  /// The source, included by the main file, through which the file is read; invalid for the main file.
  clang::FileID sourceOf(clang::FileID file) const {
    const clang::SourceManager& sm = pp_.getSourceManager();
    for (;;) {
      const clang::SourceLocation from = sm.getIncludeLoc(file);
      if (from.isInvalid()) return {};
      const clang::FileID outer = sm.getFileID(from);
      if (outer == sm.getMainFileID()) return file;
      file = outer;
    }
  }

  RepeatedHeaders& headers_;
  clang::Preprocessor& pp_;
};

std::unique_ptr<clang::PPCallbacks> RepeatedHeaders::watch(clang::Preprocessor& pp) {
  entered_.clear();
  return std::make_unique<Watcher>(*this, pp);
}

bool RepeatedHeaders::learn(const std::set<std::string>& errorFiles) {
  const size_t before = once_.size();
  for (const std::string& file : errorFiles) {
    const auto it = entered_.find(file);
    if (it == entered_.end() || it->second.size() < 2) continue;
    const Entry& first = it->second.begin()->second;
    if (first.times == 1 && std::all_of(it->second.begin(), it->second.end(), [&](const auto& source) { return source.second == first; })) once_.insert(file);
  }
  return once_.size() > before;
}

}  // namespace hvdize
