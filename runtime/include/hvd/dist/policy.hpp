// SPDX-License-Identifier: Apache-2.0
#pragma once

// How a distributed run relates to the sequential program. The defaults are compiled in by hvdize; HVD_... environment
// variables override them when the program is run.

#include <cstdint>

namespace hvd {

/// What a batch size written in the program means on N ranks.
enum class Batch {
  per_rank,  ///< every rank takes that many samples: the global batch is N times as large
  global,    ///< all ranks together take that many samples
  global_only  ///< global, and HVD_BATCH may not say otherwise: hvdize has not found where the batch size comes from
};

/// How a learning rate grows with the global batch.
enum class LrRule {
  automatic,  ///< what the optimizer asks for: the rule given at the call of scaled_lr
  linear,     ///< times N (Goyal et al. 2017, "Accurate, Large Minibatch SGD")
  sqrt,       ///< times the square root of N
  none        ///< unchanged
};

/// The policy of a run. A builder: `hvd::Policy().batch(hvd::Batch::global).warmup_steps(500)`.
class Policy {
 public:
  Policy& batch(Batch value) {
    batch_fixed_ = value == Batch::global_only;
    batch_ = batch_fixed_ ? Batch::global : value;
    return *this;
  }
  Policy& lr_scaling(LrRule value) { lr_scaling_ = value; return *this; }
  /// Linear warm-up of the learning rate from the unscaled to the scaled rate over `value` optimizer steps; 0: none.
  Policy& warmup_steps(std::int64_t value) { warmup_steps_ = value; return *this; }
  /// The same over `value` passes of the training loader; 0: none. Steps win where both are given.
  Policy& warmup_epochs(std::int64_t value) { warmup_epochs_ = value; return *this; }
  /// Whether scaled_steps divides literal step counts by the number of ranks (per-rank batches only).
  Policy& divide_steps(bool value) { divide_steps_ = value; return *this; }

  /// per_rank or global.
  Batch batch() const { return batch_; }
  bool batch_fixed() const { return batch_fixed_; }
  LrRule lr_scaling() const { return lr_scaling_; }
  std::int64_t warmup_steps() const { return warmup_steps_; }
  std::int64_t warmup_epochs() const { return warmup_epochs_; }
  bool divide_steps() const { return divide_steps_; }

 private:
  Batch batch_ = Batch::per_rank;
  bool batch_fixed_ = false;
  LrRule lr_scaling_ = LrRule::automatic;
  std::int64_t warmup_steps_ = 0;
  std::int64_t warmup_epochs_ = 0;
  bool divide_steps_ = false;
};

}  // namespace hvd
