// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hvd/data/datasets.hpp>

namespace hvd::data::datasets {

/// Images as files (.jpg, .jpeg, .png, in either case), the sub-folders of `root` being the classes in alphabetical order, as ImageNet's are.
/// Each is read when it is asked for, widened to three channels, scaled so that it covers rows x cols, and cut to its middle.
/// data: [3, rows, cols] in [0, 1], of the default dtype; target: the class, int64, 0-d.
///
/// A folder without classes or images throws hvd::Error, as does, when it is asked for, a file that is no such image, is cut off or damaged,
/// has more than 2^26 pixels, or is of a kind that this build does not read.
class ImageFolder : public Mappable<ImageFolder> {
 public:
  ImageFolder(const std::string& root, int64_t rows, int64_t cols);
  Example get(size_t index) override;
  size_t size() const override { return files_->size(); }

  /// Names of the sub-folders.
  const std::vector<std::string>& classes() const { return *classes_; }
  /// The file of a sample.
  const std::string& path(size_t index) const { return files_->at(index).first; }

 private:
  int64_t rows_, cols_;
  std::shared_ptr<const std::vector<std::string>> classes_;
  std::shared_ptr<const std::vector<std::pair<std::string, int64_t>>> files_;
};

}  // namespace hvd::data::datasets
