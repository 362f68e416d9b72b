// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fcntl.h>
#include <string>
#include <string_view>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace hvdize::wrapper {

/// A file's bytes, without reading those that nobody looks at. Empty when there is no such file.
class Mapped {
 public:
  explicit Mapped(const std::string& path) {
    const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    struct stat s;
    if (file >= 0 && fstat(file, &s) == 0 && S_ISREG(s.st_mode) && s.st_size > 0) {
      void* at = mmap(nullptr, static_cast<size_t>(s.st_size), PROT_READ, MAP_PRIVATE, file, 0);
      if (at != MAP_FAILED) bytes_ = {static_cast<const char*>(at), static_cast<size_t>(s.st_size)};
    }
    if (file >= 0) close(file);
  }
  ~Mapped() {
    if (!bytes_.empty()) munmap(const_cast<char*>(bytes_.data()), bytes_.size());
  }
  Mapped(const Mapped&) = delete;
  Mapped& operator=(const Mapped&) = delete;
  std::string_view bytes() const { return bytes_; }

 private:
  std::string_view bytes_;
};

}  // namespace hvdize::wrapper
