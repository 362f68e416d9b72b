// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Generator.h>

namespace emulated_torch {

/// The generator of an emulated GPU: a stream of its own, apart from the host's.
const at::Generator& default_generator(int device);
/// The one with which the host's kernels draw in its place.
at::Generator host_generator(const at::Generator& generator);

}  // namespace emulated_torch
