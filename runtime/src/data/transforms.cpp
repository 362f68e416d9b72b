// SPDX-License-Identifier: Apache-2.0
#include <hvd/data/transforms.hpp>

#include <algorithm>
#include <string>

namespace hvd::data {

transforms::Normalize::Normalize(double mean, double deviation) : mean_(mean), deviation_(deviation) {
  if (!(deviation > 0)) throw Error("Normalize: the standard deviation is " + std::to_string(deviation) + "; it must be positive");
}

Example transforms::Normalize::operator()(Example example) const {
  example.data = (example.data - mean_) / deviation_;
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
