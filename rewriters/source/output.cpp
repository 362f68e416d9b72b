// SPDX-License-Identifier: Apache-2.0
#include "rewriters/source/output.h"

#include <llvm/Support/FileSystem.h>
#include <llvm/Support/FileUtilities.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/Path.h>
#include <llvm/Support/raw_ostream.h>

namespace hvdize {
namespace fs = llvm::sys::fs;
namespace {

bool fail(std::string* error, llvm::StringRef path, llvm::StringRef why) {
  *error = ("cannot write '" + path + "': " + why).str();
  return false;
}

bool holdsAlready(llvm::StringRef path, llvm::StringRef text) {
  auto old = llvm::MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  return old && (*old)->getBuffer() == text;
}

/// A device or a pipe ("/dev/stdout") cannot be replaced by renaming.
bool writeDirectly(llvm::StringRef path, llvm::StringRef text, std::string* error) {
  std::error_code ec;
  llvm::raw_fd_ostream out(path, ec);
  if (!ec) {
    out << text;
    out.close();
    ec = out.error();
    out.clear_error();
  }
  return ec ? fail(error, path, ec.message()) : true;
}

}  // namespace

bool writeAtomically(llvm::StringRef path, llvm::StringRef text, std::string* error) {
  llvm::SmallString<256> target(path);
  fs::file_status status;
  const bool exists = !fs::status(path, status);
  if (exists && status.type() == fs::file_type::directory_file) return fail(error, path, "it is a directory");
  if (exists && status.type() != fs::file_type::regular_file) return writeDirectly(path, text, error);
  if (exists) {
    if (holdsAlready(path, text)) return true;
    fs::real_path(path, target);
  }
  llvm::StringRef folder = llvm::sys::path::parent_path(target);
  if (folder.empty()) folder = ".";
  if (!fs::is_directory(folder)) return fail(error, path, ("the folder '" + folder + "' does not exist").str());

  llvm::SmallString<256> model(target);
  model += ".%%%%%%%%.tmp";
  auto temporary = fs::TempFile::create(model, fs::all_read | fs::all_write);
  if (!temporary) return fail(error, path, llvm::toString(temporary.takeError()));
  llvm::raw_fd_ostream out(temporary->FD, /*shouldClose=*/false);
  out << text;
  out.flush();
  if (std::error_code ec = out.error()) {
    out.clear_error();
    llvm::consumeError(temporary->discard());
    return fail(error, path, ec.message());
  }
  if (exists) fs::setPermissions(temporary->FD, status.permissions());
  if (llvm::Error e = temporary->keep(target)) {
    const std::string why = llvm::toString(std::move(e));
    llvm::consumeError(temporary->discard());
    return fail(error, path, why);
  }
  return true;
}

}  // namespace hvdize
