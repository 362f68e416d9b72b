// SPDX-License-Identifier: Apache-2.0
//
// Images in folders, made here: PNG by zlib alone, JPEG from bytes of a small file.
#include <hvd/hvd.hpp>

#include <gtest/gtest.h>
#include <zlib.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "data/image_files/decode.hpp"

#if defined(HVD_HAVE_JPEG) && defined(HVD_HAVE_PNG)

namespace data_image_folder_test {
namespace {

namespace fs = std::filesystem;
using hvd::data::DecodedImage;
using hvd::data::datasets::ImageFolder;

std::string word(uint32_t n) { return {static_cast<char>(n >> 24), static_cast<char>(n >> 16), static_cast<char>(n >> 8), static_cast<char>(n)}; }

std::string chunk(const std::string& type, const std::string& content) {
  const std::string body = type + content;
  return word(static_cast<uint32_t>(content.size())) + body + word(static_cast<uint32_t>(crc32(0, reinterpret_cast<const Bytef*>(body.data()), static_cast<uInt>(body.size()))));
}

/// A PNG file of 8-bit RGB rows, or of another size than its data has.
std::string png(uint32_t rows, uint32_t cols, const std::string& pixels, uint32_t said_rows = 0) {
  std::string raw;
  for (uint32_t r = 0; r < rows; ++r) raw += std::string(1, '\0') + pixels.substr(size_t{r} * cols * 3, size_t{cols} * 3);
  uLongf size = compressBound(raw.size());
  std::string packed(size, '\0');
  compress(reinterpret_cast<Bytef*>(packed.data()), &size, reinterpret_cast<const Bytef*>(raw.data()), raw.size());
  packed.resize(size);
  return "\x89PNG\r\n\x1a\n" + chunk("IHDR", word(cols) + word(said_rows ? said_rows : rows) + std::string("\x08\x02\0\0\0", 5)) + chunk("IDAT", packed) + chunk("IEND", "");
}

/// A grey baseline JPEG of 8 x 8 pixels, all of one brightness: the DC coefficient alone, by a Huffman table of one code for each size.
std::string jpeg(uint16_t rows = 8, uint16_t cols = 8) {
  const auto two = [](uint16_t n) { return std::string{static_cast<char>(n >> 8), static_cast<char>(n)}; };
  const auto segment = [&](char marker, const std::string& content) { return std::string("\xff") + marker + two(static_cast<uint16_t>(content.size() + 2)) + content; };
  const std::string quantisation = std::string(1, '\0') + std::string(64, '\x01');
  const std::string frame = "\x08" + two(rows) + two(cols) + std::string("\x01\x01\x11\0", 4);
  // Codes of 4 bits for DC sizes 0 to 11, and of 1 bit for the end of a block.
  std::string dc("\0\0\0\0\x0c\0\0\0\0\0\0\0\0\0\0\0\0", 17);
  for (char size = 0; size < 12; ++size) dc += size;
  const std::string ac = std::string("\x10\x01", 2) + std::string(15, '\0') + std::string(1, '\0');
  // Size 9, value 320 (101000000), end of block: 1001 101000000 0, filled with ones. 320 / 8 + 128 = 168.
  return "\xff\xd8" + segment('\xdb', quantisation) + segment('\xc0', frame) + segment('\xc4', dc) + segment('\xc4', ac) +
         segment('\xda', std::string("\x01\x01\0\0\x3f\0", 6)) + std::string("\x9a\x03\xff\xd9", 4);
}

std::vector<uint8_t> bytes_of(const std::string& text) { return {text.begin(), text.end()}; }

std::string error_of(const std::string& content) {
  try {
    hvd::data::decode_image(bytes_of(content), "x");
  } catch (const hvd::Error& error) {
    return error.what();
  }
  return "no error";
}

struct Folder {
  fs::path path = fs::path(testing::TempDir()) / "image_folder";
  Folder() { fs::remove_all(path); }
  ~Folder() { fs::remove_all(path); }
  void write(const std::string& name, const std::string& content) const {
    fs::create_directories((path / name).parent_path());
    std::ofstream(path / name, std::ios::binary) << content;
  }
};

const std::string kTwoByTwo = std::string("\xff\0\0\0\xff\0\0\0\xff\xff\xff\xff", 12);  // red, green; blue, white

TEST(DataImageFiles, PngHasItsPixels) {
  const DecodedImage image = hvd::data::decode_image(bytes_of(png(2, 2, kTwoByTwo)), "x");
  EXPECT_EQ(image.rows, 2);
  EXPECT_EQ(image.cols, 2);
  EXPECT_EQ(std::string(image.pixels.begin(), image.pixels.end()), kTwoByTwo);
}

TEST(DataImageFiles, JpegHasItsPixels) {
  const DecodedImage image = hvd::data::decode_image(bytes_of(jpeg()), "x");
  EXPECT_EQ(image.rows, 8);
  EXPECT_EQ(image.cols, 8);
  for (const uint8_t value : image.pixels) ASSERT_EQ(value, 168);
}

TEST(DataImageFiles, CutOffDamagedAndHostileFilesAreRefused) {
  for (const std::string& whole : {png(2, 2, kTwoByTwo), jpeg()})
    for (size_t length = 0; length < whole.size(); ++length) EXPECT_EQ(error_of(whole.substr(0, length)).find("cannot read the image 'x': "), 0u) << length;
  EXPECT_EQ(error_of(""), "cannot read the image 'x': the file is empty");
  EXPECT_EQ(error_of("GIF89a"), "cannot read the image 'x': it is neither JPEG nor PNG");
  std::string damaged = png(2, 2, kTwoByTwo);
  damaged[45] = static_cast<char>(damaged[45] ^ 0x55);
  EXPECT_NE(error_of(damaged), "no error");
  EXPECT_EQ(error_of(png(2, 2, kTwoByTwo, 900000)).find("cannot read the image 'x': it says it has 900000 x 2 pixels; its "), 0u);
  EXPECT_EQ(error_of(jpeg(65500, 65500)).find("cannot read the image 'x': it says it has 65500 x 65500 pixels"), 0u);
}

TEST(DataImageFolder, ClassesAndSamplesComeInOrder) {
  const Folder folder;
  folder.write("cats/b.PNG", png(2, 2, kTwoByTwo));
  folder.write("cats/a.jpg", jpeg());
  folder.write("cats/notes.txt", "not an image");
  folder.write("dogs/c.jpeg", jpeg());
  ImageFolder set(folder.path.string(), 2, 2);
  EXPECT_EQ(set.classes(), (std::vector<std::string>{"cats", "dogs"}));
  ASSERT_EQ(set.size(), 3u);
  EXPECT_EQ(set.get(0).target.item<int64_t>(), 0);
  EXPECT_EQ(set.get(2).target.item<int64_t>(), 1);
  const hvd::Tensor image = set.get(1).data;
  EXPECT_EQ(image.sizes(), (std::vector<int64_t>{3, 2, 2}));
  EXPECT_EQ(image[0][0][0].item<double>(), 1);  // red
  EXPECT_EQ(image[1][0][0].item<double>(), 0);
  EXPECT_EQ(image[1][0][1].item<double>(), 1);  // green
  EXPECT_FLOAT_EQ(set.get(0).data[2][1][0].item<float>(), 168 / 255.0f);
  hvd::data::Batch batch = *hvd::data::make_data_loader<hvd::data::SequentialSampler>(set, hvd::data::DataLoaderOptions(3).workers(2))->begin();
  EXPECT_EQ(batch.data.sizes(), (std::vector<int64_t>{3, 3, 2, 2}));
}

TEST(DataImageFolder, ImagesAreScaledAndCutToTheirMiddle) {
  const Folder folder;
  // Four columns, black, red, red, black, in two rows: the middle two stay.
  const std::string row = std::string("\0\0\0\xff\0\0\xff\0\0\0\0\0", 12);
  folder.write("a/x.png", png(2, 4, row + row));
  EXPECT_EQ(ImageFolder(folder.path.string(), 2, 2).get(0).data[0].min().item<double>(), 1);
  const hvd::Tensor large = ImageFolder(folder.path.string(), 4, 8).get(0).data;
  EXPECT_EQ(large[0][0][0].item<double>(), 0);
  EXPECT_EQ(large[0][3][3].item<double>(), 1);
  EXPECT_NEAR(large[0][1][1].item<double>(), 0.25, 1e-6);  // between black and red
}

TEST(DataImageFolder, WhatHoldsNoImagesIsRefused) {
  const Folder folder;
  EXPECT_THROW(ImageFolder(folder.path.string(), 2, 2), hvd::Error);
  folder.write("x.png", png(2, 2, kTwoByTwo));
  EXPECT_THROW(ImageFolder(folder.path.string(), 2, 2), hvd::Error);
  folder.write("a/x.png", "nothing of the kind");
  EXPECT_THROW(ImageFolder(folder.path.string(), 0, 2), hvd::Error);
  ImageFolder set(folder.path.string(), 2, 2);
  EXPECT_THROW(set.get(0), hvd::Error);
  EXPECT_THROW(set.get(1), hvd::Error);
}

}  // namespace
}  // namespace data_image_folder_test

#else

TEST(DataImageFiles, FilesThatThisBuildDoesNotReadAreRefused) {
  for (const std::vector<uint8_t>& start : {std::vector<uint8_t>{0xff, 0xd8, 0xff}, std::vector<uint8_t>{0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'}})
    EXPECT_THROW(hvd::data::decode_image(start, "x"), hvd::Error);
}

#endif
