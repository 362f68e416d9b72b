// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace hvd::io {

/// All bytes of a file, unpacked if it is a gzip file. hvd::Error with the path and the reason when it cannot be read or its
/// compressed data is damaged or cut off.
std::vector<uint8_t> read_file_or_gzip(const std::string& path);

/// A file opened for reading from its start.
class InputFile {
 public:
  explicit InputFile(const std::string& path);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  uint64_t size() const { return size_; }
  const std::string& path() const { return path_; }
  /// `count` bytes from `offset`; hvd::Error when the file has not that many.
  void read(uint64_t offset, void* out, size_t count) const;

 private:
  std::string path_;
  int fd_ = -1;
  uint64_t size_ = 0;
};

/// A file that appears whole or not at all: written beside its place, renamed to it by commit(). Without commit() nothing is left.
/// A path that names something else than a regular file, such as /dev/null, is written as it is.
class AtomicFile {
 public:
  explicit AtomicFile(const std::string& path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(const void* data, size_t count);
  void commit();

 private:
  [[noreturn]] void fail(int error) const;

  std::string path_;    // as the caller named it, for messages
  std::string target_;  // symbolic links resolved
  std::string temp_;    // empty: written as it is
  int fd_ = -1;
};

}  // namespace hvd::io
