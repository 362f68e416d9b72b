// SPDX-License-Identifier: Apache-2.0
#include "device/cudnn/handle.hpp"

#include "device/cuda/memory.hpp"

#include <dlfcn.h>

#include <string>

namespace hvd::backends::cuda {

void check(cudnnStatus_t status, const char* call) {
  if (status != CUDNN_STATUS_SUCCESS) fail(call, cudnnGetErrorString(status));
}

// cuDNN compiles some engines, attention among them, with NVRTC, and looks for it where the loader does; here the toolkit's folder is searched too.
void load_compiler() {
  const std::string name = "libnvrtc.so." + std::to_string(CUDART_VERSION / 1000);
  static void* const library = dlopen(name.c_str(), RTLD_NOW | RTLD_GLOBAL);
  static_cast<void>(library);  // without it those engines have no plans
}

namespace {

struct Handle {
  std::mutex mutex;
  cudnnHandle_t handle = nullptr;

  Handle() {
    load_compiler();
    stream();
    HVD_CUDA(cudnnCreate(&handle));
    HVD_CUDA(cudnnSetStream(handle, stream()));
  }
};
Handle& the_handle() {
  static auto* const instance = new Handle;  // CUDA is gone before the process ends
  return *instance;
}

}  // namespace

CudnnLock::CudnnLock() : lock_(the_handle().mutex), handle_(the_handle().handle) {
  stream();  // binds this thread to its GPU
}

Workspace::Workspace(size_t bytes) : bytes_(bytes), data_(bytes > 0 ? memory_of(MemoryKind::kDevice).allocate(bytes) : nullptr) {}
Workspace::~Workspace() {
  if (data_) memory_of(MemoryKind::kDevice).release(data_, bytes_);
}

}  // namespace hvd::backends::cuda
