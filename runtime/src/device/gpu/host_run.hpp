// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace hvd::backends::gpu {

/// While one lives, "kernels" that run on the host may address the emulated GPU's memory (test/emulated_gpu/memory.cpp).
class HostRun {
 public:
  HostRun();
  ~HostRun();
  HostRun(const HostRun&) = delete;
  HostRun& operator=(const HostRun&) = delete;
};

}  // namespace hvd::backends::gpu
