// SPDX-License-Identifier: Apache-2.0
//
// What the fuzz targets share. A target hands bytes to one parser; it may refuse them with hvd::Error and nothing else.
#pragma once

#include <hvd/core/error.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <string_view>

#include <unistd.h>

/// libFuzzer's entry.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace fuzz {

using Bytes = std::string_view;

/// A folder of this process in memory where there is one.
inline const std::string& folder() {
  struct Folder {
    std::string path;
    Folder() {
      const std::filesystem::path base = std::filesystem::is_directory("/dev/shm") ? "/dev/shm" : std::filesystem::temp_directory_path();
      path = (base / ("hvd-fuzz-" + std::to_string(getpid()))).string();
      std::filesystem::create_directories(path);
    }
    ~Folder() {
      std::error_code ignored;
      std::filesystem::remove_all(path, ignored);
    }
  };
  static const Folder own;
  return own.path;
}

inline std::string write(const std::string& name, Bytes bytes) {
  const std::string path = folder() + "/" + name;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  std::ofstream(path, std::ios::binary | std::ios::trunc).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  return path;
}

/// Two files in one input: two bytes (little-endian) with the length of the first one, then both.
struct Pair {
  Bytes first, second;
  explicit Pair(Bytes all) {
    if (all.size() < 2) return;
    const size_t length = static_cast<uint8_t>(all[0]) | static_cast<size_t>(static_cast<uint8_t>(all[1])) << 8;
    all.remove_prefix(2);
    first = all.substr(0, length);
    second = all.substr(first.size());
  }
};

/// Runs a parser that may refuse.
inline int run(const uint8_t* data, size_t size, const std::function<void(Bytes)>& parse) {
  try {
    parse(Bytes(reinterpret_cast<const char*>(data), size));
  } catch (const hvd::Error&) {
    // Refused, with a message.
  }
  return 0;
}

}  // namespace fuzz
