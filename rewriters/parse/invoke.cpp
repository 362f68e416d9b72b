// SPDX-License-Identifier: Apache-2.0
#include "rewriters/parse/invoke.h"

#include <clang/Basic/Diagnostic.h>
#include <clang/Basic/FileManager.h>
#include <clang/Frontend/FrontendAction.h>
#include <clang/Tooling/Tooling.h>
#include <llvm/Support/FileSystem.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/Path.h>
#include <llvm/Support/VirtualFileSystem.h>

#include "rewriters/source/system_header.h"

namespace hvdize {
namespace {

/// The texts of `input`, and those of the files that its command includes (-include), as far as they call themselves the system's: CMake
/// writes such a file for the precompiled headers of a target, and the author's headers that it includes would not be the author's.
std::map<std::string, std::string> textsOf(const ParseInput& input) {
  std::map<std::string, std::string> texts = input.texts;
  const auto absolute = [&](llvm::StringRef file) {
    llvm::SmallString<256> p(file);
    if (!input.directory.empty()) llvm::sys::fs::make_absolute(input.directory, p);
    else llvm::sys::fs::make_absolute(p);
    llvm::sys::path::remove_dots(p, /*remove_dot_dot=*/true);
    return p.str().str();
  };
  for (size_t i = 0; i + 1 < input.flags.size(); ++i) {
    if (input.flags[i] != "-include") continue;
    const std::string file = absolute(input.flags[i + 1]);
    bool given = false;
    for (auto& [path, text] : texts)
      if (absolute(path) == file) text = readAsAuthors(std::move(text)), given = true;
    if (given) continue;
    const auto read = llvm::MemoryBuffer::getFile(file);
    if (!read) continue;
    const std::string before = (*read)->getBuffer().str();
    if (std::string after = readAsAuthors(before); after != before) texts[file] = std::move(after);
  }
  return texts;
}

/// The files on the disk, and in front of them those that `input` holds; their quoted includes are found as before.
llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> filesOf(const ParseInput& input) {
  llvm::IntrusiveRefCntPtr<llvm::vfs::OverlayFileSystem> fs(new llvm::vfs::OverlayFileSystem(llvm::vfs::createPhysicalFileSystem()));
  if (!input.directory.empty()) fs->setCurrentWorkingDirectory(input.directory);
  const std::map<std::string, std::string> texts = textsOf(input);
  if (texts.empty() && input.buffers.empty()) return fs;
  llvm::IntrusiveRefCntPtr<llvm::vfs::InMemoryFileSystem> memory(new llvm::vfs::InMemoryFileSystem);
  if (auto cwd = fs->getCurrentWorkingDirectory()) memory->setCurrentWorkingDirectory(*cwd);
  for (const auto& [path, text] : texts) memory->addFile(path, 0, llvm::MemoryBuffer::getMemBufferCopy(text, path));
  for (const llvm::MemoryBufferRef& b : input.buffers) memory->addFileNoOwn(b.getBufferIdentifier(), 0, b);
  fs->pushOverlay(memory);
  return fs;
}

}  // namespace

bool runAction(const ParseInput& input, const std::string& file, std::unique_ptr<clang::FrontendAction> action, clang::DiagnosticConsumer& messages) {
  llvm::IntrusiveRefCntPtr<clang::FileManager> files(new clang::FileManager(clang::FileSystemOptions(), filesOf(input)));
  // Without carets the compiler keeps "1 error generated." to itself; our printer draws its own.
  std::vector<std::string> command = {"clang++", "-fsyntax-only", "-w", "-fno-caret-diagnostics", "-resource-dir", input.resourceDir};
  for (size_t i = 0; i < input.flags.size(); ++i) {
    // Past the compiler's driver, which would take FILE.pch for FILE where there is one: its text is what is read, and edited.
    const bool text = input.flags[i] == "-include" && i + 1 < input.flags.size();
    if (text) command.insert(command.end(), {"-Xclang", "-include", "-Xclang", input.flags[++i]});
    else command.push_back(input.flags[i]);
  }
  command.push_back(file);
  clang::tooling::ToolInvocation invocation(std::move(command), std::move(action), files.get());
  invocation.setDiagnosticConsumer(&messages);
  return invocation.run() && messages.getNumErrors() == 0;
}

}  // namespace hvdize
