// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <c10/core/Allocator.h>

#include <cstddef>

namespace emulated_torch {

/// Number of emulated GPUs: HVD_EMULATED_GPUS, by default 4.
int device_count();
/// The current one of this thread.
int& current_device();

/// Memory that the host cannot address but while an Open lives: who reads a tensor of the GPU through its pointer ends with a segmentation fault.
c10::Allocator& device_allocator();
bool on_device(const void* address);

/// Memory of the host that is said to be locked: copies from and to it run behind the host (copies.hpp).
c10::Allocator& pinned_allocator();
bool is_pinned(const void* address);

void open_memory();
void close_memory();
class Open {
 public:
  Open() { open_memory(); }
  ~Open() { close_memory(); }
  Open(const Open&) = delete;
  Open& operator=(const Open&) = delete;
};

}  // namespace emulated_torch
