// SPDX-License-Identifier: Apache-2.0
#include <hvd/data/datasets.hpp>

#include "core/tensor_impl.hpp"
#include "data/samples.hpp"

#include <hvd/context.hpp>

#include <numeric>

namespace hvd::data::datasets {

namespace {

template <class T>
void to_unit_range(const uint8_t* pixels, int64_t count, T* out) {
  for (int64_t i = 0; i < count; ++i) out[i] = static_cast<T>(pixels[i]) / T{255};
}

void write_image(const Images& images, size_t index, const Tensor& out, int64_t row) {
  const int64_t area = images.channels * images.rows * images.cols;
  const uint8_t* pixels = images.pixels.data() + static_cast<int64_t>(index) * area;
  if (out.dtype() == kFloat64)
    to_unit_range(pixels, area, out.data_ptr<double>() + row * area);
  else
    to_unit_range(pixels, area, out.data_ptr<float>() + row * area);
}

Batch make_batch(const Images& images, const std::vector<size_t>& indices) {
  const auto rows = static_cast<int64_t>(indices.size());
  Batch batch{core::make_for_host({rows, images.channels, images.rows, images.cols}, default_dtype(), default_device()),
              core::make_for_host({rows}, kInt64, default_device())};
  for (int64_t row = 0; row < rows; ++row) {
    const size_t index = indices[static_cast<size_t>(row)];
    check_index(index, static_cast<size_t>(images.count));
    write_image(images, index, batch.data, row);
    batch.target.data_ptr<int64_t>()[row] = images.labels[index];
  }
  return {batch.data.to(default_device()), batch.target.to(default_device())};
}

}  // namespace

template <class Self>
Example ImageDataset<Self>::get(size_t index) {
  check_index(index, size());
  const Tensor image = core::make_for_host({images_->channels, images_->rows, images_->cols}, default_dtype(), default_device());
  write_image(*images_, index, image, 0);
  return {image.to(default_device()), tensor(Scalar(int64_t{images_->labels[index]}))};
}

template <class Self>
Batch ImageDataset<Self>::get_batch(const std::vector<size_t>& indices) {
  return make_batch(*images_, indices);
}

template <class Self>
Tensor ImageDataset<Self>::images() const {
  std::vector<size_t> all(size());
  std::iota(all.begin(), all.end(), size_t{0});
  return make_batch(*images_, all).data;
}

template <class Self>
Tensor ImageDataset<Self>::targets() const {
  const Tensor result = core::make_for_host({images_->count}, kInt64, default_device());
  for (int64_t i = 0; i < images_->count; ++i) result.data_ptr<int64_t>()[i] = images_->labels[static_cast<size_t>(i)];
  return result.to(default_device());
}

template class ImageDataset<MNIST>;
template class ImageDataset<Digits>;
template class ImageDataset<CIFAR10>;
template class ImageDataset<CIFAR100>;
template class ImageDataset<SyntheticImages>;

TensorDataset::TensorDataset(Tensor data, Tensor targets) : data_(std::move(data)), targets_(std::move(targets)) {
  if (data_.dim() < 1 || targets_.dim() < 1 || data_.size(0) != targets_.size(0))
    throw Error("TensorDataset: data " + to_string(data_.sizes()) + " and targets " + to_string(targets_.sizes()) + " must have one row per sample");
}

size_t TensorDataset::size() const { return static_cast<size_t>(data_.size(0)); }

Example TensorDataset::get(size_t index) {
  check_index(index, size());
  return {data_[static_cast<int64_t>(index)], targets_[static_cast<int64_t>(index)]};
}

Batch TensorDataset::get_batch(const std::vector<size_t>& indices) {
  for (const size_t index : indices) check_index(index, size());
  const std::vector<int64_t> rows(indices.begin(), indices.end());
  const auto rows_of = [&](const Tensor& t) { return t.index_select(0, tensor(rows, TensorOptions(kInt64).device(t.device()))); };
  const NoGradGuard no_grad;
  return {rows_of(data_), rows_of(targets_)};
}

}  // namespace hvd::data::datasets
