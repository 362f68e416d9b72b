// SPDX-License-Identifier: Apache-2.0
//
// Pictures of CIFAR, generated ones, augmentation, and passes that are continued.
#include "data_support.hpp"

#include <hvd/hvd.hpp>

namespace data_augmentation_test {
namespace {

using namespace data_test;
using hvd::Tensor;
namespace data = hvd::data;
namespace datasets = hvd::data::datasets;

std::string record(std::string labels, int first) {
  for (int i = 0; i < 3072; ++i) labels += static_cast<char>((first + i) % 256);
  return labels;
}

TEST(DataCifar, RecordsBecomePictures) {
  ScratchDir dir;
  for (int i = 1; i <= 5; ++i) write_bytes(dir / ("data_batch_" + std::to_string(i) + ".bin"), record(std::string(1, char(i)), i) + record(std::string(1, '\0'), 9));
  const datasets::CIFAR10 set(dir.path());
  EXPECT_EQ(set.size(), 10u);
  EXPECT_EQ(set.images().sizes(), (std::vector<int64_t>{10, 3, 32, 32}));
  EXPECT_EQ(set.targets()[2].item<int64_t>(), 2);
  EXPECT_FLOAT_EQ(set.images()[2][1][0][5].item<float>(), static_cast<float>((2 + 1024 + 5) % 256) / 255);
  expect_error([&] { datasets::CIFAR10(dir.path(), datasets::kTest); }, {"test_batch.bin"});
}

TEST(DataCifar, FineClassesOfTheHundred) {
  ScratchDir dir;
  std::filesystem::create_directory(dir / "cifar-100-binary");
  write_bytes(dir / "cifar-100-binary/test.bin", record(std::string("\3\x63", 2), 0));
  EXPECT_EQ(datasets::CIFAR100(dir.path(), datasets::kTest).targets()[0].item<int64_t>(), 99);
  write_bytes(dir / "cifar-100-binary/test.bin", record(std::string("\3\x64", 2), 0));
  expect_error([&] { datasets::CIFAR100(dir.path(), datasets::kTest); }, {"test.bin", "class 100", "image 0"});
  write_bytes(dir / "cifar-100-binary/test.bin", record("ab", 0).substr(1));
  expect_error([&] { datasets::CIFAR100(dir.path(), datasets::kTest); }, {"3073 bytes", "3074"});
}

TEST(DataSynthetic, PatternsOfClassesCanBeTold) {
  const datasets::SyntheticImages a(60, {3, 6, 5}, 4, 1), again(60, {3, 6, 5}, 4, 1), other(60, {3, 6, 5}, 4, 2);
  EXPECT_TRUE(hvd::equal(a.images(), again.images()));
  EXPECT_FALSE(hvd::equal(a.images(), other.images()));
  // The nearest class mean of one set finds the classes of the other.
  std::vector<Tensor> means;
  for (int64_t k = 0; k < 4; ++k) {
    const Tensor mask = a.targets().eq(k).to(hvd::kFloat32).view({60, 1});
    means.push_back((a.images().flatten(1) * mask).sum(0) / mask.sum());
  }
  const Tensor far = (other.images().flatten(1).unsqueeze(1) - hvd::stack(means).unsqueeze(0)).square().sum(2);
  EXPECT_GT((-far).argmax(1).eq(other.targets()).sum().item<int64_t>(), 54);
  EXPECT_THROW(datasets::SyntheticImages(1, {3, 0, 5}, 4), hvd::Error);
}

TEST(DataAugmentation, CropsAreWindowsOfThePaddedImage) {
  hvd::manual_seed(4);
  const Tensor image = hvd::arange(24, hvd::kFloat32).view({2, 3, 4}) + 1;
  const Tensor padded = hvd::zeros({2, 7, 8});
  padded.narrow(1, 2, 3).narrow(2, 2, 4).copy_(image);
  int found = 0;
  for (int i = 0; i < 50; ++i) {
    const Tensor crop = data::RandomCrop(3, 4, 2)({image, {}}).data;
    for (int y = 0; y < 5; ++y)
      for (int x = 0; x < 5; ++x) found += hvd::equal(crop, padded.narrow(1, y, 3).narrow(2, x, 4).contiguous());
  }
  EXPECT_GE(found, 50);
  expect_error([&] { data::RandomCrop(9, 4)({image, {}}); }, {"RandomCrop", "9 x 4"});
}

TEST(DataAugmentation, FlipsExchangeLeftAndRight) {
  const Tensor image = hvd::arange(6, hvd::kFloat32).view({1, 2, 3});
  EXPECT_TRUE(hvd::equal(data::RandomHorizontalFlip(1)({image, {}}).data, hvd::tensor({2.f, 1.f, 0.f, 5.f, 4.f, 3.f}).view({1, 2, 3})));
  EXPECT_TRUE(hvd::equal(data::RandomHorizontalFlip(0)({image, {}}).data, image));
}

TEST(DataAugmentation, ChannelsAreNormalisedByThemselves) {
  const Tensor image = hvd::ones({2, 2, 2, 2});
  const Tensor out = data::Normalize({0.5, 0}, {0.25, 4})({image, {}}).data;
  EXPECT_FLOAT_EQ(out[1][0][0][0].item<float>(), 2);
  EXPECT_FLOAT_EQ(out[1][1][1][0].item<float>(), 0.25);
  EXPECT_THROW(data::Normalize({0.5}, {1, 2}), hvd::Error);
}

TEST(DataAugmentation, DependsNeitherOnWorkersNorOnSlices) {
  const auto epochs = [](size_t workers) {
    hvd::manual_seed(8);
    auto set = datasets::SyntheticImages(11, {1, 6, 6}, 3).map(data::RandomCrop(6, 6, 2)).map(data::RandomHorizontalFlip());
    auto loader = data::make_data_loader(set, data::DataLoaderOptions(4).workers(workers));
    std::vector<Tensor> out;
    for (int epoch = 0; epoch < 2; ++epoch)
      for (auto& batch : *loader) out.push_back(batch.data);
    return hvd::cat(out);
  };
  const Tensor plain = epochs(0);
  EXPECT_TRUE(hvd::equal(plain, epochs(3)));
  EXPECT_FALSE(hvd::equal(plain.narrow(0, 0, 11), plain.narrow(0, 11, 11)));
}

/// What a run sees that is cut off after `stop` batches of its second pass and continued, against one that is not.
TEST(DataLoaderState, APassContinuesWhereItWasLeft) {
  const auto set = [] { return datasets::SyntheticImages(10, {1, 4, 4}, 2).map(data::RandomCrop(4, 4, 1)); };
  const auto options = data::DataLoaderOptions(3).workers(2);
  for (int stop = 1; stop <= 4; ++stop) {
    hvd::manual_seed(21);
    auto loader = data::make_data_loader(set(), options);
    std::vector<Tensor> whole;
    std::string state;
    hvd::Generator::State random{};
    for (auto& batch : *loader) whole.push_back(batch.data);
    EXPECT_EQ(loader->state(), "");
    whole.clear();
    int taken = 0;
    for (auto& batch : *loader) {
      whole.push_back(batch.data + hvd::rand({1}).item<double>());
      if (++taken == stop) state = loader->state(), random = hvd::default_generator().state();
    }
    for (auto& batch : *loader) whole.push_back(batch.data);
    hvd::manual_seed(99);
    hvd::default_generator().set_state(random);
    auto other = data::make_data_loader(set(), options);
    other->load_state(state);
    std::vector<Tensor> rest(whole.begin(), whole.begin() + stop);
    for (auto& batch : *other) rest.push_back(batch.data + hvd::rand({1}).item<double>());
    for (auto& batch : *other) rest.push_back(batch.data);
    EXPECT_TRUE(hvd::equal(hvd::cat(whole), hvd::cat(rest))) << stop;
  }
}

TEST(DataLoaderState, WhatIsNoStateIsRefused) {
  auto loader = data::make_data_loader(Numbers(4), data::DataLoaderOptions(2));
  expect_error([&] { loader->load_state("1 2"); }, {"'1 2'"});
  expect_error([&] { loader->load_state("1 2 3 4"); }, {"no state"});
  loader->load_state("1 2 5");
  expect_error([&] { loader->begin(); }, {"4 samples", "sample 5"});
}

}  // namespace
}  // namespace data_augmentation_test
