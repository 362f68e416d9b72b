// SPDX-License-Identifier: Apache-2.0
//
// cuDNN's handle of this process, and memory for the time of an operation.
#pragma once

#include "device/cuda/check.hpp"

#include <cudnn.h>

#include <cstddef>
#include <mutex>

namespace hvd::backends::cuda {

void check(cudnnStatus_t status, const char* call);

/// Makes the toolkit's compiler known to cuDNN.
void load_compiler();

/// Held while plans are looked up, chosen and run: by one thread at a time. Its work goes to the stream of computations.
class CudnnLock {
 public:
  CudnnLock();
  cudnnHandle_t handle() const { return handle_; }

 private:
  std::unique_lock<std::mutex> lock_;
  cudnnHandle_t handle_;
};

/// Released before the work that uses it has run: who gets it next comes after it on the one stream.
class Workspace {
 public:
  explicit Workspace(size_t bytes);
  ~Workspace();
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;
  void* data() const { return data_; }
  size_t bytes() const { return bytes_; }

 private:
  size_t bytes_;
  void* data_;
};

inline constexpr size_t kLargestWorkspace = size_t{1} << 30;

}  // namespace hvd::backends::cuda
