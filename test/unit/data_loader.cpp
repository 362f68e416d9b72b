// SPDX-License-Identifier: Apache-2.0
#include "data_support.hpp"

#include <hvd/random.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <iterator>
#include <numeric>
#include <thread>

namespace data_loader_test {
namespace {

using namespace data_test;
using namespace hvd::data;
using Batches = std::vector<std::vector<int64_t>>;

size_t threads_of_this_process() {
  return static_cast<size_t>(std::distance(std::filesystem::directory_iterator("/proc/self/task"), std::filesystem::directory_iterator{}));
}

// Threads that others before this test have joined may still be listed for a moment: the number that stays.
size_t settled_threads() {
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  size_t threads = threads_of_this_process();
  for (int same = 0; same < 20 && std::chrono::steady_clock::now() < limit;) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    const size_t now = threads_of_this_process();
    same = now == threads ? same + 1 : 0;
    threads = now;
  }
  return threads;
}

/// The number of threads once it is `expected`, and else the one after ten seconds: the kernel lists a thread that was
/// joined for a moment longer, since it wakes who waits for it before it takes it from its list.
size_t threads_settled_at(size_t expected) {
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (threads_of_this_process() != expected && std::chrono::steady_clock::now() < limit)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return threads_of_this_process();
}

class Failing : public Numbers {
 public:
  Failing(size_t size, size_t bad) : Numbers(size), bad_(bad) {}
  Example get(size_t i) override {
    if (i == bad_) throw std::domain_error("sample " + std::to_string(i) + " is unreadable");
    return Numbers::get(i);
  }

 private:
  size_t bad_;
};

// A random number for each sample, as an augmentation would draw it.
class Noisy : public Numbers {
 public:
  using Numbers::Numbers;
  Example get(size_t i) override { return {hvd::rand({1}, hvd::kFloat64) + hvd::rand({1}, hvd::kFloat64), Numbers::get(i).target}; }
};

TEST(DataLoaderTest, OrderAndLastBatch) {
  auto loader = make_data_loader<SequentialSampler>(Numbers(7), 3);
  EXPECT_EQ(batches_of(*loader), (Batches{{0, 1, 2}, {3, 4, 5}, {6}}));
  EXPECT_EQ(loader->size(), 3u);
  EXPECT_EQ(loader->dataset_size(), 7u);
  auto dropping = make_data_loader<SequentialSampler>(Numbers(7), DataLoaderOptions(3).drop_last(true));
  EXPECT_EQ(batches_of(*dropping), (Batches{{0, 1, 2}, {3, 4, 5}}));
  EXPECT_EQ(dropping->size(), 2u);
}

TEST(DataLoaderTest, OneOrderWhateverTheWorkers) {
  std::vector<Batches> seen;
  for (const size_t workers : {0, 1, 2, 5}) {
    hvd::manual_seed(9);
    auto loader = make_data_loader(Numbers(23), DataLoaderOptions().batch_size(4).workers(workers).prefetch(workers == 5 ? 1 : 0));
    Batches both = batches_of(*loader);
    const Batches second = batches_of(*loader);
    EXPECT_NE(both, second);
    both.insert(both.end(), second.begin(), second.end());
    seen.push_back(both);
    EXPECT_EQ(hvd::default_generator().state().counter, 2u) << workers << " workers: one draw for each pass";
  }
  for (const Batches& batches : seen) EXPECT_EQ(batches, seen.front());
}

TEST(DataLoaderTest, RandomSamplesDoNotDependOnWorkers) {
  std::vector<hvd::Tensor> seen;
  for (const size_t workers : {0, 1, 3}) {
    hvd::manual_seed(2);
    auto loader = make_data_loader<SequentialSampler>(Noisy(11), DataLoaderOptions().batch_size(4).workers(workers));
    std::vector<hvd::Tensor> rows;
    for (auto& batch : *loader) rows.push_back(batch.data);
    seen.push_back(hvd::cat(rows));
    EXPECT_EQ(hvd::default_generator().state().counter, 0u) << "a pass takes nothing from the program's generator";
  }
  for (const hvd::Tensor& rows : seen) EXPECT_TRUE(hvd::equal(rows, seen.front()));
  EXPECT_NE(seen.front()[0].item<double>(), seen.front()[1].item<double>());
  EXPECT_NE(seen.front()[0].item<double>(), seen.front()[4].item<double>());  // first rows of two batches
}

TEST(DataLoaderTest, ExceptionsOfWorkersSurfaceInTheLoop) {
  for (const size_t workers : {0, 2}) {
    const size_t before = settled_threads();
    auto loader = make_data_loader<SequentialSampler>(Failing(20, 9), DataLoaderOptions().batch_size(4).workers(workers));
    Batches seen;
    try {
      for (auto& batch : *loader) seen.push_back(rows_of(batch));
      FAIL() << "no exception";
    } catch (const std::domain_error& error) {
      EXPECT_STREQ(error.what(), "sample 9 is unreadable");
    }
    EXPECT_EQ(seen, (Batches{{0, 1, 2, 3}, {4, 5, 6, 7}}));
    EXPECT_EQ(threads_settled_at(before), before);
  }
}

TEST(DataLoaderTest, BreakLeavesNoThread) {
  const size_t before = settled_threads();
  auto loader = make_data_loader(Numbers(1000), DataLoaderOptions().batch_size(2).workers(3));
  for (int pass = 0; pass < 5; ++pass) {
    int steps = 0;
    for ([[maybe_unused]] auto& batch : *loader) {
      if (steps == 0) {
        EXPECT_EQ(threads_settled_at(before + 3), before + 3);
      }
      if (++steps == 3) break;
    }
    EXPECT_EQ(steps, 3);
    EXPECT_EQ(threads_settled_at(before), before);
  }
}

TEST(DataLoaderTest, WorkersStayWithinThePrefetchLimit) {
  struct Counting : Numbers {
    std::shared_ptr<std::atomic<size_t>> made = std::make_shared<std::atomic<size_t>>(0);
    using Numbers::Numbers;
    Example get(size_t i) override {
      ++*made;
      return Numbers::get(i);
    }
  };
  Counting set(50);
  const auto made = set.made;
  auto loader = make_data_loader<SequentialSampler>(set, DataLoaderOptions().batch_size(1).workers(2).prefetch(3));
  size_t taken = 0;
  for ([[maybe_unused]] auto& batch : *loader) {
    ++taken;
    std::this_thread::yield();
    EXPECT_LE(made->load(), taken + 3);
  }
  EXPECT_EQ(taken, 50u);
}

TEST(DataLoaderTest, NestedLoopsOverOneLoaderAreIndependent) {
  auto loader = make_data_loader<SequentialSampler>(Numbers(4), DataLoaderOptions().batch_size(2).workers(1));
  Batches outer, inner;
  for (auto& a : *loader) {
    outer.push_back(rows_of(a));
    for (auto& b : *loader) inner.push_back(rows_of(b));
  }
  EXPECT_EQ(outer, (Batches{{0, 1}, {2, 3}}));
  EXPECT_EQ(inner, (Batches{{0, 1}, {2, 3}, {0, 1}, {2, 3}}));
}

TEST(DataLoaderTest, IteratorsByHand) {
  auto loader = make_data_loader<SequentialSampler>(Numbers(3), 2);
  auto it = loader->begin();
  EXPECT_EQ(it->target.size(0), 2);
  EXPECT_EQ(rows_of(*++it), (std::vector<int64_t>{2}));
  EXPECT_TRUE(++it == loader->end());
  it = loader->begin();
  EXPECT_TRUE(it != loader->end());
}

TEST(DataLoaderTest, ErrorsAreClear) {
  expect_error([] { make_data_loader(Numbers(3), 0); }, {"batch_size is 0"});
  auto beyond = make_data_loader(Numbers(3), SequentialSampler(5), 2);
  expect_error([&] { batches_of(*beyond); }, {"sample 3", "data set of 3"});

  struct Endless : Sampler {
    void reset() override {}
    std::optional<std::vector<size_t>> next(size_t n) override { return std::vector<size_t>(n, 0); }
    size_t size() const override { return 4; }
  };
  auto endless = make_data_loader(Numbers(3), Endless(), 3);
  expect_error([&] { batches_of(*endless); }, {"more samples", "size() of 4"});

  struct Empty : Endless {
    std::optional<std::vector<size_t>> next(size_t) override { return std::vector<size_t>(); }
  };
  auto empty = make_data_loader(Numbers(3), Empty(), 3);
  expect_error([&] { batches_of(*empty); }, {"empty batch"});
}

TEST(DataLoaderTest, EmptySetHasNoBatches) {
  for (const size_t workers : {0, 2}) {
    auto loader = make_data_loader(Numbers(0), DataLoaderOptions().batch_size(2).workers(workers));
    EXPECT_EQ(loader->size(), 0u);
    EXPECT_TRUE(loader->begin() == loader->end());
  }
}

TEST(DataLoaderTest, SharedSamplersAndDataSets) {
  auto sampler = std::make_shared<SequentialSampler>(4);
  auto shared = make_data_loader(std::make_shared<Numbers>(4), sampler, 4);
  EXPECT_EQ(&shared->sampler(), sampler.get());
  auto unique = make_data_loader<SequentialSampler>(std::make_unique<Numbers>(2), 4);
  EXPECT_EQ(batches_of(*unique), (Batches{{0, 1}}));
}

}  // namespace
}  // namespace data_loader_test
