// SPDX-License-Identifier: Apache-2.0
#pragma once

// The guardian: a process beside each rank that watches the progress board from outside, so that it sees what a rank that is
// dead, stopped or stuck inside a library cannot say any more.

#include <atomic>
#include <memory>

#include "board.hpp"

namespace hvd::dist {

/// What a rank tells its guardian; in memory that both share from the fork on.
struct GuardianControl {
  std::atomic<int> board_fd;  // of the rank's process
  std::atomic<int> board_bytes;
  std::atomic<int> index;  // of the rank on the board
  std::atomic<int> ready;  // 1: the fields above are set; 2: dismissed
  std::atomic<int> stage;  // of the guardian: 1: it takes signals; 2: it has the board
  int rank;
  double deadline;
};

class Guardian {
 public:
  /// Forks the guardian. To be called before threads are started and before MPI is initialised: it inherits neither.
  Guardian(int rank, double deadline);
  ~Guardian();
  Guardian(const Guardian&) = delete;
  Guardian& operator=(const Guardian&) = delete;

  /// The board is there: a file descriptor of this process. Returns when the guardian has it too: should this rank die at once, its
  /// guardian can still tell the others.
  void attach(int board_fd, int board_bytes, int index);
  /// Nothing to watch: the guardian ends.
  void dismiss();

 private:
  void await(int stage);

  GuardianControl* control_ = nullptr;
  int child_ = -1;
};

/// The board of one host: an anonymous memory file, which leaves nothing behind however the job ends.
class HostBoard {
 public:
  /// Collective over the ranks of this host.
  HostBoard(Communicator& host, int world_rank, int world_size, double deadline);
  ~HostBoard();
  HostBoard(const HostBoard&) = delete;
  HostBoard& operator=(const HostBoard&) = delete;

  int fd() const { return fd_; }
  int bytes() const { return bytes_; }
  int index() const { return index_; }
  BoardData* data() const { return data_; }

 private:
  int fd_ = -1, bytes_ = 0, index_ = 0;
  BoardData* data_ = nullptr;
};

}  // namespace hvd::dist
