// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>
#include <hvd/data.hpp>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

namespace data_test {

/// A folder of its own for one test, gone afterwards.
class ScratchDir {
 public:
  ScratchDir() {
    std::string pattern = (std::filesystem::temp_directory_path() / "hvd-test-XXXXXX").string();
    if (!::mkdtemp(pattern.data())) throw std::runtime_error("no scratch folder");
    path_ = pattern;
  }
  ~ScratchDir() { std::filesystem::remove_all(path_); }
  std::string path() const { return path_; }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  size_t files() const {
    return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(path_), std::filesystem::directory_iterator{}));
  }

 private:
  std::string path_;
};

inline void write_bytes(const std::string& path, const std::string& bytes) { std::ofstream(path, std::ios::binary) << bytes; }

inline std::string read_bytes(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Runs `f` and checks that it throws hvd::Error whose text holds all of `parts`.
template <class F>
void expect_error(F f, const std::vector<std::string>& parts) {
  try {
    f();
    FAIL() << "no error where one with '" << parts.front() << "' was expected";
  } catch (const hvd::Error& error) {
    for (const std::string& part : parts) EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what() << "\nlacks: " << part;
  }
}

/// Sample i is the number i with target 10 i.
class Numbers : public hvd::data::Dataset {
 public:
  explicit Numbers(size_t size) : size_(size) {}
  hvd::data::Example get(size_t i) override {
    return {hvd::tensor({static_cast<double>(i)}, hvd::kFloat64), hvd::tensor(hvd::Scalar(static_cast<int64_t>(10 * i)))};
  }
  size_t size() const override { return size_; }

 private:
  size_t size_;
};

inline std::vector<int64_t> rows_of(const hvd::data::Batch& batch) {
  std::vector<int64_t> rows;
  for (int64_t i = 0; i < batch.data.size(0); ++i) rows.push_back(static_cast<int64_t>(batch.data[i].item<double>()));
  return rows;
}

/// The samples of every batch of a pass.
template <class Range>
std::vector<std::vector<int64_t>> batches_of(Range&& range) {
  std::vector<std::vector<int64_t>> all;
  for (auto& batch : range) all.push_back(rows_of(batch));
  return all;
}

}  // namespace data_test
