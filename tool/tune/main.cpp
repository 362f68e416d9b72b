// SPDX-License-Identifier: Apache-2.0
//
// hvd-tune: measures, for the number of ranks that it is started with, from which size on which way of summing over ranks is the quicker
// one, and keeps that in the table that the runtime reads at start.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include <hvd/dist/session.hpp>

#include "dist/rank.hpp"
#include "dist/tuning.hpp"

namespace {

using namespace hvd::dist;

constexpr const char* kUsage =
    "usage: hvd-run -n N hvd-tune [--max-bytes B] [--rounds R]   sums between N ranks of this machine through shared memory\n"
    "       mpirun -np N hvd-tune                                through MPI, with HVD_BACKEND=mpi, or where the ranks are on several machines\n"
    "       hvd-tune --print                                     what the table says, and where it is\n";

constexpr std::size_t kLeast = 32 * 1024;

struct Options {
  std::size_t max_bytes = std::size_t{64} << 20;
  int rounds = 9;
  bool print = false;
};

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    const char* value = i + 1 < argc ? argv[i + 1] : "";
    if (name == "--print") options.print = true;
    else if (name == "--max-bytes" && std::atoll(value) >= static_cast<long long>(kLeast)) options.max_bytes = static_cast<std::size_t>(std::atoll(argv[++i]));
    else if (name == "--rounds" && std::atoi(value) > 0) options.rounds = std::atoi(argv[++i]);
    else if (name == "--help") std::fputs(kUsage, stdout), std::exit(0);
    else std::fprintf(stderr, "hvd-tune: '%s' is not understood\n%s", name.c_str(), kUsage), std::exit(2);
  }
  return options;
}

// Seconds of the slowest rank for one call.
double time_of(Communicator& comm, std::vector<float>& data, std::size_t count, const Tuning& tuning) {
  comm.tune(tuning);
  const int calls = count < (1 << 18) ? 20 : 3;
  comm.allreduce(data.data(), count, DataType::float32, ReduceOp::sum, {"warm"});
  comm.barrier({"start"});
  const auto begun = std::chrono::steady_clock::now();
  for (int i = 0; i < calls; ++i) comm.allreduce(data.data(), count, DataType::float32, ReduceOp::sum, {"timed"});
  double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count() / calls;
  comm.allreduce(&seconds, 1, DataType::float64, ReduceOp::max, {"slowest"});
  return seconds;
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
  return values[values.size() / 2];
}

// The smallest size from which the other way is the quicker one, for it and all larger ones; the ways take turns.
std::size_t measure(Communicator& comm, const Options& options, bool local) {
  Tuning one, other;
  (local ? one.direct_from : one.exchange_from) = kNever;
  (local ? other.direct_from : other.exchange_from) = 0;
  std::vector<float> data(options.max_bytes / sizeof(float), 0.0f);
  std::size_t from = kNever;
  for (std::size_t bytes = kLeast; bytes <= options.max_bytes; bytes *= 2) {
    std::vector<double> with_one, with_other;
    for (int round = 0; round < options.rounds; ++round) {
      with_one.push_back(time_of(comm, data, bytes / sizeof(float), one));
      with_other.push_back(time_of(comm, data, bytes / sizeof(float), other));
    }
    const double a = median(with_one), b = median(with_other);
    if (b >= a) from = kNever;
    else if (from == kNever) from = bytes;
    if (comm.rank() == 0)
      std::printf("%12zu bytes  %-8s %10.1f us  %-8s %10.1f us\n", bytes, local ? "windows" : "library", a * 1e6, local ? "direct" : "exchange", b * 1e6);
  }
  return from;
}

int print_table() {
  const std::string path = tuning_path();
  const TuningTable table = TuningTable::read(path);
  if (table.empty()) std::printf("no table in %s: the defaults are taken\n", path.empty() ? "the user's cache" : path.c_str());
  else std::printf("%s\n%s", path.c_str(), table.text().c_str());
  return 0;
}

int run(int argc, char** argv) {
  const Options options = parse(argc, argv);
  if (options.print) return print_table();
  hvd::Session session(argc, argv);
  Communicator& comm = *this_rank()->comm;
  const std::string backend = comm.backend(), path = tuning_path();
  if (comm.size() == 1 || (backend != "local" && backend != "mpi")) {
    std::fprintf(stderr, "hvd-tune: there is nothing to measure with one rank\n%s", kUsage);
    return 2;
  }
  const std::size_t from = measure(comm, options, backend == "local");
  if (comm.rank() != 0) return 0;
  TuningTable table = path.empty() ? TuningTable() : TuningTable::read(path);
  table.set(backend, comm.size(), from);
  if (!path.empty()) table.write(path);
  std::printf("%s%s%s", path.empty() ? "" : path.c_str(), path.empty() ? "" : "\n", table.text().c_str());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "hvd-tune: %s\n", error.what());
    return 1;
  }
}
