// SPDX-License-Identifier: Apache-2.0
#pragma once

// Where the ranks of an emulated NCCL communicator meet: a memory file of the process that made the unique ID.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "dist/nccl/nccl.hpp"

namespace emulated {

namespace api = hvd::dist::nccl;

inline constexpr int kMostRanks = 16;
inline constexpr std::size_t kWindow = 64 * 1024;  // bytes that a rank shows at a time

class Meeting {
 public:
  /// Makes the memory file; false: there is none to be had.
  static bool make_id(api::UniqueId& id);

  Meeting(const api::UniqueId& id, int ranks, int rank);
  ~Meeting();
  Meeting(const Meeting&) = delete;
  Meeting& operator=(const Meeting&) = delete;

  bool open() const { return shared_ != nullptr; }
  int rank() const { return rank_; }
  int ranks() const { return ranks_; }

  /// Shows where this rank is, and waits for the others; false: `gone()` said so.
  bool arrive(const std::string& host, int device, const std::function<bool()>& gone);
  /// Two ranks with one GPU, as text; empty: there are none.
  std::string duplicates() const;

  /// Until all ranks have come here; false: `gone()` said so.
  bool meet(const std::function<bool()>& gone);
  /// What this rank is about to do, and whether all do the same; between two meetings.
  void show(std::uint64_t signature);
  bool all_show_the_same() const;
  char* window(int rank) const;

 private:
  struct Slot {
    std::atomic<int> here;
    std::atomic<std::uint64_t> turn;
    std::uint64_t signature;
    char host[200];
    int device;
  };
  struct Shared {
    Slot slots[kMostRanks];
  };
  static std::size_t bytes() { return sizeof(Shared) + kMostRanks * kWindow; }

  Shared* shared_ = nullptr;
  int ranks_, rank_;
  std::uint64_t turn_ = 0;
};

}  // namespace emulated
