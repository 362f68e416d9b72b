// SPDX-License-Identifier: Apache-2.0
#include "rewriters/parse/header_cache.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/ScopeExit.h>
#include <llvm/Support/FileSystem.h>
#include <llvm/Support/Path.h>
#include <llvm/Support/Process.h>
#include <llvm/Support/raw_ostream.h>

#ifndef _WIN32
#include <unistd.h>
#endif

namespace hvdize {
namespace {

namespace fs = llvm::sys::fs;
using Time = llvm::sys::TimePoint<>;

/// Headers of another user are not read: they could say anything.
bool isOurs(const fs::file_status& status) {
#ifdef _WIN32
  return true;
#else
  return status.getUser() == geteuid();
#endif
}

std::unique_ptr<llvm::MemoryBuffer> readOwn(const std::string& path) {
  auto file = fs::openNativeFileForRead(path);
  if (!file) return llvm::consumeError(file.takeError()), nullptr;
  const auto close = llvm::make_scope_exit([&] { fs::closeFile(*file); });
  fs::file_status status;
  if (fs::status(*file, status) || !fs::is_regular_file(status) || !isOurs(status)) return nullptr;
  auto text = llvm::MemoryBuffer::getOpenFile(*file, path, status.getSize(), /*RequiresNullTerminator=*/false);
  return text ? std::move(*text) : nullptr;
}

/// Written beside its place and then put there, so that nobody sees half of it.
bool writeWhole(const std::string& path, llvm::StringRef bytes) {
  auto temporary = fs::TempFile::create(path + ".%%%%%%%%.part");
  if (!temporary) return llvm::consumeError(temporary.takeError()), false;
  llvm::raw_fd_ostream os(temporary->FD, /*shouldClose=*/false);
  os << bytes;
  os.flush();
  const bool failed = os.has_error();
  if (failed) os.clear_error();
  if (llvm::Error e = failed ? temporary->discard() : temporary->keep(path)) return llvm::consumeError(std::move(e)), false;
  return !failed;
}

void touch(const std::string& path) {
  int fd = -1;
  if (fs::openFileForWrite(path, fd, fs::CD_OpenExisting, fs::OF_Append)) return;
  fs::setLastAccessAndModificationTime(fd, std::chrono::system_clock::now());
  llvm::sys::Process::SafelyCloseFileDescriptor(fd);
}

/// The lock ends with the process that holds it, however that ends.
class MakerLock {
 public:
  explicit MakerLock(const std::string& path) {
    if (fs::openFileForReadWrite(path, fd_, fs::CD_OpenAlways, fs::OF_None)) return;
    held_ = !fs::tryLockFile(fd_);
  }
  ~MakerLock() {
    if (fd_ < 0) return;
    if (held_) fs::unlockFile(fd_);
    llvm::sys::Process::SafelyCloseFileDescriptor(fd_);
  }
  bool opened() const { return fd_ >= 0; }
  bool held() const { return held_; }

 private:
  int fd_ = -1;
  bool held_ = false;
};

struct Kept {
  std::string record, bytes;  ///< paths
  uint64_t size = 0;
  Time used;
};

}  // namespace

std::optional<CachedHeaders> HeaderCache::find(const std::string& key) const {
  const std::string path = file(key + ".headers");
  const auto text = readOwn(path);
  if (!text) return std::nullopt;
  std::optional<HeaderRecord> record = HeaderRecord::parse(text->getBuffer());
  if (!record || !record->isCurrent()) return std::nullopt;
  auto bytes = readOwn(file(record->checksum + ".pch"));
  if (!bytes || bytes->getBufferSize() != record->size || checksumOf(bytes->getBuffer()) != record->checksum) return std::nullopt;
  touch(path);
  return CachedHeaders{std::move(*record), std::move(bytes)};
}

std::optional<CachedHeaders> HeaderCache::make(const std::string& key, const std::function<std::optional<Precompiled>()>& make, std::string* why) const {
  if (fs::create_directories(folder_)) return *why = "'" + folder_ + "' cannot be made", std::nullopt;
  const MakerLock lock(file(key + ".lock"));
  if (!lock.opened()) return *why = "'" + folder_ + "' cannot be written", std::nullopt;
  if (!lock.held()) return *why = "another process is precompiling the headers", std::nullopt;
  if (auto there = find(key)) return there;  // made while we looked
  std::optional<Precompiled> made = make();
  if (!made) return *why = "the headers do not compile by themselves", std::nullopt;
  const std::string bytes = file(made->record.checksum + ".pch");
  if (!writeWhole(bytes, {made->bytes.data(), made->bytes.size()}) || !writeWhole(file(key + ".headers"), made->record.text()))
    *why = "'" + folder_ + "' cannot be written";
  prune(made->record.checksum);
  auto copy = llvm::MemoryBuffer::getMemBufferCopy({made->bytes.data(), made->bytes.size()}, bytes);
  return CachedHeaders{std::move(made->record), std::move(copy)};
}

void HeaderCache::prune(const std::string& newest) const {
  std::vector<Kept> all;
  llvm::StringSet<> named;
  std::vector<std::string> others;
  std::error_code ec;
  const Time now = std::chrono::system_clock::now();
  const auto isOld = [&](const fs::file_status& s) { return now - s.getLastModificationTime() > std::chrono::hours(1); };
  for (fs::directory_iterator it(folder_, ec), end; it != end && !ec; it.increment(ec)) {
    const std::string path = it->path();
    fs::file_status status;
    if (fs::status(path, status) || !fs::is_regular_file(status)) continue;
    const llvm::StringRef extension = llvm::sys::path::extension(path);
    if (extension == ".pch" || extension == ".part" || extension == ".lock") {
      if (isOld(status)) others.push_back(path);
    } else if (extension == ".headers") {
      const auto text = readOwn(path);
      const auto record = text ? HeaderRecord::parse(text->getBuffer()) : std::nullopt;
      if (!record) continue;
      all.push_back({path, file(record->checksum + ".pch"), record->size, status.getLastModificationTime()});
      named.insert(all.back().bytes);
    }
  }
  llvm::sort(all, [](const Kept& a, const Kept& b) { return a.used > b.used; });
  uint64_t total = 0;
  for (const Kept& k : all) {
    total += k.size;
    if (total <= limit_ || k.bytes == file(newest + ".pch")) continue;
    fs::remove(k.record);
    fs::remove(k.bytes);
  }
  for (const std::string& path : others)
    if (!named.contains(path)) fs::remove(path);
}

}  // namespace hvdize
