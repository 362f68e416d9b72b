// SPDX-License-Identifier: Apache-2.0
#pragma once

// A parameter server (Li et al. 2014, "Scaling Distributed Machine Learning with the Parameter Server"): rank 0 takes the workers'
// gradients, makes the optimizer's step, and sends the parameters back. Workers wait for every step of it, or lack at most so many
// (bounded delay, as there; Ho et al. 2013, "More Effective Distributed ML via a Stale Synchronous Parallel Parameter Server").

#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "../rank.hpp"
#include "pulls.hpp"

namespace hvd::dist {

/// The server, seen from any rank. A step of an optimizer has two halves: `pushed`, when the gradients are with the server or on their
/// way, and, once the program has made the step on the server, at the end of the loop's body, the pull.
class ParameterServer final : public StepStrategy {
 public:
  explicit ParameterServer(Rank& rank) : rank_(rank) { rank.strategy = this; }
  ~ParameterServer() override {
    if (rank_.strategy == this) rank_.strategy = nullptr;
  }

  /// Whether workers go on before the server has made its step.
  bool asynchronous() const { return rank_.settings.staleness >= 0; }
  /// Whether this rank sends gradients and goes on.
  bool sends_ahead() const { return asynchronous() && rank_.rank() != 0; }
  /// Steps of which a worker's gradients may be on their way at once.
  std::size_t rounds() const { return static_cast<std::size_t>(rank_.settings.staleness) + 1; }

  /// Before gradients are pushed. Throws where the program is one that a server cannot run: on all ranks alike.
  void begin_push() const;

  /// How one optimizer's parameters come to the workers.
  struct Pull {
    std::function<Parcel()> pack;  // this rank's parameters
    Pulls* by = nullptr;           // null: in one broadcast at the end of the body
    CallSite site;
    std::int64_t batch = 0, step = 0;  // of the push
  };
  /// The gradients are with the server, or on their way to it.
  void pushed(Pull pull);

  void after_step(bool pass_over) override;
  void settle() override;
  /// What has been asked for comes in, because its optimizer's parameters are about to be planned anew. Error: in the middle of a round.
  void drain();

 private:
  struct Outstanding {
    Pull pull;
    std::uint64_t number = 0;  // of the broadcast
  };
  void bring();
  void ask();
  void come_within(std::size_t steps);
  void send(const std::vector<Piece>& pieces, const OpName& name);
  [[noreturn]] void refuse_second() const;

  Rank& rank_;
  std::optional<Pull> pull_;  // empty: nothing has been pushed in this round
  bool asked_ = false;        // for this round's parameters, ahead of the round's end
  std::deque<Outstanding> outstanding_;  // broadcasts that this rank has not taken, the oldest first
  std::shared_ptr<char> buffer_;
  std::size_t buffer_bytes_ = 0;
};

}  // namespace hvd::dist
