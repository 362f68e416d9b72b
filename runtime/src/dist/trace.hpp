// SPDX-License-Identifier: Apache-2.0
#pragma once

// HVD_TRACE=file: what a rank does and when, as events of the Chrome trace format, on the root's clock. Each rank writes its events to a
// part of its own, `file.rank<r>`, as they happen; at the end the root puts the parts together into `file`, and they are removed. After
// an abort they stay, and hvd-trace reads them.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <hvd/dist/communicator.hpp>

namespace hvd::dist {

class Rank;

/// What the thread of the program is at, in a loop over batches.
enum class Phase { none, loading, forward, backward, rest, reduce, update };

class Trace {
 public:
  /// Begins this rank's part; the root also removes what an earlier run has left. Throws std::runtime_error with the reason.
  Trace(std::string path, int rank, int size, const char* backend);
  ~Trace();
  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;

  /// Nanoseconds on this rank's clock.
  static std::int64_t now() noexcept;
  /// What must be added to it for the root's clock.
  void set_offset(std::int64_t nanoseconds);

  /// The program's thread goes over to another phase. The time until the next one counts as it.
  void phase(Phase phase, std::int64_t batch);
  /// A collective, or a message, has ended.
  struct Operation {
    const char* op = "";
    OpName name;
    std::uint64_t count = 0, bytes = 0, number = 0;  // number: of the operation on its track, from 1
    const char* type = "";
    int peer = -1;  // of send and recv
    const char* backend = "";
  };
  void operation(int track, const Operation& operation, std::int64_t begun);
  /// The program's thread has waited for reductions.
  void wait(const char* what, std::int64_t begun);
  /// A bucket has been handed to its reductions.
  void bucket(std::size_t index, std::size_t bytes, std::size_t tensors);
  /// A worker has sent the gradients of an optimizer step, taken at parameters that lack the last `staleness` steps of the server.
  void push(std::int64_t step, std::size_t staleness);
  /// It has taken over the server's parameters of that step.
  void pull(std::int64_t step);
  /// Batches are shared out in another way from here on.
  void shares(const std::vector<std::int64_t>& shares);
  /// What is shown of this track.
  void name_track(int track, const std::string& name);
  /// What has been written so far reaches the file; `soon`: unless it has done so just now.
  void flush(bool soon = false);

  /// Puts the parts of all ranks together; collective, on the communicator of the rank. Throws std::runtime_error on the root.
  void finish(Communicator& comm);

  static std::string part_path(const std::string& path, int rank) { return path + ".rank" + std::to_string(rank); }

 private:
  void event(const std::string& json);
  void instant(const char* category, const std::string& name, const std::string& args);
  void write_buffer();
  std::string times(std::int64_t begun, std::int64_t ended) const;
  void merge(Communicator& comm);
  void send_part(Communicator& comm);

  std::string path_;
  int rank_, size_, file_ = -1;
  std::int64_t offset_ = 0, phase_begun_ = 0, flushed_ = 0;
  Phase phase_ = Phase::none;
  std::int64_t batch_ = 0;
  std::mutex mutex_;
  std::string buffer_;
};

/// This rank's clock against the root's: 0 for ranks of the root's host, which share its clock; else from messages there and back, of
/// which the quickest counts (Cristian 1989, "Probabilistic clock synchronization"). Collective.
std::int64_t clock_offset(Communicator& comm);
/// One message there and back: sent and received on this rank's clock, answered on the root's.
struct Ping {
  std::int64_t sent = 0, answered = 0, received = 0;
};
std::int64_t best_offset(const std::vector<Ping>& pings);

/// This rank goes over to a phase, if it is traced.
void trace_phase(Phase phase);
/// The same for a block, and for what comes after it.
class InPhase {
 public:
  InPhase(Phase during, Phase after) : after_(after) { trace_phase(during); }
  ~InPhase() { trace_phase(after_); }
  InPhase(const InPhase&) = delete;
  InPhase& operator=(const InPhase&) = delete;

 private:
  Phase after_;
};

}  // namespace hvd::dist
