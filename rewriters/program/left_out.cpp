// SPDX-License-Identifier: Apache-2.0
#include "rewriters/program/left_out.h"

#include "clang/Basic/SourceManager.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"

#include "rewriters/program/sites.h"

namespace hvdize {

static llvm::SmallString<256> wholePath(llvm::StringRef file, const std::string& directory) {
  llvm::SmallString<256> path(file);
  llvm::sys::fs::make_absolute(directory, path);
  return path;
}

std::vector<std::string> filesLeftOut(llvm::ArrayRef<std::string> files, const std::string& directory) {
  std::vector<std::string> out;
  for (const std::string& file : files) {
    const auto text = llvm::MemoryBuffer::getFile(wholePath(file, directory));
    if (text && (*text)->getBuffer().contains("backward(") && !(*text)->getBuffer().contains("hvd::")) out.push_back(file);
  }
  return out;
}

const clang::Expr* backwardIn(llvm::ArrayRef<std::string> files, const std::string& directory, clang::ASTContext& ast, const AuthorFiles& author, const Dialect& dialect) {
  const clang::SourceManager& sm = ast.getSourceManager();
  const AuthorCode code(ast, author);
  const Sites sites(code, dialect);
  for (const Site& s : sites.of(Role::Backward)) {
    const auto entry = sm.getFileEntryRefForID(sm.getFileID(sm.getExpansionLoc(s.call->getBeginLoc())));
    const auto same = [&](const std::string& file) { return entry && llvm::sys::fs::equivalent(entry->getName(), wholePath(file, directory)); };
    if (llvm::any_of(files, same)) return s.call;
  }
  return nullptr;
}

}  // namespace hvdize
