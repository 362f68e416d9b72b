// SPDX-License-Identifier: Apache-2.0
#include <hvd/data/transforms.hpp>

#include <hvd/random.hpp>

#include <algorithm>
#include <string>

namespace hvd::data {

transforms::Normalize::Normalize(double mean, double deviation) : Normalize(std::vector<double>{mean}, std::vector<double>{deviation}) {}

transforms::Normalize::Normalize(std::vector<double> mean, std::vector<double> deviation) : mean_(std::move(mean)), deviation_(std::move(deviation)) {
  if (mean_.empty() || mean_.size() != deviation_.size())
    throw Error("Normalize: " + std::to_string(mean_.size()) + " means and " + std::to_string(deviation_.size()) + " deviations");
  for (const double d : deviation_)
    if (!(d > 0)) throw Error("Normalize: the standard deviation is " + std::to_string(d) + "; it must be positive");
}

Example transforms::Normalize::operator()(Example example) const {
  if (mean_.size() == 1) {
    example.data = (example.data - mean_[0]) / deviation_[0];
    return example;
  }
  const auto channels = static_cast<int64_t>(mean_.size());
  if (example.data.dim() < 3 || example.data.size(-3) != channels)
    throw Error("Normalize: images of " + std::to_string(channels) + " channels expected, not " + to_string(example.data.sizes()));
  const auto per_channel = [&](const std::vector<double>& values) { return tensor(values, example.data.options()).view({channels, 1, 1}); };
  example.data = (example.data - per_channel(mean_)) / per_channel(deviation_);
  return example;
}

namespace {

void check_image(const Tensor& image, const char* name) {
  if (image.dim() != 3) throw Error(std::string(name) + ": an image [channels, rows, cols] expected, not " + to_string(image.sizes()));
}

/// A whole number below `bound`: one draw of this thread's generator.
int64_t draw_below(int64_t bound) {
  Generator& generator = default_generator();
  return static_cast<int64_t>(philox_below(generator.seed(), generator.next(), 0, static_cast<uint64_t>(bound)));
}

}  // namespace

Example transforms::RandomCrop::operator()(Example example) const {
  const Tensor& image = example.data;
  check_image(image, "RandomCrop");
  const int64_t rows = image.size(1), cols = image.size(2), down = rows + 2 * padding_ - rows_, across = cols + 2 * padding_ - cols_;
  if (padding_ < 0 || rows_ < 1 || cols_ < 1 || down < 0 || across < 0)
    throw Error("RandomCrop: no part of " + std::to_string(rows_) + " x " + std::to_string(cols_) + " in an image " + to_string(image.sizes()));
  const int64_t top = draw_below(down + 1) - padding_, left = draw_below(across + 1) - padding_;
  const Tensor out = zeros({image.size(0), rows_, cols_}, image.options());
  const int64_t y = std::max<int64_t>(top, 0), x = std::max<int64_t>(left, 0);
  const int64_t height = std::min(top + rows_, rows) - y, width = std::min(left + cols_, cols) - x;
  if (height > 0 && width > 0)
    out.narrow(1, y - top, height).narrow(2, x - left, width).copy_(image.narrow(1, y, height).narrow(2, x, width));
  example.data = out;
  return example;
}

Example transforms::RandomHorizontalFlip::operator()(Example example) const {
  check_image(example.data, "RandomHorizontalFlip");
  Generator& generator = default_generator();
  if (!(philox_uniform(generator.seed(), generator.next(), 0) < p_)) return example;
  std::vector<int64_t> columns;
  for (int64_t i = example.data.size(2); i-- > 0;) columns.push_back(i);
  example.data = example.data.index_select(2, tensor(columns, example.data.device()));
  return example;
}

datasets::Mapped::Mapped(std::shared_ptr<Dataset> base, std::shared_ptr<detail::Transform> transform, size_t count)
    : base_(std::move(base)), transform_(std::move(transform)), count_(std::min(count, base_->size())) {}

Example datasets::Mapped::get(size_t index) {
  if (index >= count_) throw Error("sample " + std::to_string(index) + " of a data set of " + std::to_string(count_));
  Example example = base_->get(index);
  return transform_ ? transform_->apply(std::move(example)) : example;
}

Batch datasets::Mapped::get_batch(const std::vector<size_t>& indices) {
  for (const size_t index : indices)
    if (index >= count_) throw Error("sample " + std::to_string(index) + " of a data set of " + std::to_string(count_));
  if (!transform_) return base_->get_batch(indices);
  if (transform_->whole_batches()) return transform_->apply(base_->get_batch(indices));
  return Dataset::get_batch(indices);
}

datasets::Mapped take(std::shared_ptr<Dataset> dataset, size_t count) { return datasets::Mapped(std::move(dataset), nullptr, count); }

}  // namespace hvd::data
