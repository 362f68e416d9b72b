// SPDX-License-Identifier: Apache-2.0

// One suite for every backend. usage: hvd-dist-conformance BACKEND [RANKS]     BACKEND is what the launcher must have led to; for
// "threads" RANKS threads are started here. With HVD_TEST_WAY=WAY operands lie on a GPU, and WAY is what must carry them.

#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

#include <hvd/dist/from_root.hpp>
#include <hvd/dist/numbers.hpp>
#include <hvd/dist/testing.hpp>

#include "check.hpp"
#include "conformance.hpp"
#include "dist/devices/transport.hpp"
#include "dist/rank.hpp"
#include "dist/tuning.hpp"

namespace {

using namespace hvd::dist;

// What stands above the communicator.
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
  HVD_CHECK(static_cast<std::uint64_t>(big) ==
            static_cast<std::uint64_t>(n) * (std::uint64_t{1} << 60) + static_cast<std::uint64_t>(n * (n - 1) / 2));
}

// A duplicate, with the ways that are otherwise for large sums only.
void check_duplicate(Communicator& comm, const hvd::conformance::Memories& memories) {
  const auto other = comm.duplicate(kReducerChannel);
  other->set_urgent(false);
  other->use_devices(comm.devices());
  other->tune({.direct_from = 0, .exchange_from = 0});
  const bool on_device = memories[0] == hvd::conformance::Memory::device;
  hvd::conformance::check_operations(*other, on_device ? 17 : hvd::size() <= 4 ? 40'003 : 2049, memories);
  hvd::conformance::check_determinism(*other, memories);
}

void check_all(const std::string& backend) {
  namespace suite = hvd::conformance;
  using suite::Memory;
  Communicator& comm = *this_rank()->comm;
  HVD_CHECK(hvd::size() == 1 ? std::string(comm.backend()) != "mpi" : comm.backend() == backend);
  const char* const way = std::getenv("HVD_TEST_WAY");
  const suite::Memories memories = way ? suite::Memories{Memory::device} : suite::Memories{Memory::ordinary, Memory::registered};
  const Memory one = memories[0];
  if (way && hvd::size() > 1) HVD_CHECK(comm.device_transport().name() == std::string(way));
  // Many ranks share few cores here, and emulated ways through the host's memory take long. Staged operands have several pieces.
  suite::check_operations(comm, hvd::size() > 4 || (way && backend != way) ? 40'003 : 300'001, memories);
  suite::check_determinism(comm, memories);
  suite::check_uneven_gather(comm, one);
  if (hvd::size() > 1) {
    suite::check_messages(comm, one);
    suite::check_two_channels(comm);
    check_duplicate(comm, memories);
  }
  suite::check_sequences(comm, 400, {Memory::ordinary, Memory::registered, one});
  suite::check_memory(comm);
  check_root();
  if (hvd::is_root())
    std::printf("conformance of %s%s%s: all as it must be on %d ranks\n", comm.backend(), way ? ", on a GPU " : "", way ? way : "", hvd::size());
}

}  // namespace

int main(int argc, char** argv) {
  const std::string backend = argc > 1 ? argv[1] : "mpi";
  if (backend == "threads") {
    hvd::testing::spawn(argc > 2 ? std::atoi(argv[2]) : 4, [&] { check_all(backend); });
    return 0;
  }
  hvd::Session session(argc, argv);
  check_all(backend);
}
