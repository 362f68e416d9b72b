// SPDX-License-Identifier: Apache-2.0
#include "data/image_files/decode.hpp"

#include <csetjmp>
#include <cstddef>
#include <cstdio>
#include <cstring>

#include <jpeglib.h>

namespace hvd::data {

namespace {

/// libjpeg calls back on an error and must not be returned to.
struct Errors {
  jpeg_error_mgr manager;  // first: libjpeg hands out its address
  std::jmp_buf leave;
  char message[JMSG_LENGTH_MAX];
};

void fail(j_common_ptr info) {
  auto* errors = reinterpret_cast<Errors*>(info->err);
  info->err->format_message(info, errors->message);
  std::longjmp(errors->leave, 1);
}

/// Warnings say that data is missing or damaged; what libjpeg fills in is not what the image shows.
void warn(j_common_ptr info, int level) {
  if (level < 0) fail(info);
}

enum class Outcome { kHeader, kPixels, kFailed };

/// Reads the header, and the pixels when there is room for them. No object with a destructor lives here: an error jumps out of it.
Outcome run(jpeg_decompress_struct& info, Errors& errors, const uint8_t* data, size_t size, uint8_t* pixels, int64_t stride) {
  if (setjmp(errors.leave) != 0) return Outcome::kFailed;
  if (!pixels) {
    jpeg_mem_src(&info, data, static_cast<unsigned long>(size));
    jpeg_read_header(&info, TRUE);
    return Outcome::kHeader;
  }
  info.out_color_space = JCS_RGB;
  jpeg_start_decompress(&info);
  while (info.output_scanline < info.output_height) {
    JSAMPROW row = pixels + static_cast<int64_t>(info.output_scanline) * stride;
    jpeg_read_scanlines(&info, &row, 1);
  }
  jpeg_finish_decompress(&info);
  return Outcome::kPixels;
}

class Decompressor {
 public:
  Decompressor() {
    std::memset(&info_, 0, sizeof info_);
    info_.err = jpeg_std_error(&errors_.manager);
    errors_.manager.error_exit = fail;
    errors_.manager.emit_message = warn;
    errors_.message[0] = 0;
    jpeg_create_decompress(&info_);
    info_.mem->max_memory_to_use = 1 << 28;
  }
  ~Decompressor() { jpeg_destroy_decompress(&info_); }
  Decompressor(const Decompressor&) = delete;
  Decompressor& operator=(const Decompressor&) = delete;

  DecodedImage read(const std::vector<uint8_t>& bytes, const std::string& path) {
    if (run(info_, errors_, bytes.data(), bytes.size(), nullptr, 0) == Outcome::kFailed) fail_to_decode(path, errors_.message);
    DecodedImage image;
    image.rows = info_.image_height;
    image.cols = info_.image_width;
    check_image_size(image.rows, image.cols, bytes.size(), path);
    // Four inks have no fixed colours.
    if (info_.jpeg_color_space == JCS_CMYK || info_.jpeg_color_space == JCS_YCCK) fail_to_decode(path, "it has four inks (CMYK), not three colours");
    image.pixels.resize(static_cast<size_t>(3 * image.rows * image.cols));
    if (run(info_, errors_, nullptr, 0, image.pixels.data(), 3 * image.cols) == Outcome::kFailed) fail_to_decode(path, errors_.message);
    return image;
  }

 private:
  jpeg_decompress_struct info_;
  Errors errors_;
};

}  // namespace

DecodedImage decode_jpeg(const std::vector<uint8_t>& bytes, const std::string& path) { return Decompressor().read(bytes, path); }

}  // namespace hvd::data
