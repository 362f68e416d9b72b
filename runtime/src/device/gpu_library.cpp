// SPDX-License-Identifier: Apache-2.0
#include "device/gpu_library.hpp"

#include <hvd/core/error.hpp>

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>

namespace hvd::backends {

namespace {

struct Loaded {
  const GpuLibrary* library = nullptr;
  std::string problem;
};

/// Beside the library that this code is in.
std::filesystem::path default_path() {
  Dl_info here;
  if (!dladdr(reinterpret_cast<const void*>(&gpu_library), &here) || !here.dli_fname) return "libhvd_cuda.so";
  return std::filesystem::path(here.dli_fname).parent_path() / "libhvd_cuda.so";
}

Loaded load() {
  const char* named = std::getenv("HVD_CUDA_LIBRARY");
  const std::filesystem::path path = named && *named ? std::filesystem::path(named) : default_path();
  if (!(named && *named) && !std::filesystem::exists(path)) return {nullptr, "is not part of this build (no CUDA toolkit was found)"};
  // CUDA's libraries are large: where there is no driver they are not touched.
  if (!(named && *named) && !dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL)) return {nullptr, "no CUDA device (there is no driver, libcuda.so.1)"};
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) return {nullptr, std::string("its library cannot be loaded: ") + dlerror()};
  const auto entry = reinterpret_cast<decltype(&hvd_gpu_library)>(dlsym(handle, "hvd_gpu_library"));
  if (!entry) return {nullptr, path.string() + " is no library of GPU devices"};
  const GpuLibrary* library = entry();
  return {library, library->problem()};
}

const Loaded& loaded() {
  static const Loaded instance = load();
  return instance;
}

}  // namespace

const GpuLibrary* gpu_library() { return loaded().library; }
std::string gpu_problem() { return loaded().problem; }

const GpuLibrary& require_gpu() {
  if (!loaded().problem.empty()) throw Error("a GPU is needed: " + loaded().problem);
  return *loaded().library;
}

}  // namespace hvd::backends
