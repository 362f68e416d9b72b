// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace hvd {

/// Counter-based random numbers: Philox4x32-10 (Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as 1, 2, 3",
/// SC'11). Four 32-bit words that depend on nothing but (seed, counter, index).
struct PhiloxBlock {
  uint32_t word[4];
};
PhiloxBlock philox(uint64_t seed, uint64_t counter, uint64_t index);

/// The state of a stream of draws. Every draw (of a tensor, a mask, a permutation) takes one counter value; its elements
/// are keyed by (seed, counter, element index), so a draw costs the same state whatever its size.
class Generator {
 public:
  struct State {
    uint64_t seed;
    uint64_t counter;
  };
  static constexpr uint64_t kDefaultSeed = 67280421310721;

  explicit Generator(uint64_t seed = kDefaultSeed) : state_{seed, 0} {}
  /// Starts the stream of `seed` from its beginning.
  void manual_seed(uint64_t seed) { state_ = {seed, 0}; }
  uint64_t seed() const { return state_.seed; }
  State state() const { return state_; }
  void set_state(State state) { state_ = state; }
  /// The counter value of the next draw; moves on.
  uint64_t next() { return state_.counter++; }

 private:
  State state_;
};

/// Uniform on [0, 1) with 53 random bits: element `index` of the draw (seed, counter).
double philox_uniform(uint64_t seed, uint64_t counter, uint64_t index);
/// Uniform on {0, ..., bound-1}, without bias (multiply and reject; Lemire 2019), from elements of the draw that `index` selects.
uint64_t philox_below(uint64_t seed, uint64_t counter, uint64_t index, uint64_t bound);

/// The generator of this thread's context: what rand, randn, dropout and initialisation draw from.
Generator& default_generator();
void manual_seed(uint64_t seed);

}  // namespace hvd
