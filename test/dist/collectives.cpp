// SPDX-License-Identifier: Apache-2.0

// The collectives of the MPI backend, exact results, two communicators at the same time.

#include <cmath>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <hvd/dist/from_root.hpp>
#include <hvd/dist/numbers.hpp>

#include "check.hpp"
#include "dist/rank.hpp"

namespace {

using namespace hvd::dist;

Communicator& comm() { return *this_rank()->comm; }

template <class T>
void check_type(DataType type) {
  const int n = hvd::size(), me = hvd::rank();
  for (const std::size_t count : {std::size_t{1}, std::size_t{3}, std::size_t{1000}, std::size_t{300000}}) {
    std::vector<T> data(count);
    for (std::size_t i = 0; i < count; ++i) data[i] = static_cast<T>((i % 5) + static_cast<std::size_t>(me));
    std::vector<T> sum = data, least = data, most = data, root = data;
    comm().allreduce(sum.data(), count, type, ReduceOp::sum, {"sum"});
    comm().allreduce(least.data(), count, type, ReduceOp::min, {"least"});
    comm().allreduce(most.data(), count, type, ReduceOp::max, {"most"});
    comm().broadcast(root.data(), count, type, n - 1, {"root"});
    std::vector<T> at_one = data, all(count * static_cast<std::size_t>(n)), part(1);
    comm().reduce(at_one.data(), count, type, ReduceOp::sum, 1, {"reduce"});
    comm().allgather(data.data(), count, all.data(), type, {"gather"});
    for (std::size_t i = 0; i < count; ++i) {
      const int base = static_cast<int>(i % 5);
      HVD_CHECK(sum[i] == static_cast<T>(n * base + n * (n - 1) / 2));
      HVD_CHECK(least[i] == static_cast<T>(base));
      HVD_CHECK(most[i] == static_cast<T>(base + n - 1));
      HVD_CHECK(root[i] == static_cast<T>(base + n - 1));
      HVD_CHECK(me != 1 || at_one[i] == sum[i]);
      for (int r = 0; r < n; ++r) HVD_CHECK(all[static_cast<std::size_t>(r) * count + i] == static_cast<T>(base + r));
    }
    std::vector<T> blocks(static_cast<std::size_t>(n), static_cast<T>(me));
    comm().reduce_scatter(blocks.data(), part.data(), 1, type, ReduceOp::sum, {"scatter"});
    HVD_CHECK(part[0] == static_cast<T>(n * (n - 1) / 2));
  }
}

// The same bits on every rank, and again in a second run of the same sum.
void check_determinism() {
  std::vector<float> data(5000), again;
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = std::sin(static_cast<float>(i) * 0.37f + static_cast<float>(hvd::rank()));
  again = data;
  comm().allreduce(data.data(), data.size(), DataType::float32, ReduceOp::sum, {"first"});
  comm().allreduce(again.data(), again.size(), DataType::float32, ReduceOp::sum, {"second"});
  HVD_CHECK(data == again);
  std::vector<float> root = data;
  comm().broadcast(root.data(), root.size(), DataType::float32, 0, {"root"});
  HVD_CHECK(data == root);
}

void check_uneven_gather() {
  std::vector<std::size_t> counts;
  std::vector<std::int64_t> expected;
  for (int r = 0; r < hvd::size(); ++r) {
    counts.push_back(static_cast<std::size_t>(2 * r));
    for (int i = 0; i < 2 * r; ++i) expected.push_back(10 * r + i);
  }
  std::vector<std::int64_t> mine(counts[static_cast<std::size_t>(hvd::rank())]), all(expected.size());
  std::iota(mine.begin(), mine.end(), 10 * hvd::rank());
  comm().allgatherv(mine.data(), all.data(), counts, DataType::int64, {"uneven"});
  HVD_CHECK(all == expected);
}

// Collectives of two threads of a rank, in an order that is not the same on all ranks.
void check_two_channels() {
  auto other = comm().duplicate(kReducerChannel);
  other->set_urgent(false);
  bool good = true;
  std::thread second([&] {
    for (int i = 0; i < 200; ++i) {
      double x = i;
      other->allreduce(&x, 1, DataType::float64, ReduceOp::sum, {"second"});
      good = good && x == static_cast<double>(i) * hvd::size();
    }
  });
  for (int i = 0; i < 200; ++i) {
    double x = -i;
    comm().allreduce(&x, 1, DataType::float64, ReduceOp::sum, {"first"});
    HVD_CHECK(x == -static_cast<double>(i) * hvd::size());
  }
  second.join();
  HVD_CHECK(good);
}

void check_messages() {
  const int n = hvd::size(), next = (hvd::rank() + 1) % n, previous = (hvd::rank() + n - 1) % n;
  double out = hvd::rank(), in = -1;
  if (hvd::rank() == 0) {
    comm().send(&out, 1, DataType::float64, next, 3, {"ring"});
    comm().recv(&in, 1, DataType::float64, previous, 3, {"ring"});
  } else {
    comm().recv(&in, 1, DataType::float64, previous, 3, {"ring"});
    comm().send(&out, 1, DataType::float64, next, 3, {"ring"});
  }
  HVD_CHECK(in == previous);
}

void check_root() {
  HVD_CHECK(hvd::from_root([] { return std::string("name of rank ") + std::to_string(hvd::rank()); }) == "name of rank 0");
  HVD_CHECK(hvd::from_root([] { return std::vector<double>{0.5, -1}; }) == (std::vector<double>{0.5, -1}));
  std::string caught;
  try {
    hvd::from_root([]() -> bool { throw std::invalid_argument("not on any rank"); });
  } catch (const std::invalid_argument& e) {
    caught = e.what();
  }
  HVD_CHECK(caught == "not on any rank");
  HVD_CHECK(hvd::agree(hvd::is_root()));
  std::int64_t big = (std::int64_t{1} << 60) + hvd::rank();
  double half = 0.5;
  hvd::all_reduce_sum(big, half);
  const std::int64_t n = hvd::size();
  HVD_CHECK(half == 0.5 * hvd::size());
  HVD_CHECK(static_cast<std::uint64_t>(big) == static_cast<std::uint64_t>(n) * (std::uint64_t{1} << 60) + static_cast<std::uint64_t>(n * (n - 1) / 2));
}

}  // namespace

int main(int argc, char** argv) {
  hvd::Session session(argc, argv);
  HVD_CHECK(std::string(comm().backend()) == "mpi");
  check_type<std::uint8_t>(DataType::uint8);
  check_type<std::int32_t>(DataType::int32);
  check_type<std::int64_t>(DataType::int64);
  check_type<std::uint64_t>(DataType::uint64);
  check_type<float>(DataType::float32);
  check_type<double>(DataType::float64);
  check_determinism();
  check_uneven_gather();
  check_two_channels();
  check_messages();
  check_root();
  if (hvd::is_root()) std::printf("collectives: all as they must be on %d ranks\n", hvd::size());
}
