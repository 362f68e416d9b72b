// SPDX-License-Identifier: Apache-2.0

// hvd-bench: collectives of the runtime against those of the MPI library, in one job, rank by rank the same processes, run in turn.
//
//   mpirun -np 2 hvd-bench [--op allreduce] [--min-bytes 4] [--max-bytes 67108864] [--rounds 15] [--iterations N]
//                          [--memory all] [--backend all] [--csv FILE] [--svg FILE]
//
// Variants: "library" is the MPI library's own blocking call (in place where it can be); "mpi" the runtime's MPI backend; "local" shared
// memory with ordinary buffers, "windows" the same without reading other processes' memory; "registered" shared memory with buffers of
// Communicator::allocate. With --memory device buffers lie on GPUs: "staged" is MPI through the host, then "nccl" and "mpi_cuda" where every
// rank has them. --backend chooses one of these (and the library). Every variant is checked at every size before it is timed. Times are microseconds for one call, of the slowest rank, the median over the rounds. "gain" is the
// library's time over the variant's. Exit status 1 when a result is wrong.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "operations.hpp"
#include "report.hpp"
#include "variants.hpp"

namespace hvd::bench {
namespace {

struct Options {
  std::string op = "allreduce", memory = "all", backend = "all", csv, svg;
  std::size_t min_bytes = 4, max_bytes = 64 << 20;
  int rounds = 15, iterations = 0;  // iterations 0: by the size
};

class Bench {
 public:
  Bench(const Operation& op, std::vector<Variant> variants, int rank, int ranks, const Options& options)
      : op_(op), variants_(std::move(variants)), rank_(rank), ranks_(ranks), rounds_(options.rounds), iterations_(options.iterations) {}

  // Median times in microseconds, one per variant; negative: a wrong result.
  std::vector<double> size(std::size_t count) const {
    std::vector<Area> areas;
    for (const Variant& variant : variants_) areas.emplace_back(variant, op_.in_size(count, ranks_), op_.out_size(count, ranks_));
    std::vector<double> medians;
    for (std::size_t v = 0; v < variants_.size(); ++v) {
      if (!check(variants_[v], areas[v], count)) return {-1.0 - static_cast<double>(v)};
      std::memset(areas[v].host().in, 0, op_.in_size(count, ranks_) * sizeof(float));
      areas[v].send();
    }
    std::vector<std::vector<double>> times(variants_.size());
    const int calls = calls_for(count);
    for (int round = 0; round < rounds_; ++round)
      for (std::size_t v = 0; v < variants_.size(); ++v) times[v].push_back(run(variants_[v], areas[v].operands(), count, calls));
    for (auto& t : times) {
      std::nth_element(t.begin(), t.begin() + static_cast<std::ptrdiff_t>(t.size() / 2), t.end());
      medians.push_back(t[t.size() / 2]);
    }
    return medians;
  }

 private:
  int calls_for(std::size_t count) const {
    if (iterations_ > 0) return iterations_;
    const std::size_t bytes = count * sizeof(float);
    return bytes <= 64 * 1024 ? 200 : bytes <= (1 << 20) ? 40 : bytes <= (16 << 20) ? 5 : 2;
  }

  void call(const Variant& variant, const Buffers& buffers, std::size_t count) const {
    if (variant.comm) op_.by_runtime(buffers, count, *variant.comm);
    else op_.by_mpi(buffers, count, MPI_COMM_WORLD);
  }

  bool check(const Variant& variant, const Area& area, std::size_t count) const {
    for (std::size_t i = 0; i < op_.in_size(count, ranks_); ++i) area.host().in[i] = static_cast<float>(i % 7) + static_cast<float>(rank_);
    area.send();
    call(variant, area.operands(), count);
    area.fetch();
    int good = op_.right(area.host(), count, rank_, ranks_);
    MPI_Allreduce(MPI_IN_PLACE, &good, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    return good;
  }

  double run(const Variant& variant, const Buffers& buffers, std::size_t count, int calls) const {
    call(variant, buffers, count);  // caches and page tables are as this variant leaves them
    MPI_Barrier(MPI_COMM_WORLD);
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < calls; ++i) call(variant, buffers, count);
    const std::chrono::duration<double, std::micro> spent = std::chrono::steady_clock::now() - start;
    double slowest = spent.count() / calls;
    MPI_Allreduce(MPI_IN_PLACE, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return slowest;
  }

  const Operation& op_;
  std::vector<Variant> variants_;
  int rank_, ranks_, rounds_, iterations_;
};

// Bytes a second that the slowest rank copies while all of them copy: what shared memory can give at most.
double copy_rate() {
  constexpr std::size_t kBytes = std::size_t{64} << 20;
  std::vector<char> from(kBytes, 1), to(kBytes, 0);
  double best = 0;
  for (int i = 0; i < 5; ++i) {
    MPI_Barrier(MPI_COMM_WORLD);
    const auto start = std::chrono::steady_clock::now();
    std::memcpy(to.data(), from.data(), kBytes);
    from[0] = to[static_cast<std::size_t>(i)];  // the copy is used
    best = std::max(best, static_cast<double>(kBytes) / std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  MPI_Allreduce(MPI_IN_PLACE, &best, 1, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
  return best;
}

// Memory that this machine has left, in bytes, as rank 0 sees it; 0: not known.
std::size_t memory_left() {
  std::ifstream file("/proc/meminfo");
  unsigned long long kilobytes = 0;
  for (std::string word; file >> word;)
    if (word == "MemAvailable:") file >> kilobytes;
  MPI_Bcast(&kilobytes, 1, MPI_UNSIGNED_LONG_LONG, 0, MPI_COMM_WORLD);
  return static_cast<std::size_t>(kilobytes) * 1024;
}

int measure(const Options& options, int rank, int ranks) {
  const auto found = std::find_if(operations().begin(), operations().end(), [&](const Operation& op) { return options.op == op.name; });
  const Contest contest(rank, ranks, options.memory, options.backend);
  const std::vector<Variant>& variants = contest.variants();
  if (rank == 0) std::fputs(contest.left_out().c_str(), stderr);
  if (variants.empty() || (variants.size() == 1 && !variants[0].comm)) {
    if (rank == 0) std::fprintf(stderr, "hvd-bench: nothing to measure with --memory %s --backend %s\n", options.memory.c_str(), options.backend.c_str());
    return 2;
  }
  std::vector<std::string> names;
  for (const Variant& variant : variants) names.push_back(variant.name);
  Report report(options.op, ranks, names, copy_rate());
  if (rank == 0) report.print_head();
  const Bench bench(*found, variants, rank, ranks, options);
  for (std::size_t bytes = options.min_bytes; bytes <= options.max_bytes; bytes *= 4) {
    const std::size_t count = bytes / sizeof(float), left = memory_left();
    const std::size_t needed = (found->in_size(count, ranks) + found->out_size(count, ranks)) * sizeof(float) * variants.size() * static_cast<std::size_t>(ranks);
    if (left && needed > left / 10 * 9) {
      if (rank == 0) std::printf("%12zu skipped: its buffers take %zu MB, and %zu MB are left\n", bytes, needed >> 20, left >> 20);
      continue;
    }
    const std::vector<double> times = bench.size(count);
    if (times[0] < 0) {
      if (rank == 0) std::fprintf(stderr, "%s of %zu bytes by %s: wrong result\n", options.op.c_str(), bytes, variants[static_cast<std::size_t>(-times[0] - 1)].name.c_str());
      return 1;
    }
    if (rank == 0) report.add({bytes, times});
  }
  if (rank != 0) return 0;
  report.print_winners();
  const bool csv = options.csv.empty() || report.write_csv(options.csv), svg = options.svg.empty() || report.write_svg(options.svg);
  if (!csv || !svg) std::fprintf(stderr, "%s cannot be written\n", (csv ? options.svg : options.csv).c_str());
  return csv && svg ? 0 : 1;
}

[[noreturn]] void usage(const char* what) {
  std::fprintf(stderr, "hvd-bench: %s\nusage: mpirun -np N hvd-bench [--op NAME] [--min-bytes N] [--max-bytes N] [--rounds N]\n"
                       "                           [--iterations N] [--memory ordinary|registered|all|device] [--backend VARIANT|all]\n"
                       "                           [--csv FILE] [--svg FILE]\n"
                       "  NAME: allreduce reduce broadcast allgather reduce_scatter sendrecv\n"
                       "  VARIANT: mpi local windows registered; on devices staged nccl mpi_cuda\n", what);
  std::exit(2);
}

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; i += 2) {
    const std::string name = argv[i];
    if (i + 1 == argc) usage((name + " wants a value").c_str());
    const std::string value = argv[i + 1];
    if (name == "--op") options.op = value;
    else if (name == "--csv") options.csv = value;
    else if (name == "--svg") options.svg = value;
    else if (name == "--memory" && (value == "ordinary" || value == "registered" || value == "all" || value == "device")) options.memory = value;
    else if (name == "--backend") options.backend = value;
    else if (name == "--iterations") options.iterations = std::atoi(value.c_str());
    else if (name == "--min-bytes") options.min_bytes = std::strtoull(value.c_str(), nullptr, 10);
    else if (name == "--max-bytes") options.max_bytes = std::strtoull(value.c_str(), nullptr, 10);
    else if (name == "--rounds") options.rounds = std::atoi(value.c_str());
    else usage(("unknown option '" + name + "'").c_str());
  }
  const auto known = [&](const Operation& op) { return options.op == op.name; };
  if (std::none_of(operations().begin(), operations().end(), known)) usage(("unknown operation '" + options.op + "'").c_str());
  if (options.min_bytes < 4 || options.rounds < 1) usage("at least 4 bytes and one round");
  return options;
}

}  // namespace
}  // namespace hvd::bench

int main(int argc, char** argv) {
  using namespace hvd::bench;
  const Options options = parse(argc, argv);
  int provided = 0, rank = 0, ranks = 1;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (ranks < 2) usage("start it with mpirun on two or more ranks of one machine");
  const int status = measure(options, rank, ranks);
  MPI_Finalize();
  return status;
}
