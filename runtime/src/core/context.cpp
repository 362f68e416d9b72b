// SPDX-License-Identifier: Apache-2.0
#include <hvd/context.hpp>
#include <hvd/core/error.hpp>
#include <hvd/device.hpp>
#include <hvd/tensor.hpp>
#include "device/device.hpp"
#ifdef HVD_HAVE_ONEDNN
#include "device/onednn/onednn.hpp"
#endif

namespace hvd {

namespace {

Device fastest_host_device() {
#ifdef HVD_HAVE_ONEDNN
  return DeviceType::kOneDnn;
#else
  return DeviceType::kCpu;
#endif
}

/// The device itself when the host reads its memory, else the default one of the host.
Device host_device_of(Device device) {
  return backends::backend(device).host_memory() ? device : fastest_host_device();
}

}  // namespace

Context::Context() : default_device(fastest_host_device()) {}

Context& context() {
  static thread_local Context instance;
  return instance;
}

ContextSettings::ContextSettings() : dtype_(context().default_dtype), device_(host_device_of(context().default_device)) {}
void ContextSettings::apply() const {
  context().default_dtype = dtype_;
  context().default_device = device_;
}

void set_default_dtype(Dtype dtype) {
  if (!is_floating_point(dtype) || is_low_precision(dtype)) throw Error(std::string("set_default_dtype: float32 or float64 expected, not ") + dtype_name(dtype));
  context().default_dtype = dtype;
}
Dtype default_dtype() { return context().default_dtype; }

void set_default_device(Device device) {
  if (const std::string problem = device_problem(device); !problem.empty()) throw Error("set_default_device: device '" + device.name() + "': " + problem);
  context().default_device = device;
}
Device default_device() { return context().default_device; }

void set_device_memory(MemoryKind kind) {
  if (kind == MemoryKind::kMalloc) throw Error("set_device_memory: tensors of CUDA devices lie in 'device', 'pinned' or 'managed' memory, not in 'malloc'");
  context().device_memory = kind;
}
void set_deterministic(bool value) { context().deterministic = value; }
void set_tf32(bool value) { context().tf32 = value; }

void set_num_threads(int threads) {
  if (threads < 1) throw Error("set_num_threads: at least 1 expected, not " + std::to_string(threads));
#ifdef HVD_HAVE_ONEDNN
  backends::set_library_threads(threads);
#endif
}

int num_threads() {
#ifdef HVD_HAVE_ONEDNN
  return backends::library_threads();
#else
  return 1;
#endif
}

bool grad_enabled() { return context().grad_enabled; }
const Slice* current_slice() { return context().current_slice; }
Generator& default_generator() {
  if (context().step_recording) throw Error("StepGraph: the host draws random numbers within the step, and would not draw them again: do that outside of it");
  return context().generator;
}
void manual_seed(uint64_t seed) { default_generator().manual_seed(seed); }

NoGradGuard::NoGradGuard() : previous_(context().grad_enabled) { context().grad_enabled = false; }
NoGradGuard::~NoGradGuard() { context().grad_enabled = previous_; }

}  // namespace hvd
