// SPDX-License-Identifier: Apache-2.0
#include "rewriters/parse/invoke.h"

#include <clang/Basic/Diagnostic.h>
#include <clang/Basic/FileManager.h>
#include <clang/Frontend/FrontendAction.h>
#include <clang/Tooling/Tooling.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/VirtualFileSystem.h>

namespace hvdize {
namespace {

/// The files on the disk, and in front of them those that `input` holds; their quoted includes are found as before.
llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> filesOf(const ParseInput& input) {
  llvm::IntrusiveRefCntPtr<llvm::vfs::OverlayFileSystem> fs(new llvm::vfs::OverlayFileSystem(llvm::vfs::createPhysicalFileSystem()));
  if (!input.directory.empty()) fs->setCurrentWorkingDirectory(input.directory);
  if (input.texts.empty() && input.buffers.empty()) return fs;
  llvm::IntrusiveRefCntPtr<llvm::vfs::InMemoryFileSystem> memory(new llvm::vfs::InMemoryFileSystem);
  if (auto cwd = fs->getCurrentWorkingDirectory()) memory->setCurrentWorkingDirectory(*cwd);
  for (const auto& [path, text] : input.texts) memory->addFile(path, 0, llvm::MemoryBuffer::getMemBufferCopy(text, path));
  for (const llvm::MemoryBufferRef& b : input.buffers) memory->addFileNoOwn(b.getBufferIdentifier(), 0, b);
  fs->pushOverlay(memory);
  return fs;
}

}  // namespace

bool runAction(const ParseInput& input, const std::string& file, std::unique_ptr<clang::FrontendAction> action, clang::DiagnosticConsumer& messages) {
  llvm::IntrusiveRefCntPtr<clang::FileManager> files(new clang::FileManager(clang::FileSystemOptions(), filesOf(input)));
  // Without carets the compiler keeps "1 error generated." to itself; our printer draws its own.
  std::vector<std::string> command = {"clang++", "-fsyntax-only", "-w", "-fno-caret-diagnostics", "-resource-dir", input.resourceDir};
  command.insert(command.end(), input.flags.begin(), input.flags.end());
  command.push_back(file);
  clang::tooling::ToolInvocation invocation(std::move(command), std::move(action), files.get());
  invocation.setDiagnosticConsumer(&messages);
  return invocation.run() && messages.getNumErrors() == 0;
}

}  // namespace hvdize
