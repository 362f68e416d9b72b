// SPDX-License-Identifier: Apache-2.0
#pragma once

// A parameter server (Li et al. 2014, "Scaling Distributed Machine Learning with the Parameter Server"): rank 0 takes the workers'
// gradients, makes the optimizer's step, and sends the parameters back.

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "../rank.hpp"

namespace hvd::dist {

/// The synchronous server, seen from any rank. A step of an optimizer has two halves: `pushed`, when the server has the sum of the
/// gradients, and, once the program has made the step on the server, at the end of the loop's body, the pull.
class ParameterServer final : public StepStrategy {
 public:
  explicit ParameterServer(Rank& rank) : rank_(rank) { rank.strategy = this; }
  ~ParameterServer() override {
    if (rank_.strategy == this) rank_.strategy = nullptr;
  }

  /// Before gradients are pushed. Throws where the program is one that a server cannot run: on all ranks alike.
  void begin_push() const;
  /// The gradients are with the server; `pull` brings its parameters to this rank.
  void pushed(std::function<void()> pull) { pull_ = std::move(pull); }

  void after_step(bool) override { settle(); }
  void settle() override;

  /// Memory of the host that is the server's after `send`.
  struct Piece {
    void* data = nullptr;
    std::size_t bytes = 0;
  };
  /// The server's bytes into the same pieces of the workers, in one broadcast. Collective.
  void send(const std::vector<Piece>& pieces, const OpName& name);

 private:
  Rank& rank_;
  std::function<void()> pull_;  // empty: nothing has been pushed since the last pull
  std::shared_ptr<char> buffer_;
  std::size_t buffer_bytes_ = 0;
};

}  // namespace hvd::dist
