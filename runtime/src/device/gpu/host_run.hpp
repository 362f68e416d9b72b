// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

namespace hvd::backends::gpu {

/// While one lives, "kernels" that run on the host may address the emulated GPU's memory (test/emulated_gpu/memory.cpp).
class HostRun {
 public:
  HostRun();
  ~HostRun();
  HostRun(const HostRun&) = delete;
  HostRun& operator=(const HostRun&) = delete;
};

/// Whether this thread's work is being noted (test/emulated_gpu/recording.cpp): then it goes to note().
bool noting();
void note(std::function<void()> work);

/// work(), now or whenever what is being noted runs.
template <class F>
void run_on_host(const F& work) {
  if (noting()) return note([work] {
    const HostRun run;
    work();
  });
  const HostRun run;
  work();
}

}  // namespace hvd::backends::gpu
