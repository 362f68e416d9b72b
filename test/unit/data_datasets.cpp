// SPDX-License-Identifier: Apache-2.0
#include "data_support.hpp"

#include <hvd/hvd.hpp>

#include <set>

namespace data_datasets_test {
namespace {

using namespace data_test;
using namespace hvd::data;

TEST(DataDigits, SameSeedSameImages) {
  datasets::Digits a(50, 3), b(50, 3), other(50, 4), longer(80, 3);
  EXPECT_TRUE(hvd::equal(a.images(), b.images()));
  EXPECT_TRUE(hvd::equal(a.targets(), b.targets()));
  EXPECT_FALSE(hvd::equal(a.images(), other.images()));
  EXPECT_TRUE(hvd::equal(a.images(), longer.images().narrow(0, 0, 50)));
}

TEST(DataDigits, AllClassesInRange) {
  datasets::Digits set(400, 0);
  EXPECT_EQ(set.images().sizes(), (std::vector<int64_t>{400, 1, 28, 28}));
  EXPECT_GE(set.images().min().item<double>(), 0.0);
  EXPECT_LE(set.images().max().item<double>(), 1.0);
  std::set<int64_t> classes;
  for (size_t i = 0; i < set.size(); ++i) classes.insert(set.get(i).target.item<int64_t>());
  EXPECT_EQ(classes.size(), 10u);
  EXPECT_EQ(*classes.begin(), 0);
  EXPECT_EQ(*classes.rbegin(), 9);
}

TEST(DataDigits, TrainAndTestSetsDiffer) {
  auto train = open_digits_or("", datasets::kTrain, 20), test = open_digits_or("", datasets::kTest, 20);
  EXPECT_FALSE(hvd::equal(train->get(0).data, test->get(0).data));
}

TEST(DataDigits, LossHalvesIn300Steps) {
  hvd::manual_seed(1);
  hvd::nn::Sequential model(hvd::nn::Flatten(), hvd::nn::Linear(784, 32), hvd::nn::ReLU(), hvd::nn::Linear(32, 10));
  hvd::optim::SGD optimizer(model->parameters(), hvd::optim::SGDOptions(0.05).momentum(0.9));
  auto loader = make_data_loader(datasets::Digits(2000, 1), 20);
  std::vector<double> losses;
  while (losses.size() < 300)
    for (auto& batch : *loader) {
      optimizer.zero_grad();
      auto loss = hvd::nn::functional::cross_entropy(model->forward(batch.data), batch.target);
      loss.backward();
      optimizer.step();
      losses.push_back(loss.item<double>());
      if (losses.size() == 300) break;
    }
  const auto mean = [&](size_t first, size_t count) {
    double sum = 0;
    for (size_t i = first; i < first + count; ++i) sum += losses[i];
    return sum / static_cast<double>(count);
  };
  EXPECT_GT(mean(0, 10), 1.5);
  EXPECT_LT(mean(290, 10), mean(0, 10) / 2);
}

TEST(DataDatasets, ImagesFollowTheDefaultDtype) {
  datasets::Digits set(3, 0);
  const hvd::Tensor single = set.images();
  hvd::set_default_dtype(hvd::kFloat64);
  const hvd::Tensor twice = set.get_batch({0, 1, 2}).data;
  hvd::set_default_dtype(hvd::kFloat32);
  EXPECT_EQ(twice.dtype(), hvd::kFloat64);
  EXPECT_TRUE(hvd::allclose(twice, single.to(hvd::kFloat64), 1e-6, 1e-7));
}

TEST(DataTransforms, NormalizeOfABatchEqualsThatOfItsSamples) {
  auto set = datasets::Digits(6, 0).map(Normalize(0.25, 0.5));
  const Batch batch = set.get_batch({4, 1});
  EXPECT_TRUE(hvd::equal(batch.data, hvd::stack({set.get(4).data, set.get(1).data})));
  EXPECT_TRUE(hvd::allclose(batch.data[0], (datasets::Digits(6, 0).get(4).data - 0.25) / 0.5));
  expect_error([] { Normalize(0, 0); }, {"Normalize", "must be positive"});
}

TEST(DataTransforms, MapTakesAnyFunctionAndTakeCuts) {
  auto doubled = map(std::make_shared<Numbers>(10), [](Example e) {
    e.data = e.data * 2;
    return e;
  });
  auto few = doubled.take(3);
  EXPECT_EQ(doubled.size(), 10u);
  EXPECT_EQ(few.size(), 3u);
  EXPECT_EQ(doubled.take(99).size(), 10u);
  EXPECT_EQ(rows_of(few.get_batch({2, 0})), (std::vector<int64_t>{4, 0}));
  expect_error([&] { few.get(3); }, {"sample 3 of a data set of 3"});
  expect_error([&] { few.get_batch({3}); }, {"sample 3 of a data set of 3"});
}

TEST(DataDatasets, TensorDatasetHandsOutRows) {
  datasets::TensorDataset set(hvd::arange(6, hvd::kFloat64).view({3, 2}), hvd::tensor({7, 8, 9}));
  const Batch batch = set.get_batch({2, 1});
  EXPECT_TRUE(hvd::equal(batch.data, hvd::tensor({4.0, 5.0, 2.0, 3.0}, hvd::kFloat64).view({2, 2})));
  EXPECT_TRUE(hvd::equal(batch.target, hvd::tensor({9, 8})));
  expect_error([] { datasets::TensorDataset(hvd::zeros({3, 2}), hvd::zeros({4})); }, {"[3, 2]", "[4]"});
}

TEST(DataDatasets, UserWrittenSetsAreStacked) {
  Numbers set(5);
  const Batch batch = set.get_batch({3, 1});
  EXPECT_EQ(batch.data.sizes(), (std::vector<int64_t>{2, 1}));
  EXPECT_TRUE(hvd::equal(batch.target, hvd::tensor({30, 10})));
  expect_error([&] { set.get_batch({}); }, {"at least one sample"});
}

}  // namespace
}  // namespace data_datasets_test
