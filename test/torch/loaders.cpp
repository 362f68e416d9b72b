// SPDX-License-Identifier: Apache-2.0
//
// Loaders on processes: every rank draws what the program alone draws, in its order, and takes its slice.
#include "support.hpp"
#include <hvd/dist/failure.hpp>

namespace hvd::test {
namespace loaders_test {
namespace {

using namespace torch::data;
using samplers::BatchSize;
using Example = torch::data::Example<>;

struct Numbered : datasets::Dataset<Numbered> {
  explicit Numbered(std::size_t n) : n(n) {}
  Example get(std::size_t i) override {
    return {at::tensor({static_cast<double>(i), 0.5 * static_cast<double>(i)}, at::kDouble), at::tensor(static_cast<std::int64_t>(i))};
  }
  c10::optional<std::size_t> size() const override { return n; }
  std::size_t n;
};

/// Backwards, in batches that grow: 1, 2, 3, ... indices, whatever it is asked for.
class Growing : public samplers::Sampler<> {
 public:
  explicit Growing(std::size_t n) : n_(n) {}
  void reset(c10::optional<std::size_t> size = c10::nullopt) override {
    if (size) n_ = *size;
    next_ = 0;
    length_ = 0;
  }
  c10::optional<std::vector<std::size_t>> next(std::size_t) override {
    if (next_ == n_) return c10::nullopt;
    std::vector<std::size_t> batch;
    for (++length_; batch.size() < length_ && next_ < n_; ++next_) batch.push_back(n_ - 1 - next_);
    return batch;
  }
  void save(torch::serialize::OutputArchive&) const override {}
  void load(torch::serialize::InputArchive&) override {}

 private:
  std::size_t n_, next_ = 0, length_ = 0;
};

/// Takes a number of samples, not indices.
struct Stream : datasets::StreamDataset<Stream> {
  explicit Stream(std::size_t n) : n(n) {}
  std::vector<Example> get_batch(std::size_t count) override {
    std::vector<Example> batch;
    for (; batch.size() < count; ++at) batch.push_back({at::full({2}, static_cast<double>(at), at::kDouble), at::tensor(at)});
    return batch;
  }
  c10::optional<std::size_t> size() const override { return n; }
  std::size_t n;
  std::int64_t at = 0;
};

using Passes = std::vector<std::vector<std::int64_t>>;

// What the program alone would see in two passes: the targets of each batch.
template <class Loader>
Passes alone(Loader& loader) {
  Passes batches;
  for (int epoch = 0; epoch < 2; ++epoch)
    for (auto& batch : *loader) batches.emplace_back(batch.target.template data_ptr<std::int64_t>(), batch.target.template data_ptr<std::int64_t>() + batch.target.size(0));
  return batches;
}

// The same on the ranks: the slices, put together; in every step a draw that must not disturb the shuffles.
template <class Loader>
Passes together(Loader& loader) {
  Passes batches;
  for (int epoch = 0; epoch < 2; ++epoch)
    for (auto& batch : hvd::steps(loader)) {
      torch::rand({3});
      EXPECT_EQ(hvd::local_batch_size(hvd::global(batch.target.size(0))), batch.data.size(0));
      const at::Tensor all = hvd::gather(batch.target), data = hvd::gather(batch.data);
      batches.emplace_back(all.data_ptr<std::int64_t>(), all.data_ptr<std::int64_t>() + all.size(0));
      for (std::int64_t i = 0; i < all.size(0); ++i) EXPECT_EQ(data[i][0].item<double>(), static_cast<double>(all[i].item<std::int64_t>()));
    }
  return batches;
}

template <class Sampler, class... Arguments>
void expect_same_batches(std::size_t samples, const DataLoaderOptions& options, const Arguments&... arguments) {
  const auto data = [&] { return Numbered(samples).map(transforms::Stack<>()); };
  torch::manual_seed(7);
  auto plain = make_data_loader(data(), Sampler(arguments...), options);
  const Passes expected = alone(plain);
  ASSERT_FALSE(expected.empty());
  torch::manual_seed(7);
  auto sharded = make_data_loader(data(), hvd::Sharded<Sampler>(arguments...), options);
  EXPECT_EQ(together(sharded), expected);
}

class ProcessesTorchLoaders : public ::testing::TestWithParam<std::tuple<int, bool>> {
 protected:
  static DataLoaderOptions options(std::size_t batch) {
    return DataLoaderOptions(batch).workers(static_cast<std::size_t>(std::get<0>(GetParam()))).drop_last(std::get<1>(GetParam()));
  }
};
INSTANTIATE_TEST_SUITE_P(Torch, ProcessesTorchLoaders, ::testing::Combine(::testing::Values(0, 1, 3), ::testing::Bool()));

TEST_P(ProcessesTorchLoaders, Random) { expect_same_batches<samplers::RandomSampler>(33, options(8), 33); }
TEST_P(ProcessesTorchLoaders, Sequential) { expect_same_batches<samplers::SequentialSampler>(30, options(7), 30); }
TEST_P(ProcessesTorchLoaders, EmptySlices) { expect_same_batches<samplers::RandomSampler>(13, options(3), 13); }
TEST_P(ProcessesTorchLoaders, BatchesOfOne) { expect_same_batches<samplers::SequentialSampler>(5, options(1), 5); }
TEST_P(ProcessesTorchLoaders, Distributed) {
  expect_same_batches<samplers::DistributedRandomSampler>(21, options(4), 21, 1, 0, true);
  expect_same_batches<samplers::DistributedSequentialSampler>(21, options(4), 21, 1, 0, true);
}
TEST_P(ProcessesTorchLoaders, AnAuthorsOwn) {
  if (!std::get<1>(GetParam())) expect_same_batches<Growing>(20, options(5), 20);
}

TEST_P(ProcessesTorchLoaders, TheDefaultSampler) {
  torch::manual_seed(3);
  auto plain = make_data_loader(Numbered(19).map(transforms::Stack<>()), options(4));
  const Passes expected = alone(plain);
  torch::manual_seed(3);
  auto sharded = make_data_loader<hvd::Sharded<samplers::RandomSampler>>(Numbered(19).map(transforms::Stack<>()), options(4));
  EXPECT_EQ(together(sharded), expected);
}

TEST(ProcessesTorch, RequestsThatAreNoIndices) {
  torch::manual_seed(3);
  auto plain = make_data_loader(Stream(12).map(transforms::Stack<>()), samplers::StreamSampler(12), DataLoaderOptions(5));
  const Passes expected = alone(plain);
  auto sharded = make_data_loader(Stream(12).map(transforms::Stack<>()), hvd::Sharded<samplers::StreamSampler>(12), DataLoaderOptions(5));
  EXPECT_EQ(together(sharded), expected);
}

TEST(ProcessesTorch, ExamplesThatAreNotStacked) {
  auto loader = make_data_loader(Numbered(7), hvd::Sharded<samplers::SequentialSampler>(7), DataLoaderOptions(5));
  std::int64_t seen = 0;
  for (auto& batch : hvd::steps(loader)) {
    std::int64_t mine = static_cast<std::int64_t>(batch.size());
    EXPECT_EQ(mine, hvd::current_slice()->local_rows());
    if (!hvd::current_slice()->filler) {
      EXPECT_EQ(batch[0].target.item<std::int64_t>(), seen + hvd::current_slice()->first_row);
    }
    seen += hvd::batch_sum(mine);
  }
  EXPECT_EQ(seen, 7);
}

TEST(ProcessesTorch, LeavingALoopEarly) {
  torch::manual_seed(5);
  const auto make = [] {
    return make_data_loader(Numbered(20).map(transforms::Stack<>()), hvd::Sharded<samplers::RandomSampler>(20), DataLoaderOptions(4).workers(2));
  };
  for (int epoch = 0; epoch < 3; ++epoch) {
    auto loader = make();
    for (auto& batch : hvd::steps(loader)) {
      EXPECT_NE(hvd::current_slice(), nullptr);
      EXPECT_EQ(hvd::gather(batch.target).size(0), 4);
      break;
    }
    EXPECT_EQ(hvd::current_slice(), nullptr);
  }
  auto loader = make();
  for (auto& batch : *loader) EXPECT_EQ(batch.target.size(0), 4);  // not through steps: whole batches
}

TEST(ProcessesTorch, LoadersThatCannotBeShared) {
  auto plain = make_data_loader(Numbered(8).map(transforms::Stack<>()), DataLoaderOptions(4));
  EXPECT_THROW(together(plain), std::runtime_error);
  hvd::testing::forget_failure();
  auto unordered = make_data_loader(Numbered(8).map(transforms::Stack<>()), hvd::Sharded<samplers::SequentialSampler>(8),
                                    DataLoaderOptions(4).workers(2).enforce_ordering(false));
  EXPECT_THROW(together(unordered), std::runtime_error);
  hvd::testing::forget_failure();
}

// Shuffles, shared draws and in-step draws after broadcast, on ranks whose generators had run apart.
TEST(ProcessesTorch, RandomStreams) {
  torch::manual_seed(11 + hvd::rank());
  torch::nn::Linear net(2, 2);
  hvd::broadcast(net);
  const auto same = [](const at::Tensor& t) {
    at::Tensor sum = t.clone();
    hvd::all_reduce_sum(sum);
    return difference(sum, t * hvd::size()) < 1e-6;
  };
  EXPECT_TRUE(same(torch::rand({4})));
  {
    hvd::StepScope scope;
    const at::Tensor x = hvd::shard(at::ones({8, 2}));
    EXPECT_FALSE(same(torch::rand({4})));
    EXPECT_TRUE(same(hvd::whole_draw().keep(torch::rand({4}))));
    EXPECT_FALSE(same(torch::rand({4})));
  }
  EXPECT_TRUE(same(torch::randperm(9)));
}

TEST(ProcessesTorch, OneStepOfTraining) {
  Net net;
  torch::optim::SGD opt(net->parameters(), torch::optim::SGDOptions(0.1));
  hvd::broadcast(net, opt);
  hvd::overlap(net, opt);
  train(net, opt);
  std::vector<at::Tensor> here = copies(net->parameters());
  // The same by hand on the whole batches.
  Net whole;
  torch::optim::SGD plain(whole->parameters(), torch::optim::SGDOptions(0.1));
  int step = 0;
  for (const std::int64_t rows : kBatches) {
    plain.zero_grad();
    torch::nn::functional::cross_entropy(whole->forward(inputs(rows, step)), labels(rows, step)).backward();
    plain.step();
    ++step;
  }
  for (std::size_t i = 0; i < here.size(); ++i) EXPECT_LE(difference(here[i], whole->parameters()[i]), 1e-12);
}

}  // namespace
}  // namespace loaders_test
}  // namespace hvd::test
