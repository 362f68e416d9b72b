// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hvd/data/transforms.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace hvd::data::datasets {

enum class Mode { kTrain, kTest };
inline constexpr Mode kTrain = Mode::kTrain;
inline constexpr Mode kTest = Mode::kTest;

/// Images of one size with a class each, kept as bytes. data: [channels, rows, cols] in [0, 1], of the default dtype; target: the
/// class, int64, 0-d.
class Images {
 public:
  int64_t count = 0, rows = 0, cols = 0;
  int64_t channels = 1;
  std::vector<uint8_t> pixels;  // count * channels * rows * cols
  std::vector<uint8_t> labels;  // count
};

/// A data set over Images, which copies share.
template <class Self>
class ImageDataset : public Mappable<Self> {
 public:
  Example get(size_t index) override;
  Batch get_batch(const std::vector<size_t>& indices) override;
  size_t size() const override { return static_cast<size_t>(images_->count); }
  /// All images, [N, channels, rows, cols] in [0, 1]: a new tensor at each call.
  Tensor images() const;
  /// All classes, [N], int64.
  Tensor targets() const;

 protected:
  explicit ImageDataset(std::shared_ptr<const Images> images) : images_(std::move(images)) {}

 private:
  std::shared_ptr<const Images> images_;
};

/// MNIST, Fashion-MNIST and whatever else comes as two IDX files: `train-images-idx3-ubyte` and `train-labels-idx1-ubyte`
/// (Mode::kTest: `t10k-...`) in the folder `root`, plain or with .gz. Files that are missing, cut off, too long, not IDX or that do
/// not belong together throw hvd::Error with the file and what was expected.
class MNIST : public ImageDataset<MNIST> {
 public:
  using Mode = datasets::Mode;
  static constexpr Mode kTrain = Mode::kTrain;
  static constexpr Mode kTest = Mode::kTest;
  explicit MNIST(const std::string& root, Mode mode = Mode::kTrain);
};

/// CIFAR-10 in its binary form: data_batch_1.bin ... data_batch_5.bin, test_batch.bin in the folder `root` or in
/// cifar-10-batches-bin below it, 3 x 32 x 32 pixels, ten classes. Files that are missing, cut off or hold a class beyond the last
/// one throw hvd::Error with the file.
class CIFAR10 : public ImageDataset<CIFAR10> {
 public:
  using Mode = datasets::Mode;
  static constexpr Mode kTrain = Mode::kTrain;
  static constexpr Mode kTest = Mode::kTest;
  explicit CIFAR10(const std::string& root, Mode mode = Mode::kTrain);
};

/// CIFAR-100: train.bin and test.bin in `root` or in cifar-100-binary below it; the hundred fine classes.
class CIFAR100 : public ImageDataset<CIFAR100> {
 public:
  using Mode = datasets::Mode;
  static constexpr Mode kTrain = Mode::kTrain;
  static constexpr Mode kTest = Mode::kTest;
  explicit CIFAR100(const std::string& root, Mode mode = Mode::kTrain);
};

/// Generated images of any shape [channels, rows, cols]: each class has a pattern, each image is that of its class with noise.
/// The patterns do not depend on the seed; the same (n, shape, classes, seed) gives the same images.
class SyntheticImages : public ImageDataset<SyntheticImages> {
 public:
  SyntheticImages(size_t n, const std::vector<int64_t>& shape, int64_t classes, uint64_t seed = 0);
};

/// Generated digits, 28 x 28, ten classes: for machines without data. Digit shapes, each shifted, turned, scaled, drawn with a
/// pen of another width, and noise. The same (n, seed) gives the same images; another seed, other ones of the same kind.
class Digits : public ImageDataset<Digits> {
 public:
  explicit Digits(size_t n, uint64_t seed = 0);
};

/// Rows of two tensors in memory: sample i is (data[i], targets[i]). Different first dimensions throw hvd::Error.
class TensorDataset : public Mappable<TensorDataset> {
 public:
  TensorDataset(Tensor data, Tensor targets);
  Example get(size_t index) override;
  Batch get_batch(const std::vector<size_t>& indices) override;
  size_t size() const override;

 private:
  Tensor data_;
  Tensor targets_;
};

/// Whether `root` is a folder with one of MNIST's four IDX files at least. A folder that does not exist throws hvd::Error, the
/// empty name does not.
bool has_idx_files(const std::string& root);

/// MNIST from `root` when has_idx_files(root), else `n` generated digits (the ones for kTest differ from those for kTrain).
std::shared_ptr<Dataset> open_digits_or(const std::string& root, Mode mode, size_t n);

extern template class ImageDataset<MNIST>;
extern template class ImageDataset<Digits>;
extern template class ImageDataset<CIFAR10>;
extern template class ImageDataset<CIFAR100>;
extern template class ImageDataset<SyntheticImages>;

}  // namespace hvd::data::datasets

namespace hvd::data {
using datasets::open_digits_or;
}
