// SPDX-License-Identifier: Apache-2.0
#pragma once

// The progress board: what every rank of this host is doing, in memory that ranks and guardians share. Plain data and lock-free
// atomics only, because guardians read it from other processes, and after the death of its writer.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>

#include <hvd/dist/communicator.hpp>
#include <hvd/dist/failure.hpp>

namespace hvd::dist {

enum class RankState : int {
  connecting,  // in the Session's constructor
  running,
  unwinding,  // an exception carries this rank out of its Session
  exiting,    // std::exit with a status other than 0
  finishing,  // waits for the others at the end of the session
  done        // the session is over
};

inline constexpr int kMainChannel = 0;     // collectives of the rank's own thread
inline constexpr int kReducerChannel = 1;  // the first of those of its gradient threads
inline constexpr int kReducerChannels = 4;
inline constexpr int kCollectiveChannels = kReducerChannel + kReducerChannels;
inline constexpr int kPeerChannel = kCollectiveChannels;  // send and recv, which not all ranks take part in
inline constexpr int kChannels = kPeerChannel + 1;

inline constexpr std::uint64_t kHistory = 16;

/// What an operation is: texts cut to length.
struct Operation {
  std::uint64_t signature = 0;  // of what must agree between ranks: operation, name, count, type, root; send and recv: the peer
  std::int64_t line = 0;
  char op[16] = "";
  char name[64] = "";
  char file[64] = "";
};
inline constexpr std::size_t kOperationWords = sizeof(Operation) / sizeof(std::uint64_t);
static_assert(sizeof(Operation) % sizeof(std::uint64_t) == 0);

/// The operation a rank is in, or was in last. Written by one thread; `version` is odd while it changes. The words are atomics
/// for readers that look at the wrong moment: they notice, and look again.
struct ChannelSlot {
  std::atomic<std::uint32_t> version;
  std::atomic<std::uint64_t> entered, left;  // operations begun, and ended
  std::atomic<std::uint64_t> history[kHistory];  // signatures of the last operations, by their number
  std::atomic<std::uint64_t> words[kOperationWords];
};

struct RankSlot {
  std::atomic<int> state;
  std::atomic<int> pid;  // 0: not there yet
  std::atomic<int> exit_status;
  std::atomic<int> stopped;  // guardian's ticks since the process has been seen stopped
  std::atomic<std::int64_t> step;
  std::atomic<int> long_work;  // depth of declared long work
  std::atomic<double> long_limit;
  char long_what[64];
  int rank;
  ChannelSlot channels[kChannels];
};

inline constexpr std::size_t kVerdictLength = 1024;
inline constexpr std::size_t kMessages = 64;

struct BoardData {
  int world_size;
  int count;     // ranks of this host
  double deadline;
  std::atomic<int> verdict;  // 0 none, 1 being written, 2 final: the job ends
  std::atomic<int> culprit_exits;  // a rank ends by itself with the status that the job should have
  char verdict_text[kVerdictLength];
  std::atomic<std::uint64_t> messages[kMessages];  // what ranks have reported as errors, as hashes; 0: free
  RankSlot ranks[];

  static std::size_t bytes(int count) { return sizeof(BoardData) + static_cast<std::size_t>(count) * sizeof(RankSlot); }
};

/// This rank is in another operation than the others: a fault of the program, noticed before the call could go wrong.
class OperationMismatch : public Failure<std::runtime_error> {
 public:
  using Failure<std::runtime_error>::Failure;
};

/// A copy of a channel that is consistent in itself.
struct ChannelView : Operation {
  std::uint64_t entered = 0, left = 0;
  bool inside() const { return entered != left; }
};
ChannelView view(const ChannelSlot& slot) noexcept;

/// This rank's side of the board.
class ProgressBoard {
 public:
  ProgressBoard(BoardData* data, int index) : data_(data), index_(index) {}
  void enter(int channel, const char* op, const OpName& name, std::uint64_t signature) noexcept;
  void leave(int channel) noexcept;
  /// Compares the operation just entered with what the other ranks of this host had, or have, as their operation of the same
  /// number. Empty: all the same; else a message that names two ranks.
  std::string compare(int channel) const;
  void set_state(RankState state) noexcept { slot().state.store(static_cast<int>(state)); }
  void set_step(std::int64_t step) noexcept { slot().step.store(step); }
  void begin_long_work(const char* what, double limit) noexcept;
  void end_long_work() noexcept;
  RankSlot& slot() const noexcept { return data_->ranks[index_]; }
  BoardData& data() noexcept { return *data_; }

 private:
  BoardData* data_;
  int index_;
};

/// Writes the verdict if there is none yet; true for the one that wrote it.
bool claim_verdict(BoardData& board, const char* text) noexcept;

/// May this rank show the text of an error? The root always; another rank unless the root, or some rank, shows the same text within
/// half a second: what all ranks find wrong is said once.
bool claim_message(BoardData& board, int rank, const std::string& text);

/// What an observer remembers between two looks at the board.
struct Observer {
  std::uint64_t progress[kChannels] = {};
  double waited[kChannels] = {};    // seconds without progress while somebody waits
  double mismatch[kChannels] = {};  // seconds in which ranks have sat in different operations
  double leaving = 0;               // seconds in which a rank has been on its way out alone
};

/// Looks at the board, `elapsed` seconds after the last look; true: the job cannot go on, and `text` says why. Calls nothing
/// that allocates: it runs in a forked child.
bool judge(BoardData& board, Observer& observer, double elapsed, char* text, std::size_t length) noexcept;

/// "rank 2 in allreduce 'gradients' (train.cpp:40)", or what the rank did last.
int describe_rank(const RankSlot& slot, char* text, std::size_t length) noexcept;

}  // namespace hvd::dist
