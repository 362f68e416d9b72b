// SPDX-License-Identifier: Apache-2.0
//
// Every call into CUDA and its libraries is checked: HVD_CUDA(cudaMalloc(&p, n)) throws hvd::Error that names the call, the rank and
// what CUDA says.
#pragma once

#include <cublas_v2.h>
#include <cuda_runtime.h>

namespace hvd::backends::cuda {

[[noreturn]] void fail(const char* call, const char* why);
void check(cudaError_t status, const char* call);
void check(cublasStatus_t status, const char* call);
/// After the launch of kernel `name`. With HVD_CUDA_DEBUG=1 it waits for the kernel, so that an error shows where it arose.
void check_launch(const char* name);

/// The one stream of this process's computations. All work of the devices goes there, in the order of the calls: memory that is released
/// may be handed on at once, whichever thread asks.
cudaStream_t stream();

}  // namespace hvd::backends::cuda

#define HVD_CUDA(call) ::hvd::backends::cuda::check((call), #call)
