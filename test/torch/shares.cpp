// SPDX-License-Identifier: Apache-2.0
//
// HVD_SHARES, fixed and measured: whatever part of a batch each rank takes, the run ends with what it ends with alone. A slow rank is one that
// sleeps for every row; nothing is asserted of time.
#include <chrono>
#include <thread>

#include "dist/rank.hpp"
#include "support.hpp"

namespace hvd::test {
namespace shares_test {
namespace {

using namespace torch::data;
using torch::optim::SGD;
using torch::optim::SGDOptions;
namespace F = torch::nn::functional;

struct Numbered : datasets::Dataset<Numbered> {
  Example<> get(std::size_t i) override { return {numbers({6}, 0.3 * static_cast<double>(i)), at::tensor(static_cast<std::int64_t>(i))}; }
  c10::optional<std::size_t> size() const override { return 101; }
};

/// Takes a number of samples, not indices: its batches are made whole and cut afterwards.
struct Stream : datasets::StreamDataset<Stream> {
  std::vector<Example<>> get_batch(std::size_t count) override {
    std::vector<Example<>> batch;
    for (; batch.size() < count; ++at) batch.push_back({numbers({6}, 0.3 * static_cast<double>(at)), at::tensor(at)});
    return batch;
  }
  c10::optional<std::size_t> size() const override { return 101; }
  std::int64_t at = 0;
};

struct Seen {
  std::vector<at::Tensor> parameters;
  std::vector<std::vector<std::int64_t>> samples;  // of every step, in order
  std::vector<std::int64_t> splits, rows;
  std::vector<std::int64_t> shares;  // measured ones, at the end
};

using Slow = std::function<int(int step)>;

/// Of `most` steps, or over the whole loader.
template <class Loader>
void pass(Loader& loader, Net& net, SGD& opt, Seen& seen, const Slow& slow, int most = 100) {
  for (auto& batch : hvd::steps(loader)) {
    const Slice* slice = hvd::current_slice();
    const at::Tensor which = hvd::size() > 1 ? hvd::gather(batch.target) : batch.target;
    seen.samples.emplace_back(which.data_ptr<std::int64_t>(), which.data_ptr<std::int64_t>() + which.size(0));
    seen.splits.push_back(slice ? slice->split : 0);
    seen.rows.push_back(slice ? slice->rows : which.size(0));
    if (slice) std::this_thread::sleep_for(std::chrono::microseconds((hvd::rank() == slow(static_cast<int>(seen.rows.size())) ? 5000 : 200) * slice->local_rows()));
    opt.zero_grad();
    const at::Tensor out = net->forward(batch.data);
    hvd::weighted(F::cross_entropy(out, batch.target.view(-1).remainder(3)), hvd::LossKind::mean).backward();
    hvd::reduce_gradients(opt);
    opt.step();
    if (--most == 0) break;
  }
}

/// Whether all batches of a pass are cut by the same shares.
template <class Loader>
bool cut_alike(Loader& loader) {
  std::int64_t split = -1;
  bool alike = true;
  for (auto& batch : hvd::steps(loader)) {
    const Slice* slice = hvd::current_slice();
    if (!slice) continue;
    EXPECT_EQ(batch.data.size(0), slice->local_rows());
    alike = alike && (split < 0 || split == slice->split);
    split = slice->split;
  }
  return alike;
}

/// `workers`: how many batches are loaded ahead, by one worker; 0: none.
Seen train(std::size_t workers, const Slow& slow) {
  Seen seen;
  Net net;
  SGD opt(net->parameters(), SGDOptions(0.05).momentum(0.9));
  hvd::broadcast(net, opt);
  hvd::overlap(*net, opt);
  auto loader = make_data_loader(Numbered().map(transforms::Stack<>()), hvd::Sharded<samplers::SequentialSampler>(37), DataLoaderOptions(12).workers(workers > 0 ? 1 : 0).max_jobs(workers));
  auto stream = make_data_loader(Stream().map(transforms::Stack<>()), hvd::Sharded<samplers::StreamSampler>(37), DataLoaderOptions(12));
  auto check = make_data_loader(Numbered().map(transforms::Stack<>()), hvd::Sharded<samplers::SequentialSampler>(101), DataLoaderOptions(12));
  pass(*loader, net, opt, seen, slow);
  EXPECT_TRUE(cut_alike(*check));
  pass(*loader, net, opt, seen, slow, 5);  // an evaluation keeps its shares behind a break, too
  EXPECT_TRUE(cut_alike(*check));
  pass(*stream, net, opt, seen, slow);
  seen.parameters = copies(net->parameters());
  const dist::Rank* rank = dist::this_rank();
  if (rank && rank->measured && rank->measured->now() > 0) seen.shares = *rank->measured->shares(rank->measured->now());
  return seen;
}

/// `prepare` says how batches are shared out, `workers(rank)` how many of them are loaded ahead.
std::vector<Seen> on_ranks(int ranks, const std::function<void(dist::Rank&)>& prepare, const std::function<std::size_t(int)>& workers, const Slow& slow) {
  std::vector<Seen> all(static_cast<std::size_t>(ranks));
  hvd::testing::spawn(ranks, [&] {
    prepare(*dist::this_rank());
    all[static_cast<std::size_t>(hvd::rank())] = train(workers(hvd::rank()), slow);
  }, hvd::Policy().batch(hvd::Batch::global));
  return all;
}

const Slow kNobody = [](int) { return -1; };

void expect_as(const Seen& rank, const Seen& alone) {
  EXPECT_EQ(rank.samples, alone.samples);
  for (std::size_t i = 0; i < alone.parameters.size(); ++i) EXPECT_LE(difference(rank.parameters[i], alone.parameters[i]), 1e-10) << "parameter " << i;
}

TEST(Shares, FixedOnesGiveTheSequentialRun) {
  const Seen alone = train(0, kNobody);
  for (const std::vector<std::int64_t>& shares : {std::vector<std::int64_t>{3, 1}, {1, 7, 2}, {1, 1, 30}})
    for (const std::size_t workers : {0, 2}) {
      const auto ranks = on_ranks(static_cast<int>(shares.size()), [&](dist::Rank& rank) { rank.settings.shares = shares; },
                                  [&](int) { return workers; }, kNobody);
      for (std::size_t r = 0; r < ranks.size(); ++r) {
        expect_as(ranks[r], alone);
        EXPECT_EQ(ranks[r].rows.front(), dist::cut_by(shares, 12, static_cast<int>(r)).rows);
      }
    }
}

// Whose turn it is to be slow changes, so that shares change within passes, for ranks that load ahead by different numbers of batches.
TEST(Shares, MeasuredOnesGiveTheSequentialRun) {
  const Seen alone = train(0, kNobody);
  const Seen equal = on_ranks(3, [](dist::Rank&) {}, [](int) { return 0; }, kNobody)[0];
  for (const int workers : {0, 1, 2}) {
    const auto ranks = on_ranks(3, [](dist::Rank& rank) { rank.measure_shares(1); },
                                [&](int rank) { return static_cast<std::size_t>(workers > 0 ? 1 + rank * (workers - 1) : 0); }, [](int step) { return step / 3 % 3; });
    std::int64_t changes = 0;
    for (std::size_t i = 1; i < ranks[0].splits.size(); ++i) changes += i % 9 != 0 && ranks[0].splits[i] != ranks[0].splits[i - 1];
    EXPECT_GE(changes, 2) << "shares that never change within a pass show nothing";
    for (const Seen& rank : ranks) {
      EXPECT_EQ(rank.splits, ranks[0].splits);
      expect_as(rank, alone);
      expect_as(rank, equal);
    }
  }
}

TEST(Shares, ASlowedRankGetsFewerRows) {
  for (const int slowed : {0, 2}) {
    const auto ranks = on_ranks(3, [](dist::Rank& rank) { rank.measure_shares(4); }, [](int) { return 0; }, [&](int) { return slowed; });
    for (const Seen& rank : ranks) {
      ASSERT_EQ(rank.shares, ranks[0].shares);
      ASSERT_EQ(rank.shares.size(), 3u);
      for (const int other : {0, 1, 2}) {
        if (other == slowed) continue;
        EXPECT_LT(rank.shares[static_cast<std::size_t>(slowed)], rank.shares[static_cast<std::size_t>(other)]);
      }
    }
  }
}

TEST(Shares, MeasuredOnesGoWithNoBatchesTakenByHand) {
  const std::string told = failure(2, [] {
    dist::this_rank()->measure_shares(10);
    auto loader = make_data_loader(Numbered().map(transforms::Stack<>()), hvd::Sharded<samplers::SequentialSampler>(37), DataLoaderOptions(12));
    hvd::batches(*loader).begin();
  });
  EXPECT_NE(told.find("HVD_SHARES=measured: hvd::batches: batches are taken from a loader by hand"), std::string::npos) << told;
}

}  // namespace
}  // namespace shares_test
}  // namespace hvd::test
