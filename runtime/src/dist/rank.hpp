// SPDX-License-Identifier: Apache-2.0
#pragma once

// One rank's session: what the calls of the vocabulary find when they ask who they are.

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <hvd/dist/communicator.hpp>
#include <hvd/dist/policy.hpp>

#include "board.hpp"
#include "settings.hpp"
#include "shares.hpp"
#include "trace.hpp"

namespace hvd {
class StepScope;
}

namespace hvd::dist {

/// What a binding does at the edges of a step: it gives in-step random draws a stream of their own.
class StepObserver {
 public:
  virtual ~StepObserver() = default;
  virtual void enter() = 0;
  virtual void leave() = 0;
};

/// What happens between the steps of a loop besides the program's own: it takes the mean of parameters that have gone apart.
class StepStrategy {
 public:
  virtual ~StepStrategy() = default;
  /// The body of a step has ended, at the end of the pass when `pass_over`. Collective.
  virtual void after_step(bool pass_over) = 0;
  /// All ranks are about to look at the model, perhaps in the middle of a step. Collective.
  virtual void settle() {}
};

class Rank {
 public:
  /// `board` may be null (one rank).
  Rank(std::unique_ptr<Communicator> comm, std::unique_ptr<ProgressBoard> board, const Settings& settings);
  ~Rank();
  Rank(const Rank&) = delete;
  Rank& operator=(const Rank&) = delete;

  int rank() const { return comm->rank(); }
  int size() const { return comm->size(); }
  /// Whether rank 0 is a parameter server, and the others train.
  bool serves() const { return settings.server && size() > 1; }
  /// Whether the workers may go on before it has made its step.
  bool serves_ahead() const { return serves() && settings.staleness >= 0; }
  /// Ranks that take a part of each batch.
  int workers() const { return serves() ? size() - 1 : size(); }

  /// Whether the batch of which `mine` is this rank's slice has rows for every rank that trains.
  bool leaves_none_without(const Slice& mine) const;

  /// Takes over settings after checking, collectively, that they are good and the same on all ranks. Returns the error otherwise.
  std::string adopt(const Settings& settings);

  /// Finds the nodes (HVD_SYNC=hierarchical), and connects the ranks of this one; collective. Returns the error, on all ranks.
  std::string open_node();
  /// The ranks over which gradients are summed, and their numbers in the job; all of them unless there are nodes.
  Communicator& summing() { return node ? *node : *comm; }
  int summing_ranks() const { return node ? node->size() : size(); }
  /// Rows that these ranks take of the batch of which `mine` is this rank's slice.
  std::int64_t summed_rows(const Slice& mine) const;

  /// From here on collectives and replicas are compared over ranks (HVD_CHECK); collective.
  void begin_check();
  /// From here on shares follow measured speeds, exchanged after every `every` optimizer steps (HVD_SHARES=measured); the same on all ranks. Local.
  void measure_shares(std::int64_t every);
  /// From here on what this rank does goes into the trace (HVD_TRACE); collective. Throws std::runtime_error on all ranks.
  void begin_trace(const std::string& path);
  /// Puts the traces of all ranks into one file; collective. Throws std::runtime_error on the root. Does nothing without a trace.
  void end_trace();

  std::unique_ptr<ProgressBoard> board;
  std::unique_ptr<Trace> trace;  // null: not traced
  std::unique_ptr<Communicator> comm;
  std::unique_ptr<Communicator> node;  // null: there are none
  std::vector<int> node_members;       // the ranks of this one's node
  int node_number = 0;                 // of this one's node
  Settings settings;
  std::unique_ptr<MeasuredShares> measured;  // null: shares are fixed, or equal
  double lr_scale = 1;              // what scaled_lr last multiplied by
  std::int64_t steps_per_pass = 0;   // of the loop over a loader that began last, training or evaluation; 0: none yet
  std::int64_t steps_per_epoch = 0;  // of the one in which a backward ran last
  std::int64_t batch_size = 0;      // of the job, as the program asked for it first; 0: not yet
  std::int64_t step = 0;            // reductions of gradients so far
  std::string shared_error;         // what the root has failed with last, as all ranks have heard
  std::int64_t batches = 0;         // batches begun so far, in training and in evaluation
  bool loss_scaled = false;         // the last backward's: gradients that are not finite are the scaler's business
  int reducers = 0;                 // gradient reducers made so far
  StepScope* scope = nullptr;       // the hand-written step that is active
  StepStrategy* strategy = nullptr;  // null: gradients are reduced at every step
  bool local_phase = false;          // this rank steps by itself; changes between steps only
  std::shared_ptr<void> training;   // the binding's state; the engine knows nothing of it

  /// The outermost step of this rank begins and ends.
  void enter_step() {
    if (step_depth_++ == 0 && observer_) observer_->enter();
  }
  void leave_step() {
    if (--step_depth_ == 0 && observer_) observer_->leave();
  }
  /// In a step: the draws to come are those that all ranks share, or again the rank's own. False outside a step.
  bool share_draws(bool shared) {
    if (step_depth_ == 0 || !observer_) return false;
    shared ? observer_->leave() : observer_->enter();
    return true;
  }
  /// Outside of all steps from here on; gives the number of steps to come back to with `resume_steps`.
  int suspend_steps() {
    if (step_depth_ > 0 && observer_) observer_->leave();
    return std::exchange(step_depth_, 0);
  }
  void resume_steps(int depth) {
    if (depth > 0 && observer_) observer_->enter();
    step_depth_ = depth;
  }
  void observe_steps(StepObserver* observer) { observer_ = observer; }

  /// What is wrong with this rank's part of the job since an error that somebody may have caught (see hvd/dist/failure.hpp); "" where nothing is.
  /// From any thread.
  std::string failure() const;
  void failed(const char* what) noexcept;
  void forget_failure() noexcept;

 private:
  std::string open_trace();

  StepObserver* observer_ = nullptr;
  int step_depth_ = 0;
  mutable std::mutex failing_;
  char failure_[kVerdictLength] = {};
};

/// Ends the job when this rank has gone on after an error of the job.
void end_after_failure();

/// To be called where the body of a step begins.
void begin_batch();
/// To be called where the body of a step has ended, and where a pass ends or begins.
void after_step(bool pass_over);
/// To be called where the body of a step has ended, before the next batch is asked for; `outermost`: it is no part of another step's body.
void body_over(bool outermost);

/// To be called before all ranks look at the model alike.
void settle();

/// The rank of this thread, else of this process; null before a session.
Rank* this_rank() noexcept;
/// The same; error outside a session of more than one rank.
Rank& require_rank(const char* what);

/// For ranks that are threads.
void set_thread_rank(Rank* rank) noexcept;
bool has_thread_rank() noexcept;

/// Collective strings: `mine` of every rank, rank after rank.
std::string broadcast_text(Communicator& comm, std::string text, int root, const OpName& name);

/// What a binding does on each rank when a session of several ranks opens. Defined where the framework has random streams of its own, which begin
/// anywhere; null in programs without it. Collective.
__attribute__((weak)) void binding_opened(Rank& rank);
/// What an error of the framework's has to do with the slices of the ranks; "" where nothing. Null as above. Local.
__attribute__((weak)) std::string binding_explains(const std::string& what);

}  // namespace hvd::dist
