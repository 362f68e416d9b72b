// SPDX-License-Identifier: Apache-2.0

// What HVD_SHARES=measured is worth where one rank is slower: steps with equal and with measured shares take turns in one run, and the ratio of
// their times is printed, which other load on the machine hits alike.
//
//     hvd-run -n 2 hvd-bench-shares [--slower F] [--batch B] [--steps S] [--rounds R]
//
// Rank 1 takes F (3) times as long for its rows: it sleeps after its backward pass. B (1024) rows a batch, S (40) steps a round, R (5) rounds of
// each. Exit status 1 when rank 1 ends with as many rows as every other.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <hvd/dist/batches.hpp>
#include <hvd/dist/broadcast.hpp>
#include <hvd/dist/gradients.hpp>
#include <hvd/dist/session.hpp>
#include <hvd/nn.hpp>
#include <hvd/optim.hpp>
#include <hvd/random.hpp>

#include "dist/rank.hpp"

namespace {

using Clock = std::chrono::steady_clock;
double since(Clock::time_point begun) { return std::chrono::duration<double>(Clock::now() - begun).count(); }

struct Options {
  double slower = 3;
  std::int64_t batch = 1024;
  int steps = 40, rounds = 5;
};

Options read(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; i += 2) {
    const std::string name = argv[i];
    const double value = i + 1 < argc ? std::atof(argv[i + 1]) : 0;
    if (value < 1) throw std::invalid_argument("usage: hvd-bench-shares [--slower F] [--batch B] [--steps S] [--rounds R], numbers from 1 on");
    if (name == "--slower") options.slower = value;
    else if (name == "--batch") options.batch = static_cast<std::int64_t>(value);
    else if (name == "--steps") options.steps = static_cast<int>(value);
    else if (name == "--rounds") options.rounds = static_cast<int>(value);
    else throw std::invalid_argument("no option " + name);
  }
  return options;
}

/// A perceptron that trains on one batch again and again.
class Training {
 public:
  explicit Training(const Options& options)
      : options_(options), x_(hvd::randn({options.batch, 256})), y_(hvd::randint(0, 10, {options.batch})),
        net_(hvd::nn::Linear(256, 512), hvd::nn::ReLU(), hvd::nn::Linear(512, 10)), opt_(net_->parameters(), hvd::optim::SGDOptions(0.01)) {
    hvd::broadcast(net_, opt_);
  }

  /// Seconds that so many steps take; this rank's rows in the last of them.
  double run(int steps) {
    hvd::barrier();
    const auto begun = Clock::now();
    for (int s = 0; s < steps; ++s) step();
    hvd::barrier();
    return since(begun);
  }
  std::int64_t rows() const { return rows_; }

 private:
  void step() {
    const hvd::StepScope scope;
    const auto begun = Clock::now();
    const hvd::Tensor x = hvd::shard(x_), y = hvd::shard(y_);
    rows_ = x.size(0);
    opt_.zero_grad();
    hvd::weighted(hvd::nn::functional::cross_entropy(net_->forward(x), y), hvd::LossKind::mean).backward();
    if (hvd::rank() == 1) std::this_thread::sleep_for(std::chrono::duration<double>((options_.slower - 1) * since(begun)));
    hvd::reduce_gradients(opt_);
    opt_.step();
  }

  Options options_;
  hvd::Tensor x_, y_;
  hvd::nn::Sequential net_;
  hvd::optim::SGD opt_;
  std::int64_t rows_ = 0;
};

/// While it lives, shares are equal.
class Equal {
 public:
  explicit Equal(hvd::dist::Rank& rank) : rank_(rank), measured_(std::move(rank.measured)) { rank.comm->meter(nullptr); }
  ~Equal() {
    rank_.measured = std::move(measured_);
    rank_.comm->meter(&rank_.measured->meter);
  }
  Equal(const Equal&) = delete;
  Equal& operator=(const Equal&) = delete;

 private:
  hvd::dist::Rank& rank_;
  std::unique_ptr<hvd::dist::MeasuredShares> measured_;
};

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {
  hvd::Session session(argc, argv, hvd::Policy().batch(hvd::Batch::global));
  const Options options = read(argc, argv);
  if (hvd::size() < 2) {
    std::fprintf(stderr, "hvd-bench-shares: start it on 2 ranks or more: hvd-run -n 2 hvd-bench-shares\n");
    return 2;
  }
  hvd::manual_seed(1);
  hvd::dist::Rank& rank = *hvd::dist::this_rank();
  if (!rank.measured) rank.measure_shares(10);
  Training training(options);
  training.run(options.steps);  // shares find their place
  std::vector<double> equal, measured;
  for (int round = 0; round < options.rounds; ++round) {
    {
      const Equal shares(rank);
      equal.push_back(training.run(options.steps));
    }
    measured.push_back(training.run(options.steps));
  }
  const std::int64_t mine = training.rows();
  std::vector<std::int64_t> rows(static_cast<std::size_t>(hvd::size()));
  rank.comm->allgather(&mine, 1, rows.data(), hvd::dist::DataType::int64, {"rows"});
  // Times per row of 1 and of `slower`: an equal share takes slower/n of the batch's time on one rank, the best ones 1/(n - 1 + 1/slower) of it.
  const double ranks = hvd::size(), best = options.slower * (ranks - 1 + 1 / options.slower) / ranks;
  if (hvd::is_root()) {
    std::printf("rank 1 slower by %g, %d ranks, batches of %lld; medians of %d rounds of %d steps\n", options.slower, hvd::size(),
                static_cast<long long>(options.batch), options.rounds, options.steps);
    std::printf("equal shares     %8.3f ms a step\n", 1e3 * median(equal) / options.steps);
    std::printf("measured shares  %8.3f ms a step, rows by rank:", 1e3 * median(measured) / options.steps);
    for (const std::int64_t n : rows) std::printf(" %lld", static_cast<long long>(n));
    std::printf("\nequal / measured %8.3f  (%.3f if nothing but the rows took time)\n", median(equal) / median(measured), best);
  }
  return rows[1] < *std::max_element(rows.begin(), rows.end()) ? 0 : 1;
}
