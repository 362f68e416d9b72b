// SPDX-License-Identifier: Apache-2.0
#include "device/cuda/check.hpp"

#include "device/cuda/binding.hpp"

#include <hvd/context.hpp>
#include <hvd/core/error.hpp>

#include <cstdlib>
#include <cstring>
#include <string>

namespace hvd::backends::cuda {

namespace {

bool debugging() {
  static const bool on = [] {
    const char* text = std::getenv("HVD_CUDA_DEBUG");
    return text && std::strcmp(text, "1") == 0;
  }();
  return on;
}

/// The name of what was called: the text before the parenthesis.
std::string name_of(const char* call) { return {call, std::strcspn(call, "(")}; }

}  // namespace

void fail(const char* call, const char* why) {
  throw Error("CUDA on rank " + std::to_string(current_rank()) + ": " + name_of(call) + ": " + why);
}

void check(cudaError_t status, const char* call) {
  if (status == cudaSuccess) return;
  cudaGetLastError();  // errors that leave the device usable are forgotten, those that do not come again
  fail(call, cudaGetErrorString(status));
}

void check(cublasStatus_t status, const char* call) {
  if (status != CUBLAS_STATUS_SUCCESS) fail(call, cublasGetStatusString(status));
}

void check_launch(const char* name) {
  const std::string kernel = std::string("kernel ") + name;
  check(cudaGetLastError(), kernel.c_str());
  if (debugging() && !context().gpu_recording) check(cudaStreamSynchronize(stream()), kernel.c_str());
}

cudaStream_t stream() {
  // The device of a thread is its own: the first call of each has to choose.
  static thread_local const bool bound = (HVD_CUDA(cudaSetDevice(bound_device())), true);
  static_cast<void>(bound);
  static const cudaStream_t instance = [] {
    cudaStream_t s = nullptr;
    HVD_CUDA(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    return s;
  }();
  return instance;
}

}  // namespace hvd::backends::cuda
