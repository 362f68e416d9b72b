// SPDX-License-Identifier: Apache-2.0
#include "test/cudnn/described_gpu.hpp"

#include "device/cudnn/handle.hpp"

#include <dlfcn.h>

namespace cudnn_test {

namespace graph = hvd::backends::cuda::graph;

std::unique_ptr<graph::Descriptor> described_h100(std::string& why) {
#if CUDNN_VERSION >= 90800
  // An H100 SXM, by its data sheet and the CUDA documentation.
  const std::string text = R"({"deviceName": "NVIDIA H100 80GB HBM3", "cudaDeviceId": 0, "deviceVer": 900, "driverVer": 13000, "multiProcessorCount": 132,
    "maxGridSize": [2147483647, 65535, 65535], "maxBlockSize": [1024, 1024, 64], "regsPerBlock": 65536, "warpSize": 32,
    "maxSharedMemoryPerBlock": 49152, "maxSharedMemoryPerBlockOptin": 232448, "reservedSharedMemoryPerBlock": 1024, "maxRegistersPerSM": 65536,
    "maxCtasPerSM": 32, "maxThreadsPerBlock": 1024, "maxThreadsPerSM": 2048, "pciDeviceId": 0, "isTccDriver": 0, "supportCoopLaunch": 1,
    "smClockRateKHz": 1980000, "memClockRateKHz": 2619000, "l2CacheSize": 52428800, "totalGlobalMem": 85017624576})";
  try {
    auto device = std::make_unique<graph::Descriptor>(HVD_CUDNN_DESCRIPTOR(DEVICEPROP));
    device->set(HVD_CUDNN_ATTR(DEVICEPROP_JSON_REPRESENTATION), std::vector<char>(text.begin(), text.end()));
    device->finish();
    return device;
  } catch (const graph::Failure& failure) {
    why = std::string("this cuDNN takes no description of a GPU: ") + failure.what();
  }
#else
  why = "cuDNN before 9.8 takes no description of a GPU";
#endif
  return nullptr;
}

std::string cudnn_problem() {
  if (cudnnGetVersion() < 90800) return "cuDNN before 9.8 makes no graphs without a GPU";
  // First of all, so that whoever asks for the driver gets this one; then the compiler, where the toolkit has it.
  static void* const driver = dlopen(HVD_TEST_DRIVER, RTLD_NOW | RTLD_GLOBAL);
  if (!driver) return std::string("the stand-in for a driver cannot be loaded: ") + dlerror();
  hvd::backends::cuda::load_compiler();
  try {
    static_cast<void>(HVD_CUDNN_DESCRIPTOR(TENSOR));
    return {};
  } catch (const graph::Failure& failure) {
    return failure.what();
  }
}

std::string compiler_problem() {
  if (std::string problem = cudnn_problem(); !problem.empty()) return problem;
  const std::string name = "libnvrtc.so." + std::to_string(CUDART_VERSION / 1000);
  return dlopen(name.c_str(), RTLD_NOW | RTLD_NOLOAD) ? "" : "there is no " + name;
}

}  // namespace cudnn_test
