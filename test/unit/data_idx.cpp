// SPDX-License-Identifier: Apache-2.0
#include "data_support.hpp"

#include <zlib.h>

namespace data_idx_test {
namespace {

using namespace data_test;
using namespace hvd::data;

std::string word(uint32_t value) {
  return {static_cast<char>(value >> 24), static_cast<char>(value >> 16), static_cast<char>(value >> 8), static_cast<char>(value)};
}

// n images of 2 x 3 pixels: pixel k of image i is 10 i + k.
std::string image_file(uint32_t n) {
  std::string bytes = word(0x803) + word(n) + word(2) + word(3);
  for (uint32_t i = 0; i < n; ++i)
    for (uint32_t k = 0; k < 6; ++k) bytes += static_cast<char>(10 * i + k);
  return bytes;
}

std::string label_file(uint32_t n) {
  std::string bytes = word(0x801) + word(n);
  for (uint32_t i = 0; i < n; ++i) bytes += static_cast<char>(i % 10);
  return bytes;
}

void write_gzip(const std::string& path, const std::string& bytes) {
  gzFile file = gzopen(path.c_str(), "wb");
  ASSERT_EQ(gzwrite(file, bytes.data(), static_cast<unsigned>(bytes.size())), static_cast<int>(bytes.size()));
  gzclose(file);
}

struct Folder : ScratchDir {
  std::string images = *this / "train-images-idx3-ubyte", labels = *this / "train-labels-idx1-ubyte";
  Folder() {
    write_bytes(images, image_file(4));
    write_bytes(labels, label_file(4));
  }
  void expect_refused(const std::vector<std::string>& parts) const {
    expect_error([&] { datasets::MNIST set(path()); }, parts);
  }
};

TEST(DataIdx, ReadsPlainFiles) {
  const Folder folder;
  datasets::MNIST set(folder.path());
  ASSERT_EQ(set.size(), 4u);
  const Example example = set.get(3);
  EXPECT_EQ(example.data.sizes(), (std::vector<int64_t>{1, 2, 3}));
  EXPECT_EQ(example.data.dtype(), hvd::kFloat32);
  EXPECT_EQ(example.data[0][1][2].item<float>(), 35 / 255.0f);
  EXPECT_EQ(example.target.item<int64_t>(), 3);
  EXPECT_EQ(set.images().sizes(), (std::vector<int64_t>{4, 1, 2, 3}));
  EXPECT_EQ(set.targets()[2].item<int64_t>(), 2);
}

TEST(DataIdx, ReadsGzipFilesAlike) {
  const Folder plain;
  ScratchDir packed;
  write_gzip(packed / "train-images-idx3-ubyte.gz", image_file(4));
  write_gzip(packed / "train-labels-idx1-ubyte.gz", label_file(4));
  EXPECT_TRUE(hvd::equal(datasets::MNIST(plain.path()).images(), datasets::MNIST(packed.path()).images()));
}

TEST(DataIdx, BatchesEqualSamples) {
  const Folder folder;
  datasets::MNIST set(folder.path());
  const Batch whole = set.get_batch({2, 0, 3});
  EXPECT_TRUE(hvd::equal(whole.data, hvd::stack({set.get(2).data, set.get(0).data, set.get(3).data})));
  EXPECT_TRUE(hvd::equal(whole.target, hvd::tensor({2, 0, 3})));
  expect_error([&] { set.get_batch({0, 4}); }, {"sample 4 of a data set of 4"});
}

TEST(DataIdx, MissingFileIsNamed) {
  const Folder folder;
  std::filesystem::remove(folder.labels);
  folder.expect_refused({folder.labels, "nor with .gz"});
}

TEST(DataIdx, WrongMagicNumberIsShown) {
  const Folder folder;
  write_bytes(folder.images, label_file(40));
  folder.expect_refused({folder.images, "magic number 0x00000801, expected 0x00000803"});
}

TEST(DataIdx, TruncatedFilesAreRefused) {
  const Folder folder;
  write_bytes(folder.images, image_file(4).substr(0, 30));
  folder.expect_refused({folder.images, "truncated", "4 images of 2 x 3", "40 bytes", "holds 30"});
  write_bytes(folder.images, "abc");
  folder.expect_refused({folder.images, "truncated", "16 bytes of header", "holds 3"});
  write_bytes(folder.images, image_file(4) + "x");
  folder.expect_refused({folder.images, "too long", "holds 41"});
}

TEST(DataIdx, CountsMustAgree) {
  const Folder folder;
  write_bytes(folder.labels, label_file(5));
  folder.expect_refused({folder.labels, "5 labels", folder.images, "4 images"});
}

TEST(DataIdx, DamagedGzipIsRefused) {
  ScratchDir folder;
  const std::string images = folder / "train-images-idx3-ubyte.gz";
  write_gzip(images, image_file(20));
  const std::string whole = read_bytes(images);
  write_bytes(images, whole.substr(0, whole.size() / 2));
  expect_error([&] { datasets::MNIST set(folder.path()); }, {images, "gzip data is truncated"});
  std::string damaged = whole;
  damaged[damaged.size() / 2] = static_cast<char>(damaged[damaged.size() / 2] ^ 0x55);
  write_bytes(images, damaged);
  expect_error([&] { datasets::MNIST set(folder.path()); }, {images, "gzip data is"});
}

TEST(DataIdx, GeneratedDigitsStandInForMissingFilesOnly) {
  const ScratchDir empty;
  EXPECT_EQ(open_digits_or("", datasets::kTrain, 7)->size(), 7u);
  EXPECT_EQ(open_digits_or(empty.path(), datasets::kTest, 5)->size(), 5u);
  expect_error([&] { open_digits_or(empty / "nowhere", datasets::kTrain, 5); }, {"no folder", "nowhere"});
  const Folder folder;  // training files only: the test set must not be something else
  EXPECT_EQ(open_digits_or(folder.path(), datasets::kTrain, 9)->size(), 4u);
  expect_error([&] { open_digits_or(folder.path(), datasets::kTest, 9); }, {"t10k-images-idx3-ubyte"});
}

}  // namespace
}  // namespace data_idx_test
