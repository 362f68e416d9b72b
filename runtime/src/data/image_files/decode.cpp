// SPDX-License-Identifier: Apache-2.0
#include "data/image_files/decode.hpp"

#include <hvd/core/error.hpp>

#include <algorithm>
#include <initializer_list>

namespace hvd::data {

void fail_to_decode(const std::string& path, const std::string& why) { throw Error("cannot read the image '" + path + "': " + why); }

void check_image_size(int64_t rows, int64_t cols, size_t bytes, const std::string& path) {
  // An empty page of one bit to a pixel is what compresses best: by deflate to 1/1032, which is 8256 pixels to a byte.
  constexpr size_t kPixelsOfAByte = 8256, kAlways = 65536;
  const size_t held = bytes > static_cast<size_t>(kMostPixels) / kPixelsOfAByte ? static_cast<size_t>(kMostPixels) : kAlways + bytes * kPixelsOfAByte;
  const int64_t most = std::min(kMostPixels, static_cast<int64_t>(held));
  if (rows < 1 || cols < 1 || rows > most / cols)
    fail_to_decode(path, "it says it has " + std::to_string(rows) + " x " + std::to_string(cols) + " pixels; its " + std::to_string(bytes) +
                             " bytes hold 1 to " + std::to_string(most));
}

DecodedImage decode_image(const std::vector<uint8_t>& bytes, const std::string& path) {
  const auto starts_with = [&](std::initializer_list<uint8_t> signature) {
    return bytes.size() >= signature.size() && std::equal(signature.begin(), signature.end(), bytes.begin());
  };
  if (starts_with({0xff, 0xd8, 0xff})) return decode_jpeg(bytes, path);
  if (starts_with({0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'})) return decode_png(bytes, path);
  fail_to_decode(path, bytes.empty() ? "the file is empty" : "it is neither JPEG nor PNG");
}

#ifndef HVD_HAVE_JPEG
DecodedImage decode_jpeg(const std::vector<uint8_t>&, const std::string& path) {
  fail_to_decode(path, "this build reads no JPEG files: it was made without libjpeg (libjpeg62-turbo-dev)");
}
#endif
#ifndef HVD_HAVE_PNG
DecodedImage decode_png(const std::vector<uint8_t>&, const std::string& path) {
  fail_to_decode(path, "this build reads no PNG files: it was made without libpng (libpng-dev)");
}
#endif

}  // namespace hvd::data
