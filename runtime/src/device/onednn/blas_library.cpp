// SPDX-License-Identifier: Apache-2.0
#include "device/onednn/blas_library.hpp"

#include <hvd/core/error.hpp>

#include <dlfcn.h>

#include <cstdlib>
#include <cstring>
#include <string>

namespace hvd::backends {

namespace {

constexpr const char* kCoreType = "OPENBLAS_CORETYPE";

void* open_library() {
  for (const char* name : {"libopenblas.so.0", "libopenblas.so"})
    if (void* handle = dlopen(name, RTLD_NOW | RTLD_LOCAL)) return handle;
  return nullptr;
}

template <class F>
bool find(void* handle, const char* name, F& function) {
  function = reinterpret_cast<F>(dlsym(handle, name));
  return function != nullptr;
}

/// The kernels this processor could run, where OpenBLAS chose older ones; null where its choice stands.
const char* better_kernels(void* handle) {
#if defined(__x86_64__)
  const char* (*core_name)() = nullptr;
  if (std::getenv(kCoreType) || !find(handle, "openblas_get_corename", core_name)) return nullptr;
  for (const char* old : {"Prescott", "Generic", "Core2", "Nehalem", "Barcelona"}) {
    if (std::strcmp(core_name(), old) != 0) continue;
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512vl"))
      return "SkylakeX";
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return "Haswell";
  }
#else
  static_cast<void>(handle);
#endif
  return nullptr;
}

/// OpenBLAS reads the variable while it is loaded, and only then; afterwards the environment is as it was.
void* open_best_library() {
  void* handle = open_library();
  const char* kernels = handle ? better_kernels(handle) : nullptr;
  if (!kernels) return handle;
  dlclose(handle);
  setenv(kCoreType, kernels, 1);
  handle = open_library();
  unsetenv(kCoreType);
  return handle;
}

struct Loaded {
  BlasLibrary library = {};
  bool complete = false;

  Loaded() {
    void* handle = open_best_library();
    complete = handle && find(handle, "cblas_sgemm", library.sgemm) && find(handle, "cblas_dgemm", library.dgemm) &&
               find(handle, "openblas_set_num_threads", library.set_threads) && find(handle, "openblas_get_num_threads", library.get_threads);
    if (handle) find(handle, "cblas_somatcopy", library.transpose);
    find(RTLD_DEFAULT, "omp_set_num_threads", library.set_openmp_threads);
  }
};

const Loaded& loaded() {
  static const Loaded instance;
  return instance;
}

// Loading changes the environment for a moment: it happens while the process has one thread.
[[maybe_unused]] const Loaded& at_start = loaded();

}  // namespace

const BlasLibrary& blas() {
  if (!loaded().complete) throw Error("device 'onednn': libopenblas.so.0 cannot be loaded; install libopenblas0, or use device 'cpu'");
  return loaded().library;
}

}  // namespace hvd::backends
