// SPDX-License-Identifier: Apache-2.0
//
// Copies that run behind the host: from locked memory to the GPU when the GPU does its next work, from the GPU when somebody waits for it.
// Who changes the source too early, or reads the target without a wait, gets other numbers.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>

namespace emulated_torch {

at::Tensor& copy(at::Tensor& self, const at::Tensor& src, bool non_blocking);

/// The GPU's next work: what was on its way to it is there.
void arrive();
/// Somebody waits: all is done.
void finish();
/// The number of the last copy that was asked for, for events; whether it is done, which takes some looks.
std::uint64_t last_copy();
bool look(std::uint64_t copy, int& looks);

}  // namespace emulated_torch
