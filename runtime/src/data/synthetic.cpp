// SPDX-License-Identifier: Apache-2.0
#include <hvd/data/datasets.hpp>
#include <hvd/random.hpp>

#include <algorithm>
#include <cmath>

namespace hvd::data::datasets {

namespace {

constexpr uint64_t kPatternSeed = 0x7061747465726e73;

/// A sum of waves across the image, of other lengths and directions for each class and channel; from 0 to 1.
double pattern(int64_t label, int64_t channel, double y, double x) {
  double sum = 0;
  for (uint64_t wave = 0; wave < 3; ++wave) {
    const uint64_t at = 4 * (wave + 3 * static_cast<uint64_t>(channel));
    const auto draw = [&](uint64_t i) { return philox_uniform(kPatternSeed, static_cast<uint64_t>(label), at + i); };
    sum += std::sin(6.283185307179586 * ((1 + 3 * draw(0)) * x + (1 + 3 * draw(1)) * y + draw(2)));
  }
  return 0.5 + sum / 6;
}

void check(const std::vector<int64_t>& shape, int64_t classes) {
  const bool positive = std::all_of(shape.begin(), shape.end(), [](int64_t extent) { return extent >= 1 && extent <= 4096; });
  if (shape.size() != 3 || !positive) throw Error("SyntheticImages: a shape [channels, rows, cols] expected, not " + to_string(shape));
  if (classes < 1 || classes > 256) throw Error("SyntheticImages: 1 to 256 classes, not " + std::to_string(classes));
}

std::shared_ptr<const Images> generate(size_t n, const std::vector<int64_t>& shape, int64_t classes, uint64_t seed) {
  check(shape, classes);
  auto images = std::make_shared<Images>();
  images->count = static_cast<int64_t>(n);
  images->channels = shape[0];
  images->rows = shape[1];
  images->cols = shape[2];
  const int64_t area = shape[0] * shape[1] * shape[2];
  std::vector<double> patterns;
  for (int64_t k = 0; k < classes; ++k)
    for (int64_t c = 0; c < shape[0]; ++c)
      for (int64_t y = 0; y < shape[1]; ++y)
        for (int64_t x = 0; x < shape[2]; ++x)
          patterns.push_back(pattern(k, c, static_cast<double>(y) / static_cast<double>(shape[1]), static_cast<double>(x) / static_cast<double>(shape[2])));
  for (size_t i = 0; i < n; ++i) {
    const auto label = static_cast<int64_t>(philox_below(seed, i, 0, static_cast<uint64_t>(classes)));
    images->labels.push_back(static_cast<uint8_t>(label));
    for (int64_t p = 0; p < area; ++p) {
      const double noise = philox_uniform(seed ^ kPatternSeed, i, static_cast<uint64_t>(p)) - 0.5;
      images->pixels.push_back(static_cast<uint8_t>(255 * std::clamp(0.6 * patterns[label * area + p] + 0.2 + 0.8 * noise, 0.0, 1.0)));
    }
  }
  return images;
}

}  // namespace

SyntheticImages::SyntheticImages(size_t n, const std::vector<int64_t>& shape, int64_t classes, uint64_t seed)
    : ImageDataset(generate(n, shape, classes, seed)) {}

}  // namespace hvd::data::datasets
