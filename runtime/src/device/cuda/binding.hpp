// SPDX-License-Identifier: Apache-2.0
//
// Which GPU is this rank's: its number among the ranks of its host, modulo the GPUs that CUDA_VISIBLE_DEVICES leaves. Chosen before
// the first call that makes a context.
#pragma once

#include <string>

namespace hvd::backends::cuda {

/// Number of the GPUs that this process sees; 0 with the reason in `why` where there are none.
int count_devices(std::string& why);
/// The GPU of this process. Says once on the standard error stream when ranks share one.
int bound_device();
/// The rank of the calling thread, for messages.
int current_rank();

}  // namespace hvd::backends::cuda
