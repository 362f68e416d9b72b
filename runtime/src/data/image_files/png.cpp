// SPDX-License-Identifier: Apache-2.0
#include "data/image_files/decode.hpp"

#include <algorithm>
#include <cstring>

#include <png.h>

namespace hvd::data {

namespace {

struct Reader {
  png_image image;
  Reader() {
    std::memset(&image, 0, sizeof image);
    image.version = PNG_IMAGE_VERSION;
  }
  ~Reader() { png_image_free(&image); }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;
};

/// libpng is content when it has all rows; a file that was cut off behind them lacks the last chunk.
bool has_end(const std::vector<uint8_t>& bytes) {
  constexpr uint8_t kEnd[] = {0, 0, 0, 0, 'I', 'E', 'N', 'D', 0xae, 0x42, 0x60, 0x82};
  return std::search(bytes.begin(), bytes.end(), std::begin(kEnd), std::end(kEnd)) != bytes.end();
}

}  // namespace

DecodedImage decode_png(const std::vector<uint8_t>& bytes, const std::string& path) {
  Reader reader;
  if (!png_image_begin_read_from_memory(&reader.image, bytes.data(), bytes.size())) fail_to_decode(path, reader.image.message);
  DecodedImage out;
  out.rows = reader.image.height;
  out.cols = reader.image.width;
  check_image_size(out.rows, out.cols, bytes.size(), path);
  reader.image.format = PNG_FORMAT_RGB;  // what is transparent shows black
  out.pixels.assign(static_cast<size_t>(3 * out.rows * out.cols), 0);
  const png_color black = {0, 0, 0};
  if (!png_image_finish_read(&reader.image, &black, out.pixels.data(), 0, nullptr)) fail_to_decode(path, reader.image.message);
  if (!has_end(bytes)) fail_to_decode(path, "the file is cut off");
  return out;
}

}  // namespace hvd::data
