// SPDX-License-Identifier: Apache-2.0
#include <hvd/data/image_folder.hpp>

#include "core/tensor_impl.hpp"
#include "data/image_files/decode.hpp"
#include "io/file.hpp"

#include <hvd/context.hpp>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <filesystem>

namespace hvd::data::datasets {

namespace {

namespace fs = std::filesystem;

bool is_image(const fs::path& path) {
  std::string ending = path.extension().string();
  std::transform(ending.begin(), ending.end(), ending.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return ending == ".jpg" || ending == ".jpeg" || ending == ".png";
}

std::vector<fs::path> sorted(const fs::path& folder, bool (*wanted)(const fs::path&)) {
  std::vector<fs::path> out;
  for (const auto& entry : fs::directory_iterator(folder))
    if (wanted(entry.path())) out.push_back(entry.path());
  std::sort(out.begin(), out.end());
  return out;
}

/// Where output pixel i of a line lies between two pixels of the image, which is `scale` times as large.
struct Between {
  int64_t low, high;
  double weight;  // of `high`
  Between(int64_t i, double scale, double start, int64_t extent) {
    const double at = std::clamp((static_cast<double>(i) + 0.5) * scale - 0.5 + start, 0.0, static_cast<double>(extent - 1));
    low = static_cast<int64_t>(at);
    high = std::min(low + 1, extent - 1);
    weight = at - static_cast<double>(low);
  }
};

/// Bilinear, so that the image covers rows x cols; what stands out on two sides is cut off. out: [3, rows, cols].
template <class T>
void scale_and_cut(const DecodedImage& image, int64_t rows, int64_t cols, T* out) {
  const double scale = std::min(static_cast<double>(image.rows) / static_cast<double>(rows), static_cast<double>(image.cols) / static_cast<double>(cols));
  const double top = (static_cast<double>(image.rows) - scale * static_cast<double>(rows)) / 2;
  const double left = (static_cast<double>(image.cols) - scale * static_cast<double>(cols)) / 2;
  for (int64_t r = 0; r < rows; ++r) {
    const Between y(r, scale, top, image.rows);
    for (int64_t c = 0; c < cols; ++c) {
      const Between x(c, scale, left, image.cols);
      for (int64_t k = 0; k < 3; ++k) {
        const auto at = [&](int64_t row, int64_t col) { return static_cast<double>(image.pixels[static_cast<size_t>((row * image.cols + col) * 3 + k)]); };
        const double upper = at(y.low, x.low) * (1 - x.weight) + at(y.low, x.high) * x.weight;
        const double lower = at(y.high, x.low) * (1 - x.weight) + at(y.high, x.high) * x.weight;
        out[(k * rows + r) * cols + c] = static_cast<T>((upper * (1 - y.weight) + lower * y.weight) / 255);
      }
    }
  }
}

}  // namespace

ImageFolder::ImageFolder(const std::string& root, int64_t rows, int64_t cols) : rows_(rows), cols_(cols) {
  if (rows < 1 || cols < 1 || rows > kMostPixels / cols) throw Error("image folder: images of " + std::to_string(rows) + " x " + std::to_string(cols) + " pixels");
  if (!fs::is_directory(root)) throw Error("no folder '" + root + "' to read images from");
  auto classes = std::make_shared<std::vector<std::string>>();
  auto files = std::make_shared<std::vector<std::pair<std::string, int64_t>>>();
  for (const fs::path& folder : sorted(root, [](const fs::path& p) { return fs::is_directory(p); })) {
    for (const fs::path& file : sorted(folder, is_image)) files->emplace_back(file.string(), static_cast<int64_t>(classes->size()));
    classes->push_back(folder.filename().string());
  }
  if (files->empty()) throw Error("'" + root + "' holds no folders (the classes) with .jpg, .jpeg or .png files");
  classes_ = std::move(classes);
  files_ = std::move(files);
}

Example ImageFolder::get(size_t index) {
  if (index >= size()) throw Error("sample " + std::to_string(index) + " of a data set of " + std::to_string(size()));
  const auto& [path, label] = (*files_)[index];
  const DecodedImage image = decode_image(io::read_file_or_gzip(path), path);
  const Tensor data = core::make_for_host({3, rows_, cols_}, default_dtype(), default_device());
  if (data.dtype() == kFloat64)
    scale_and_cut(image, rows_, cols_, data.data_ptr<double>());
  else
    scale_and_cut(image, rows_, cols_, data.data_ptr<float>());
  return {data.to(default_device()), tensor(Scalar(label))};
}

}  // namespace hvd::data::datasets
