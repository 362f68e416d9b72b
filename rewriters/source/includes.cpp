// SPDX-License-Identifier: Apache-2.0
#include "rewriters/source/includes.h"

#include <clang/Basic/SourceManager.h>
#include <clang/Lex/Lexer.h>
#include <clang/Lex/PPCallbacks.h>
#include <llvm/ADT/STLExtras.h>
#include <llvm/Support/Path.h>

#include <algorithm>

namespace hvdize {
namespace {

class IncludeCollector : public clang::PPCallbacks {
 public:
  IncludeCollector(clang::SourceManager& sm, IncludeList& list, bool several) : sm_(sm), list_(list), several_(several) {}

  void InclusionDirective(clang::SourceLocation hash, const clang::Token&, llvm::StringRef name, bool angled, clang::CharSourceRange nameRange,
                          clang::OptionalFileEntryRef file, llvm::StringRef, llvm::StringRef, const clang::Module*, bool,
                          clang::SrcMgr::CharacteristicKind) override {
    std::string& path = list_.all[name.str()];
    const std::string real = file ? file->getFileEntry().tryGetRealPathName().str() : "";
    if (path.empty()) path = real;
    if (file && llvm::is_contained(list_.precompiled, real))
      for (const std::string& user : list_.precompiledUserFiles) addUserFile(user);
    const clang::FileID in = sm_.getFileID(hash);
    if (sm_.isInSystemHeader(hash) || (several_ && in == sm_.getMainFileID())) return;
    // The name of a computed include is elsewhere; such a line is no place to insert after.
    if (nameRange.getBegin().isMacroID()) return;
    const clang::FileID outer = several_ ? sm_.getFileID(sm_.getIncludeLoc(in)) : in;
    list_.direct.push_back({in, outer == sm_.getMainFileID(), name.str(), angled, file ? file->getName().str() : "", sm_.getFileOffset(hash),
                            sm_.getFileOffset(nameRange.getBegin()), sm_.getFileOffset(nameRange.getEnd())});
  }

  void FileChanged(clang::SourceLocation loc, FileChangeReason reason, clang::SrcMgr::CharacteristicKind kind, clang::FileID) override {
    if (reason != EnterFile || clang::SrcMgr::isSystem(kind)) return;
    const clang::FileID id = sm_.getFileID(loc);
    auto entry = sm_.getFileEntryRefForID(id);
    if (!entry || (several_ && id == sm_.getMainFileID())) return;  // the predefines, and what only names the sources
    addUserFile(entry->getName().str());
  }

 private:
  void addUserFile(const std::string& path) {
    if (!llvm::is_contained(list_.userFiles, path)) list_.userFiles.push_back(path);
  }

  clang::SourceManager& sm_;
  IncludeList& list_;
  bool several_;
};

}  // namespace

bool IncludeList::includesAny(const std::vector<std::string>& names) const {
  return std::any_of(names.begin(), names.end(), [this](const std::string& n) { return includes(n); });
}

bool IncludeList::includesDirectly(const std::vector<std::string>& names) const {
  return std::any_of(direct.begin(), direct.end(),
                     [&](const Include& i) { return i.inSource && std::find(names.begin(), names.end(), i.name) != names.end(); });
}

std::string IncludeList::folderOf(const std::vector<std::string>& names, const std::string& layout) const {
  for (const std::string& name : names) {
    auto found = all.find(name);
    if (found == all.end() || found->second.empty()) continue;
    llvm::StringRef folder = llvm::sys::path::parent_path(found->second);
    if (!layout.empty() && folder.ends_with("/" + layout)) return folder.drop_back(layout.size()).str();
    return folder.str() + "/";
  }
  return "";
}

std::unique_ptr<clang::PPCallbacks> collectIncludes(clang::SourceManager& sm, IncludeList& list, bool several) {
  return std::make_unique<IncludeCollector>(sm, list, several);
}

}  // namespace hvdize
