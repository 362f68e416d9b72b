// SPDX-License-Identifier: Apache-2.0
#include "test/emulated_gpu/nccl/meeting.hpp"

#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

namespace emulated {

namespace {

struct Place {
  int process, file;
};

void pause(int polls) {
  if (polls < 200) return void(sched_yield());
  const timespec nap{0, 50'000};
  nanosleep(&nap, nullptr);
}

}  // namespace

bool Meeting::make_id(api::UniqueId& id) {
  const Place place{static_cast<int>(getpid()), memfd_create("emulated-nccl", MFD_CLOEXEC)};
  if (place.file < 0 || ftruncate(place.file, static_cast<off_t>(bytes())) != 0) return false;
  std::memcpy(id.internal, &place, sizeof place);
  return true;
}

Meeting::Meeting(const api::UniqueId& id, int ranks, int rank) : ranks_(ranks), rank_(rank) {
  Place place;
  std::memcpy(&place, id.internal, sizeof place);
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%d/fd/%d", place.process, place.file);
  const int file = ::open(path, O_RDWR | O_CLOEXEC);
  if (file < 0) return;
  void* const memory = mmap(nullptr, bytes(), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (memory != MAP_FAILED) shared_ = static_cast<Shared*>(memory);
}

Meeting::~Meeting() {
  if (shared_) munmap(shared_, bytes());
}

bool Meeting::arrive(const std::string& host, int device, const std::function<bool()>& gone) {
  Slot& mine = shared_->slots[rank_];
  std::snprintf(mine.host, sizeof mine.host, "%s", host.c_str());
  mine.device = device;
  mine.here.store(1);
  for (int r = 0; r < ranks_; ++r)
    for (int polls = 0; !shared_->slots[r].here.load(); ++polls) {
      if (gone()) return false;
      pause(polls);
    }
  return true;
}

std::string Meeting::duplicates() const {
  for (int a = 0; a < ranks_; ++a)
    for (int b = a + 1; b < ranks_; ++b) {
      const Slot &one = shared_->slots[a], &other = shared_->slots[b];
      if (one.device == other.device && std::strcmp(one.host, other.host) == 0)
        return "Duplicate GPU detected : rank " + std::to_string(a) + " and rank " + std::to_string(b) + " both on CUDA device " + std::to_string(one.device);
    }
  return {};
}

bool Meeting::meet(const std::function<bool()>& gone) {
  const std::uint64_t turn = ++turn_;
  shared_->slots[rank_].turn.store(turn);
  for (int r = 0; r < ranks_; ++r)
    for (int polls = 0; shared_->slots[r].turn.load() < turn; ++polls) {
      if (gone()) return false;
      pause(polls);
    }
  return true;
}

void Meeting::show(std::uint64_t signature) { shared_->slots[rank_].signature = signature; }

bool Meeting::all_show_the_same() const {
  for (int r = 1; r < ranks_; ++r)
    if (shared_->slots[r].signature != shared_->slots[0].signature) return false;
  return true;
}

char* Meeting::window(int rank) const { return reinterpret_cast<char*>(shared_ + 1) + static_cast<std::size_t>(rank) * kWindow; }

}  // namespace emulated
