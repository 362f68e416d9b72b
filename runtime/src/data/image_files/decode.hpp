// SPDX-License-Identifier: Apache-2.0
//
// From the bytes of an image file to pixels. A decoder is a file of its own and part of the build when its library was found.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace hvd::data {

/// Rows of pixels of three bytes, red, green, blue.
struct DecodedImage {
  int64_t rows = 0, cols = 0;
  std::vector<uint8_t> pixels;
};

inline constexpr int64_t kMostPixels = int64_t{1} << 26;

/// By the first bytes, whatever the name. `path` is for messages; throws hvd::Error.
DecodedImage decode_image(const std::vector<uint8_t>& bytes, const std::string& path);

[[noreturn]] void fail_to_decode(const std::string& path, const std::string& why);
/// Refuses sizes that so many bytes cannot hold, before anything is allocated for them.
void check_image_size(int64_t rows, int64_t cols, size_t bytes, const std::string& path);

DecodedImage decode_jpeg(const std::vector<uint8_t>& bytes, const std::string& path);
DecodedImage decode_png(const std::vector<uint8_t>& bytes, const std::string& path);

}  // namespace hvd::data
