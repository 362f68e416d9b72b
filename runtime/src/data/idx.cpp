// SPDX-License-Identifier: Apache-2.0
#include <hvd/data/datasets.hpp>

#include "../io/file.hpp"

#include <cstdio>
#include <filesystem>

namespace hvd::data::datasets {

namespace {

// IDX: a big-endian magic number (type 0x08 = unsigned byte, then the number of dimensions), the extents, the bytes.
constexpr uint32_t kImagesMagic = 0x00000803;
constexpr uint32_t kLabelsMagic = 0x00000801;

struct IdxFile {
  std::string path;
  std::vector<uint8_t> bytes;
  uint32_t word(size_t i) const {
    const uint8_t* b = bytes.data() + 4 * i;
    return uint32_t{b[0]} << 24 | uint32_t{b[1]} << 16 | uint32_t{b[2]} << 8 | uint32_t{b[3]};
  }
};

const char* prefix(Mode mode) { return mode == Mode::kTrain ? "train" : "t10k"; }

std::string find_idx(const std::string& root, const std::string& name) {
  const std::filesystem::path plain = std::filesystem::path(root) / name;
  for (const std::string& path : {plain.string(), plain.string() + ".gz"})
    if (std::filesystem::exists(path)) return path;
  return {};
}

std::string images_name(Mode mode) { return std::string(prefix(mode)) + "-images-idx3-ubyte"; }
std::string labels_name(Mode mode) { return std::string(prefix(mode)) + "-labels-idx1-ubyte"; }

IdxFile read_idx(const std::string& root, const std::string& name, uint32_t magic, size_t header_words, const char* kind) {
  const std::string path = find_idx(root, name);
  if (path.empty()) throw Error("MNIST: no file '" + (std::filesystem::path(root) / name).string() + "', nor with .gz");
  IdxFile file{path, io::read_file_or_gzip(path)};
  if (file.bytes.size() < 4 * header_words)
    throw Error("MNIST: '" + path + "' is truncated: an IDX file of " + kind + " starts with " + std::to_string(4 * header_words) +
                " bytes of header, the file holds " + std::to_string(file.bytes.size()));
  if (file.word(0) != magic) {
    char text[96];
    std::snprintf(text, sizeof text, "magic number 0x%08x, expected 0x%08x", static_cast<unsigned>(file.word(0)), static_cast<unsigned>(magic));
    throw Error("MNIST: '" + path + "' is not an IDX file of " + kind + ": " + text);
  }
  return file;
}

void check_length(const IdxFile& file, size_t expected, const std::string& content) {
  const size_t found = file.bytes.size();
  if (found == expected) return;
  throw Error("MNIST: '" + file.path + "' is " + (found < expected ? "truncated" : "too long") + ": its header promises " + content + ", " +
              std::to_string(expected) + " bytes; the file holds " + std::to_string(found));
}

std::shared_ptr<const Images> read_images(const std::string& root, Mode mode) {
  IdxFile pixels = read_idx(root, images_name(mode), kImagesMagic, 4, "images");
  const size_t count = pixels.word(1), rows = pixels.word(2), cols = pixels.word(3);
  const std::string size = std::to_string(rows) + " x " + std::to_string(cols);
  if (rows < 1 || cols < 1 || rows > 65535 || cols > 65535) throw Error("MNIST: '" + pixels.path + "' has images of " + size + " pixels");
  check_length(pixels, 16 + count * rows * cols, std::to_string(count) + " images of " + size);

  IdxFile labels = read_idx(root, labels_name(mode), kLabelsMagic, 2, "labels");
  check_length(labels, 8 + size_t{labels.word(1)}, std::to_string(labels.word(1)) + " labels");
  if (labels.word(1) != count)
    throw Error("MNIST: '" + labels.path + "' holds " + std::to_string(labels.word(1)) + " labels, but '" + pixels.path + "' holds " +
                std::to_string(count) + " images");

  auto images = std::make_shared<Images>();
  images->count = static_cast<int64_t>(count);
  images->rows = static_cast<int64_t>(rows);
  images->cols = static_cast<int64_t>(cols);
  images->pixels.assign(pixels.bytes.begin() + 16, pixels.bytes.end());
  images->labels.assign(labels.bytes.begin() + 8, labels.bytes.end());
  return images;
}

}  // namespace

MNIST::MNIST(const std::string& root, Mode mode) : ImageDataset(read_images(root, mode)) {}

bool has_idx_files(const std::string& root) {
  if (root.empty()) return false;
  if (!std::filesystem::is_directory(root)) throw Error("no folder '" + root + "' to read data from");
  for (const Mode mode : {Mode::kTrain, Mode::kTest})
    if (!find_idx(root, images_name(mode)).empty() || !find_idx(root, labels_name(mode)).empty()) return true;
  return false;
}

std::shared_ptr<Dataset> open_digits_or(const std::string& root, Mode mode, size_t n) {
  if (has_idx_files(root)) return std::make_shared<MNIST>(root, mode);
  return std::make_shared<Digits>(n, mode == Mode::kTrain ? 1 : 2);
}

}  // namespace hvd::data::datasets
