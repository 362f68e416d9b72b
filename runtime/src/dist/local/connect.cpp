// SPDX-License-Identifier: Apache-2.0

// How the ranks of a host find each other: the launcher has made an empty memory file, which they give its size and map.

#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include "../backends.hpp"
#include "communicator.hpp"

namespace hvd::dist {

namespace {

Mapping map_meeting_point(const File& file, int size) {
  const std::size_t bytes = Group::bytes(size);
  if (ftruncate(file.get(), static_cast<off_t>(bytes)) != 0)
    throw std::runtime_error("shared memory: " + std::to_string(bytes) + " bytes: " + std::strerror(errno));
  return Mapping(file, bytes);
}

bool all_here(const Group& group) {
  for (int r = 0; r < group.size(); ++r)
    if (group.line(r).pid.load() == 0) return false;
  return true;
}

// "rank 1 has", "ranks 1, 3 have"
std::string name_missing(const Group& group) {
  std::string list;
  int missing = 0;
  for (int r = 0; r < group.size(); ++r) {
    if (group.line(r).pid.load()) continue;
    list += (missing++ ? ", " : "") + std::to_string(r);
  }
  return (missing == 1 ? "rank " : "ranks ") + list + (missing == 1 ? " has" : " have");
}

void wait_for_all(const Group& group, double deadline) {
  const timespec nap{0, 1'000'000};
  timespec start, now;
  clock_gettime(CLOCK_MONOTONIC, &start);
  while (!all_here(group)) {
    clock_gettime(CLOCK_MONOTONIC, &now);
    const double waited = static_cast<double>(now.tv_sec - start.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec - start.tv_nsec);
    if (waited > deadline) {
      int first = 0;
      while (group.line(first).pid.load() == 0) ++first;
      throw NotAllStarted(name_missing(group) + " not started a session within " + std::to_string(static_cast<int>(waited)) + " s",
                          first == group.rank());
    }
    nanosleep(&nap, nullptr);
  }
}

}  // namespace

std::unique_ptr<Communicator> make_local(const LocalLaunch& launch, double deadline) {
  auto world = std::make_shared<LocalWorld>();
  world->rank = launch.rank;
  world->size = launch.size;
  world->own_core = launch.size <= sysconf(_SC_NPROCESSORS_ONLN);
  world->heap = std::make_shared<Heap>();
  auto group = std::make_unique<Group>(map_meeting_point(File::of_process(launch.owner, launch.file), launch.size), *world);
  Group::Line& mine = group->line(launch.rank);
  mine.heap_fd = world->heap->fd();
  if (launch.rank == 0) mine.direct_from = tuning_for("local", launch.size).direct_from;
  std::int32_t nobody = 0;
  if (!mine.pid.compare_exchange_strong(nobody, static_cast<std::int32_t>(getpid())))
    throw std::runtime_error("rank " + std::to_string(launch.rank) + " of this job is process " + std::to_string(nobody) + " already");
  wait_for_all(*group, deadline);
  for (int r = 0; r < launch.size; ++r) {
    const Group::Line& line = group->line(r);
    world->processes.push_back(line.pid);
    world->peers.push_back(r == launch.rank ? nullptr : std::make_unique<PeerHeap>(File::of_process(line.pid, line.heap_fd), r));
  }
  group->meet({});  // nobody goes on, or away, before all have opened all
  world->tuning.direct_from = group->line(0).direct_from;
  world->reads_peers = can_read_peers(*group);
  auto comm = std::make_unique<LocalCommunicator>(std::move(world), std::move(group));
  comm->set_urgent(true);
  return comm;
}

std::unique_ptr<Communicator> make_local_over(Communicator& world, double deadline) {
  std::vector<int> all(static_cast<std::size_t>(world.size()));
  std::iota(all.begin(), all.end(), 0);
  return make_local_among(world, all, deadline);
}

std::unique_ptr<Communicator> make_local_among(Communicator& world, const std::vector<int>& ranks, double deadline) {
  const auto attempt = [](auto open) -> File {
    try {
      return open();
    } catch (const std::runtime_error&) {
      return {};
    }
  };
  const int me = static_cast<int>(std::find(ranks.begin(), ranks.end(), world.rank()) - ranks.begin());
  File file;
  if (me == 0) file = attempt([] { return File::memory("hvd-group", 0); });
  const std::int32_t mine[2] = {static_cast<std::int32_t>(getpid()), file.get()};
  std::vector<std::int32_t> all(2 * static_cast<std::size_t>(world.size()));
  world.allgather(mine, 2, all.data(), DataType::int32, {"shared memory"});
  const std::int32_t* const where = all.data() + 2 * ranks[0];  // the first of the group holds the file
  if (me != 0) file = attempt([&] { return File::of_process(where[0], where[1]); });
  std::int32_t good = static_cast<bool>(file);
  world.allreduce(&good, 1, DataType::int32, ReduceOp::min, {"shared memory"});
  if (!good) return nullptr;
  auto comm = make_local({me, static_cast<int>(ranks.size()), where[0], where[1]}, deadline);
  world.barrier({"shared memory"});  // the file is held until all have mapped it
  return comm;
}

std::unique_ptr<Communicator> LocalCommunicator::duplicate(int channel) {
  const std::size_t bytes = Group::bytes(size());
  Group::Line& root = group_->line(0);
  File file;
  if (rank() == 0) {
    file = File::memory("hvd-group", bytes);
    root.spare_fd = file.get();
  }
  meet();
  if (rank() != 0) file = File::of_process(root.pid, root.spare_fd);
  auto group = std::make_unique<Group>(Mapping(file, bytes), *world_);
  meet();
  auto copy = std::make_unique<LocalCommunicator>(world_, std::move(group));
  copy->watch(board(), channel);
  return copy;
}

}  // namespace hvd::dist
