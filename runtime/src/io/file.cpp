// SPDX-License-Identifier: Apache-2.0
#include "file.hpp"

#include <hvd/core/error.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>

namespace hvd::io {

namespace {

[[noreturn]] void fail_to_read(const std::string& path, const std::string& why) { throw Error("cannot read '" + path + "': " + why); }

bool is_special(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode);
}

}  // namespace

std::vector<uint8_t> read_file_or_gzip(const std::string& path) {
  if (std::filesystem::is_directory(path)) fail_to_read(path, std::strerror(EISDIR));
  errno = 0;
  const std::unique_ptr<gzFile_s, int (*)(gzFile)> file(gzopen(path.c_str(), "rb"), gzclose);
  if (!file) fail_to_read(path, errno != 0 ? std::strerror(errno) : "out of memory");
  gzbuffer(file.get(), 1 << 16);

  std::vector<uint8_t> bytes;
  for (size_t chunk = size_t{1} << 16;; chunk = std::min(2 * chunk, size_t{1} << 22)) {
    const size_t have = bytes.size();
    bytes.resize(have + chunk);
    const int got = gzread(file.get(), bytes.data() + have, static_cast<unsigned>(chunk));
    bytes.resize(have + static_cast<size_t>(std::max(got, 0)));
    if (got == static_cast<int>(chunk)) continue;
    // At the end zlib tells a file that just stops from one whose compressed data is complete.
    int status = Z_OK;
    const char* text = gzerror(file.get(), &status);
    if (status == Z_ERRNO) fail_to_read(path, std::strerror(errno));
    if (status == Z_BUF_ERROR) fail_to_read(path, "the gzip data is truncated");
    if (got < 0 || (status != Z_OK && status != Z_STREAM_END)) fail_to_read(path, std::string("the gzip data is damaged: ") + text);
    if (got == 0) return bytes;
  }
}

InputFile::InputFile(const std::string& path) : path_(path), fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
  if (fd_ < 0) fail_to_read(path, std::strerror(errno));
  struct stat info {};
  if (::fstat(fd_, &info) != 0 || !S_ISREG(info.st_mode)) {
    ::close(fd_);
    fail_to_read(path, S_ISDIR(info.st_mode) ? std::strerror(EISDIR) : "not a regular file");
  }
  size_ = static_cast<uint64_t>(info.st_size);
}

InputFile::~InputFile() { ::close(fd_); }

void InputFile::read(uint64_t offset, void* out, size_t count) const {
  auto* bytes = static_cast<char*>(out);
  while (count > 0) {
    const ssize_t got = ::pread(fd_, bytes, count, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail_to_read(path_, std::strerror(errno));
    if (got == 0) fail_to_read(path_, "the file ends early");
    bytes += got;
    offset += static_cast<uint64_t>(got);
    count -= static_cast<size_t>(got);
  }
}

AtomicFile::AtomicFile(const std::string& path) : path_(path), target_(path) {
  int flags = O_WRONLY | O_CREAT | O_CLOEXEC;
  std::error_code missing;
  const auto resolved = std::filesystem::canonical(path, missing);  // a link stays a link: what it points to is replaced
  if (!missing) target_ = resolved.string();
  if (std::filesystem::is_directory(target_, missing)) fail(EISDIR);
  if (is_special(target_)) {
    fd_ = ::open(target_.c_str(), flags & ~O_CREAT);
  } else {
    for (int i = 0; fd_ < 0 && (i == 0 || errno == EEXIST) && i < 100; ++i) {
      temp_ = target_ + ".tmp-" + std::to_string(::getpid()) + "-" + std::to_string(i);
      fd_ = ::open(temp_.c_str(), flags | O_EXCL, 0666);
    }
    if (fd_ < 0) temp_.clear();
  }
  if (fd_ < 0) fail(errno);
}

AtomicFile::~AtomicFile() {
  if (fd_ >= 0) ::close(fd_);
  if (!temp_.empty()) ::unlink(temp_.c_str());
}

void AtomicFile::fail(int error) const { throw Error("cannot write '" + path_ + "': " + std::strerror(error)); }

void AtomicFile::write(const void* data, size_t count) {
  const auto* bytes = static_cast<const char*>(data);
  while (count > 0) {
    const ssize_t put = ::write(fd_, bytes, count);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) fail(errno);
    bytes += put;
    count -= static_cast<size_t>(put);
  }
}

void AtomicFile::commit() {
  if (!temp_.empty() && ::fsync(fd_) != 0) fail(errno);
  const int closed = ::close(fd_);
  fd_ = -1;
  if (closed != 0) fail(errno);
  if (temp_.empty()) return;
  if (::rename(temp_.c_str(), target_.c_str()) != 0) fail(errno);
  temp_.clear();
  // The new name is on disk only after the folder is; a file system that cannot sync folders has no such promise to give.
  const std::string folder = std::filesystem::path(target_).parent_path().string();
  const int fd = ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd >= 0) {
    ::fsync(fd);
    ::close(fd);
  }
}

}  // namespace hvd::io
