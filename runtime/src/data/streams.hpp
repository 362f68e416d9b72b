// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hvd/context.hpp>

#include <cstdint>

namespace hvd::data {

/// Counter values that one sample may use: the streams of a batch's samples lie that far apart.
inline constexpr uint64_t kDrawsPerSample = uint64_t{1} << 20;

/// Random state and slice of this thread for its lifetime; puts back what was there.
class ScopedDraws {
 public:
  ScopedDraws(Generator::State state, const Slice* slice) : generator_(context().generator.state()), slice_(context().current_slice) {
    context().generator.set_state(state);
    context().current_slice = slice;
  }
  ~ScopedDraws() {
    context().generator.set_state(generator_);
    context().current_slice = slice_;
  }
  ScopedDraws(const ScopedDraws&) = delete;
  ScopedDraws& operator=(const ScopedDraws&) = delete;

 private:
  Generator::State generator_;
  const Slice* slice_;
};

}  // namespace hvd::data
