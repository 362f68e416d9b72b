// SPDX-License-Identifier: Apache-2.0
//
// Batches that are copied to a GPU beside its computations.
#include "device/gpu_library.hpp"

#include <hvd/hvd.hpp>

#include "test/unit/core_support.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace gpu_loading_test {
namespace {

using hvd::Tensor;
using hvd::TensorOptions;

/// Sample i is a row of numbers of its own; sample `bad` throws.
class Rows : public hvd::data::Dataset {
 public:
  explicit Rows(size_t n, size_t bad = SIZE_MAX) : n_(n), bad_(bad) {}
  hvd::data::Example get(size_t i) override {
    if (i == bad_) throw hvd::Error("sample " + std::to_string(i) + " cannot be read");
    const Tensor row = hvd::empty({500}, hvd::kFloat32), label = hvd::empty({}, hvd::kInt64);
    for (int j = 0; j < 500; ++j) row.data_ptr<float>()[j] = static_cast<float>(i * 1000 + static_cast<size_t>(j));
    label.data_ptr<int64_t>()[0] = static_cast<int64_t>(i);
    return {row, label};
  }
  size_t size() const override { return n_; }

 private:
  size_t n_, bad_;
};

class GpuLoading : public testing::TestWithParam<hvd::DeviceType> {
 protected:
  void SetUp() override {
    if (const std::string problem = hvd::device_problem(GetParam()); !problem.empty()) GTEST_SKIP() << "skipped: " << problem;
    hvd::set_default_device(GetParam());
  }
  core_tests::Defaults defaults_;
};

INSTANTIATE_TEST_SUITE_P(All, GpuLoading, testing::Values(hvd::kCUBLAS, hvd::kCUDNN),
                         [](const auto& info) { return std::string(info.param == hvd::kCUBLAS ? "cublas" : "cudnn"); });

auto loader_of(size_t samples, size_t workers, size_t bad = SIZE_MAX) {
  return hvd::data::make_data_loader<hvd::data::SequentialSampler>(Rows(samples, bad), hvd::data::DataLoaderOptions(7).workers(workers).prefetch(4));
}

// Sums are formed from what a batch holds at the time that it is handed out, and again when the next copies have been begun: memory that is
// reused too early, and batches that are read too early, give others.
TEST_P(GpuLoading, BatchesAreWholeWhenTheyAreUsed) {
  for (const size_t workers : {0, 1, 3})
    for (int pass = 0; pass < 3; ++pass) {
      size_t seen = 0;
      std::vector<Tensor> sums, kept;
      const auto loader = loader_of(150, workers);
      for (auto& batch : *loader) {
        EXPECT_EQ(batch.data.device().type(), GetParam());
        const Tensor work = batch.data * 2;
        sums.push_back((work - batch.data).sum());
        if (sums.size() % 5 == 0) kept.push_back(batch.data);
        const Tensor labels = batch.target.cpu();
        for (int64_t r = 0; r < labels.numel(); ++r) EXPECT_EQ(labels.data_ptr<int64_t>()[r], static_cast<int64_t>(seen++));
      }
      ASSERT_EQ(seen, 150u);
      const auto sum_of = [](size_t first, size_t last) {
        double sum = 0;
        for (size_t i = first; i < last; ++i) sum += 500 * 1000.0 * static_cast<double>(i) + 500 * 499 / 2.0;
        return sum;
      };
      for (size_t b = 0; b < sums.size(); ++b) {
        const double want = sum_of(b * 7, std::min<size_t>(b * 7 + 7, 150));
        EXPECT_NEAR(sums[b].item<float>(), want, 1e-6 * want) << "batch " << b << " with " << workers << " workers";
      }
      for (size_t k = 0; k < kept.size(); ++k) {  // what the loop keeps stays what it was
        const double want = sum_of((k * 5 + 4) * 7, (k * 5 + 5) * 7);
        EXPECT_NEAR(kept[k].sum().item<float>(), want, 1e-6 * want) << "kept " << k;
      }
    }
}

TEST_P(GpuLoading, TheNextBatchIsOnItsWayWithoutAWait) {
  const auto loader = loader_of(70, 2);
  const uint64_t before = hvd::device_waits();
  size_t batches = 0;
  for (auto& batch : *loader) batches += batch.data.defined();
  EXPECT_EQ(batches, 10u);
  EXPECT_EQ(hvd::device_waits(), before);
}

// The error of a batch is thrown where the loop comes to it, not a batch earlier; a pass may end before its copies.
TEST_P(GpuLoading, ErrorsComeInTheirPlaceAndPassesMayEndEarly) {
  size_t batches = 0;
  const auto failing = loader_of(70, 2, 30), loader = loader_of(70, 2);
  try {
    for (auto& batch : *failing) batches += batch.data.defined();
    FAIL() << "nothing was thrown";
  } catch (const hvd::Error& error) {
    EXPECT_NE(std::string(error.what()).find("sample 30"), std::string::npos) << error.what();
  }
  EXPECT_EQ(batches, 4u);
  for (int i = 0; i < 20; ++i)
    for (auto& batch : *loader) {
      EXPECT_EQ(batch.data.size(0), 7);
      break;
    }
}

}  // namespace
}  // namespace gpu_loading_test
