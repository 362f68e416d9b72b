// SPDX-License-Identifier: Apache-2.0
#pragma once

// One rank's session: what the calls of the vocabulary find when they ask who they are.

#include <cstdint>
#include <memory>
#include <string>

#include <hvd/dist/communicator.hpp>
#include <hvd/dist/policy.hpp>

#include "board.hpp"
#include "settings.hpp"

namespace hvd {
class StepScope;
}

namespace hvd::dist {

class Rank {
 public:
  /// `board` may be null (one rank).
  Rank(std::unique_ptr<Communicator> comm, std::unique_ptr<ProgressBoard> board, const Settings& settings);
  ~Rank();
  Rank(const Rank&) = delete;
  Rank& operator=(const Rank&) = delete;

  int rank() const { return comm->rank(); }
  int size() const { return comm->size(); }

  /// Takes over settings after checking, collectively, that they are good and the same on all ranks. Returns the error otherwise.
  std::string adopt(const Settings& settings);

  std::unique_ptr<ProgressBoard> board;
  std::unique_ptr<Communicator> comm;
  Settings settings;
  double lr_scale = 1;              // what scaled_lr last multiplied by
  std::int64_t steps_per_epoch = 0;  // 0: nobody has told
  std::int64_t step = 0;            // reductions of gradients so far
  int reducers = 0;                 // gradient reducers made so far
  StepScope* scope = nullptr;       // the hand-written step that is active
  std::shared_ptr<void> training;   // the binding's state; the engine knows nothing of it
};

/// The rank of this thread, else of this process; null before a session.
Rank* this_rank() noexcept;
/// The same; error outside a session of more than one rank.
Rank& require_rank(const char* what);

/// For ranks that are threads.
void set_thread_rank(Rank* rank) noexcept;
bool has_thread_rank() noexcept;

/// Collective strings: `mine` of every rank, rank after rank.
std::string broadcast_text(Communicator& comm, std::string text, int root, const OpName& name);

}  // namespace hvd::dist
