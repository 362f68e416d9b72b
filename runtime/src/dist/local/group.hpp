// SPDX-License-Identifier: Apache-2.0
#pragma once

// The meeting point of one communicator of the local backend: one memory file that all its ranks map.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "../tuning.hpp"
#include "memory.hpp"

namespace hvd::dist {

/// What a rank of this host is to the others, for all communicators of the job.
struct LocalWorld {
  int rank = 0, size = 1;
  bool own_core = true;  // whether the host has a core for every rank
  Tuning tuning;
  std::vector<int> processes;  // by rank
  bool reads_peers = false;  // whether all ranks can read each other's ordinary memory
  std::shared_ptr<Heap> heap;
  std::vector<std::unique_ptr<PeerHeap>> peers;  // by rank; null for this one
};

/// A counter in shared memory, written by one rank, on which others wait. Numbers wrap around.
struct Counter {
  std::atomic<std::uint32_t> value;
  std::atomic<std::uint32_t> sleepers;
  bool reached(std::uint32_t target) const {
    return static_cast<std::int32_t>(value.load(std::memory_order_acquire) - target) >= 0;
  }
  void set(std::uint32_t to) noexcept;
};

/// How a rank waits. `urgent`: its thread has nothing else to do, so it polls; else it sleeps at once, for the core may have a
/// backward pass to run.
struct Patience {
  bool urgent = true, own_core = true;
  void wait(Counter& counter, std::uint32_t target) const;
};

/// A stream of bytes from one rank to another.
struct MailRing {
  static constexpr std::size_t kBytes = 16 * 1024;
  alignas(128) Counter written;
  alignas(128) Counter read;
  alignas(128) char data[kBytes];
};

/// Memory of one communicator. Zeros are the initial state. Sizes in bytes.
class Group {
 public:
  static constexpr std::size_t kInline = 8 * 1024;     // an operand that is exchanged in one meeting
  static constexpr std::size_t kChunk = 128 * 1024;    // of what is copied through windows
  /// Windows of a rank, used in turn. Three would do (see two_stages); a window that was used long ago is written faster than one that another
  /// core has just read, and still holds in its cache.
  static constexpr std::size_t kSlots = 16;

  static std::size_t bytes(int size);
  Group(Mapping memory, const LocalWorld& world);

  int rank() const { return rank_; }
  int size() const { return size_; }

  /// Waits until all ranks have come. What they wrote before is visible afterwards.
  void meet(Patience patience);

  struct Line {
    alignas(128) Counter arrived;
    alignas(128) std::atomic<std::int32_t> pid;  // 0: not there yet
    std::atomic<std::int32_t> heap_fd, spare_fd;
    HeapAddress posted;
    std::uint64_t address;              // of a buffer, in the rank's own address space
    std::uint64_t direct_from;          // rank 0's tuning
    std::atomic<std::int32_t> reaches;  // whether the rank can read all others' memory
  };
  Line& line(int rank) const { return lines_[rank]; }
  /// Buffers of kInline bytes; two, used in turn, so that a slow rank still finds the last one.
  char* inline_buffer(int rank, std::uint64_t turn) const;
  /// Windows of kChunk bytes.
  char* window(int rank, std::uint64_t turn) const;
  MailRing& mail(int from, int to) const;

 private:
  Mapping memory_;
  int rank_, size_;
  Line* lines_;
  char *inlines_, *windows_;
  MailRing* mail_;
  std::uint32_t meetings_ = 0;
};

/// Whether all ranks can read each other's ordinary memory. All ranks of the group call it together, and come to the same.
bool can_read_peers(Group& group);

}  // namespace hvd::dist
