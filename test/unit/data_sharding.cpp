// SPDX-License-Identifier: Apache-2.0
#include "data_support.hpp"

#include <hvd/context.hpp>
#include <hvd/dist/batches.hpp>
#include <hvd/dist/loader_batches.hpp>
#include <hvd/dist/sharded.hpp>
#include <hvd/dist/steps.hpp>
#include <hvd/dist/testing.hpp>
#include <hvd/random.hpp>

#include <algorithm>
#include <map>
#include <mutex>

namespace data_sharding_test {
namespace {

using namespace data_test;
using namespace hvd::data;
using Batches = std::vector<std::vector<int64_t>>;
using ShardedRandom = hvd::Sharded<RandomSampler>;
using ShardedSequential = hvd::Sharded<SequentialSampler>;

// What one rank saw in one step.
struct Seen {
  hvd::Slice slice;
  std::vector<int64_t> rows;
};
using Steps = std::vector<Seen>;

template <class Loader>
Steps record(Loader& loader) {
  Steps steps;
  for (auto& batch : hvd::steps(loader)) {
    EXPECT_NE(hvd::current_slice(), nullptr);
    steps.push_back({*hvd::current_slice(), rows_of(batch)});
  }
  EXPECT_EQ(hvd::current_slice(), nullptr);
  return steps;
}

// Runs `body` on `ranks` ranks and returns what each of them returned.
template <class F>
auto on_ranks(int ranks, F body) {
  std::mutex mutex;
  std::map<int, decltype(body())> results;
  hvd::testing::spawn(ranks, [&] {
    auto result = body();
    const std::lock_guard lock(mutex);
    results[hvd::rank()] = std::move(result);
  });
  EXPECT_EQ(results.size(), static_cast<size_t>(ranks));
  return results;
}

// The slices of all ranks, put together in order of rank, are the batches of the sequential program.
void expect_union(std::map<int, Steps>& ranks, const Batches& sequential) {
  for (auto& [rank, steps] : ranks) ASSERT_EQ(steps.size(), sequential.size()) << "rank " << rank;
  for (size_t step = 0; step < sequential.size(); ++step) {
    std::vector<int64_t> all;
    for (auto& [rank, steps] : ranks) {
      const Seen& seen = steps[step];
      EXPECT_EQ(seen.slice.global_rows, static_cast<int64_t>(sequential[step].size()));
      EXPECT_EQ(static_cast<int64_t>(seen.rows.size()), seen.slice.local_rows());
      EXPECT_EQ(seen.slice.filler, seen.slice.rows == 0);
      if (seen.slice.filler) {
        EXPECT_EQ(seen.rows, (std::vector<int64_t>{sequential[step].front()})) << "a filler is the first sample of the batch";
      } else {
        EXPECT_EQ(seen.slice.first_row, static_cast<int64_t>(all.size()));
        all.insert(all.end(), seen.rows.begin(), seen.rows.end());
      }
    }
    EXPECT_EQ(all, sequential[step]) << "step " << step;
  }
}

class DataSharding : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Ranks, DataSharding, ::testing::Values(1, 2, 3, 4, 7));

// The same batches, taken one by one: the iterator is moved on at once, and begins anew at the end.
template <class Loader>
Steps record_by_hand(Loader& loader, size_t steps) {
  Steps seen;
  auto it = hvd::batches(loader).begin();
  while (seen.size() < steps) {
    hvd::StepScope step;
    if (it == hvd::batches(loader).end()) it = hvd::batches(loader).begin();
    const Batch batch = *it;
    ++it;
    seen.push_back({hvd::size() > 1 ? *hvd::current_slice() : hvd::Slice{batch.data.size(0), 0, batch.data.size(0), false}, rows_of(batch)});
  }
  return seen;
}

TEST_P(DataSharding, BatchesTakenByHandAreThoseOfLoops) {
  for (const size_t workers : {0, 2}) {
    const auto record = [&](auto take) {
      return on_ranks(GetParam(), [&] {
        hvd::manual_seed(5);
        const auto loader = make_data_loader<ShardedRandom>(Numbers(23), DataLoaderOptions(5).workers(workers));
        return take(loader);
      });
    };
    hvd::manual_seed(5);
    const auto plain = make_data_loader<RandomSampler>(Numbers(23), DataLoaderOptions(5).workers(workers));
    Batches expected;
    for (int pass = 0; pass < 2; ++pass)
      for (auto& batch : *plain) expected.push_back(rows_of(batch));
    auto taken = record([&](const auto& loader) { return record_by_hand(loader, expected.size()); });
    expect_union(taken, expected);
  }
}

TEST(DataShardingByHand, ABatchOfItsOwnSizeIsWholeBesideAnother) {
  for (const int ranks : {2, 3, 5}) {
    auto results = on_ranks(ranks, [] {
      const auto loader = make_data_loader<ShardedSequential>(Numbers(11), DataLoaderOptions(8));
      auto it = hvd::batches(loader, hvd::own_rows).begin();
      const hvd::StepScope step;
      Batches seen{rows_of(*it)};
      ++it;
      seen.push_back(rows_of(*it));
      seen.push_back(rows_of(*it));  // the same again
      return seen;
    });
    std::vector<int64_t> first;
    for (auto& [rank, seen] : results) {
      first.insert(first.end(), seen[0].begin(), seen[0].end());
      EXPECT_EQ(seen[1], (std::vector<int64_t>{8, 9, 10})) << rank;
      EXPECT_EQ(seen[2], seen[1]) << rank;
    }
    EXPECT_EQ(first, (std::vector<int64_t>{0, 1, 2, 3, 4, 5, 6, 7}));
  }
}

TEST(DataShardingByHand, ABatchTakenNeedsAStepOfItsSize) {
  const auto outside = [] {
    hvd::manual_seed(5);
    const auto loader = make_data_loader<ShardedSequential>(Numbers(11), DataLoaderOptions(8));
    (void)*hvd::batches(loader).begin();
  };
  const auto two = [] {
    const auto loader = make_data_loader<ShardedSequential>(Numbers(11), DataLoaderOptions(8));
    auto it = hvd::batches(loader).begin();
    const hvd::StepScope step;
    (void)*it;
    ++it;
    (void)*it;
  };
  const auto plain = [] { hvd::batches(make_data_loader<SequentialSampler>(Numbers(11), DataLoaderOptions(8))).begin(); };
  const auto message = [](auto body) -> std::string {
    try {
      hvd::testing::spawn(2, body);
    } catch (const std::exception& e) {
      return e.what();
    }
    return "no exception";
  };
  EXPECT_NE(message(outside).find("read outside of a training step"), std::string::npos) << message(outside);
  EXPECT_NE(message(two).find("3 rows, but this step's batch has 8"), std::string::npos) << message(two);
  EXPECT_NE(message(plain).find("hands out no slices"), std::string::npos) << message(plain);
}

TEST_P(DataSharding, SlicesMakeUpTheSequentialBatches) {
  for (const size_t workers : {0, 2})
    for (const size_t batch : {1, 5, 8, 64}) {
      const auto options = DataLoaderOptions().batch_size(batch).workers(workers);
      hvd::manual_seed(3);
      auto sequential = make_data_loader<RandomSampler>(Numbers(29), options);
      Batches expected = batches_of(*sequential);
      const Batches second = batches_of(*sequential);
      expected.insert(expected.end(), second.begin(), second.end());

      auto ranks = on_ranks(GetParam(), [&] {
        hvd::manual_seed(3);
        auto loader = make_data_loader<ShardedRandom>(Numbers(29), options);
        Steps steps = record(*loader);
        for (Seen& seen : record(*loader)) steps.push_back(seen);
        EXPECT_EQ(hvd::default_generator().state().counter, 2u);
        return steps;
      });
      expect_union(ranks, expected);
    }
}

TEST_P(DataSharding, DropLastLooksAtTheGlobalBatch) {
  const auto options = DataLoaderOptions().batch_size(8).drop_last(true);
  auto sequential = make_data_loader<SequentialSampler>(Numbers(23), options);
  auto ranks = on_ranks(GetParam(), [&] {
    auto loader = make_data_loader<ShardedSequential>(Numbers(23), options);
    EXPECT_EQ(loader->size(), 2u);
    EXPECT_EQ(hvd::steps(loader).size(), 2u);
    return record(*loader);
  });
  const Batches expected = batches_of(*sequential);
  EXPECT_EQ(expected.size(), 2u);
  expect_union(ranks, expected);
}

TEST_P(DataSharding, MoreRanksThanSamples) {
  auto ranks = on_ranks(GetParam(), [&] {
    auto loader = make_data_loader<ShardedSequential>(Numbers(1), DataLoaderOptions(4));
    return record(*loader);
  });
  expect_union(ranks, {{0}});
  const auto fillers = std::count_if(ranks.begin(), ranks.end(), [](const auto& r) { return r.second.front().slice.filler; });
  EXPECT_EQ(fillers, GetParam() - 1);
}

TEST_P(DataSharding, WithoutStepsEveryRankSeesWholeBatches) {
  hvd::manual_seed(4);
  const Batches expected = batches_of(*make_data_loader<RandomSampler>(Numbers(10), 4));
  auto ranks = on_ranks(GetParam(), [&] {
    hvd::manual_seed(4);
    return batches_of(*make_data_loader<ShardedRandom>(Numbers(10), 4));
  });
  for (const auto& [rank, batches] : ranks) EXPECT_EQ(batches, expected) << "rank " << rank;
}

TEST_P(DataSharding, RandomSamplesDoNotDependOnRanks) {
  struct Noisy : Numbers {
    using Numbers::Numbers;
    Example get(size_t) override { return {hvd::rand({1}, hvd::kFloat64), hvd::zeros({})}; }
  };
  hvd::manual_seed(8);
  std::vector<double> expected;
  auto sequential = make_data_loader<RandomSampler>(Noisy(9), 4);
  for (auto& batch : *sequential)
    for (int64_t i = 0; i < batch.data.size(0); ++i) expected.push_back(batch.data[i].item<double>());
  auto ranks = on_ranks(GetParam(), [&] {
    hvd::manual_seed(8);
    std::map<int64_t, double> mine;  // by position in the pass
    int64_t start = 0;
    auto loader = make_data_loader<ShardedRandom>(Noisy(9), DataLoaderOptions(4).workers(1));
    for (auto& batch : hvd::steps(loader)) {
      const hvd::Slice slice = *hvd::current_slice();
      for (int64_t i = 0; i < slice.rows; ++i) mine[start + slice.first_row + i] = batch.data[i].item<double>();
      start += slice.global_rows;
    }
    return mine;
  });
  std::map<int64_t, double> all;
  for (auto& [rank, mine] : ranks) all.merge(mine);
  ASSERT_EQ(all.size(), expected.size());
  for (const auto& [position, value] : all) EXPECT_EQ(value, expected[static_cast<size_t>(position)]);
}

TEST(DataSteps, SliceIsRestoredAtBreakAndException) {
  hvd::testing::spawn(2, [] {
    auto loader = make_data_loader<ShardedSequential>(Numbers(10), DataLoaderOptions(4).workers(1));
    for ([[maybe_unused]] auto& batch : hvd::steps(loader)) break;
    EXPECT_EQ(hvd::current_slice(), nullptr);
    try {
      for ([[maybe_unused]] auto& batch : hvd::steps(loader)) throw std::runtime_error("out");
    } catch (const std::runtime_error&) {
      EXPECT_EQ(hvd::current_slice(), nullptr);
    }
    int steps = 0;
    for ([[maybe_unused]] auto& batch : hvd::steps(loader)) {
      if (++steps < 3) continue;
      EXPECT_EQ(hvd::current_slice()->global_rows, 2);
    }
    EXPECT_EQ(steps, 3);
  });
}

TEST(DataSteps, NestedLoopsRestoreTheOuterSlice) {
  hvd::testing::spawn(3, [] {
    auto outer = make_data_loader<ShardedSequential>(Numbers(10), 5);
    auto inner = make_data_loader<ShardedSequential>(Numbers(4), 2);
    for ([[maybe_unused]] auto& a : hvd::steps(outer)) {
      const hvd::Slice* mine = hvd::current_slice();
      EXPECT_EQ(mine->global_rows, 5);
      for ([[maybe_unused]] auto& b : hvd::steps(inner)) EXPECT_EQ(hvd::current_slice()->global_rows, 2);
      EXPECT_EQ(hvd::current_slice(), mine);
      for ([[maybe_unused]] auto& b : hvd::steps(inner)) break;
      EXPECT_EQ(hvd::current_slice(), mine);
    }
  });
}

TEST(DataSteps, TakesLoadersByWhateverHoldsThem) {
  std::shared_ptr<DataLoader> shared = make_data_loader<ShardedSequential>(Numbers(4), 2);
  auto unique = make_data_loader<ShardedSequential>(Numbers(4), 2);
  DataLoader* raw = unique.get();
  EXPECT_EQ(batches_of(hvd::steps(shared)).size(), 2u);
  EXPECT_EQ(batches_of(hvd::steps(unique)).size(), 2u);
  EXPECT_EQ(batches_of(hvd::steps(raw)).size(), 2u);
  EXPECT_EQ(batches_of(hvd::steps(*raw)).size(), 2u);
}

TEST(DataSteps, UnshardedLoaderIsRefused) {
  auto loader = make_data_loader<RandomSampler>(Numbers(4), 2);
  expect_error([&] { batches_of(hvd::steps(loader)); }, {"hvd::steps", "hvd::Sharded"});
}

TEST(DataSteps, GivenSamplersCanBeSharded) {
  SequentialSampler plain(6);
  auto loader = make_data_loader(Numbers(6), hvd::Sharded<SequentialSampler>(plain), 4);
  EXPECT_EQ(batches_of(hvd::steps(loader)), (Batches{{0, 1, 2, 3}, {4, 5}}));
}

// A pass that two ranks left after some steps, continued by another number of ranks: the samples that were not visited, in the same order,
// in batches of its own.
TEST(Sharding, APassContinuesOnAnotherNumberOfRanks) {
  const auto loader_of = [](size_t batch) { return make_data_loader<ShardedRandom>(Numbers(23), DataLoaderOptions(batch)); };
  std::vector<int64_t> whole;
  hvd::manual_seed(6);
  auto sequential = make_data_loader(Numbers(23), DataLoaderOptions(4));
  for (auto& batch : *sequential)
    for (const int64_t row : rows_of(batch)) whole.push_back(row);
  std::string state;
  on_ranks(2, [&] {
    hvd::manual_seed(6);
    auto loader = loader_of(4);
    int steps = 0;
    for (auto& batch : hvd::steps(*loader)) {
      (void)batch;
      if (++steps == 3) break;
    }
    if (hvd::rank() == 0) state = loader->state();
    return steps;
  });
  for (const int ranks : {1, 3}) {
    for (const size_t batch : {4u, 6u, 5u}) {
      auto seen = on_ranks(ranks, [&] {
        hvd::manual_seed(77);
        auto loader = loader_of(batch);
        loader->load_state(state);
        return record(*loader);
      });
      std::vector<int64_t> rest(whole.begin() + 12, whole.end()), found;
      for (size_t step = 0; step < seen[0].size(); ++step)
        for (auto& [rank, steps] : seen)
          if (!steps[step].slice.filler) found.insert(found.end(), steps[step].rows.begin(), steps[step].rows.end());
      EXPECT_EQ(found, rest) << ranks << " ranks, batches of " << batch;
      EXPECT_EQ(seen[0].size(), (11 + batch - 1) / batch);
    }
  }
}

}  // namespace
}  // namespace data_sharding_test
