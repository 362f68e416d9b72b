// SPDX-License-Identifier: Apache-2.0
//
// The one place where devices are chosen.
#include "device/cpu/cpu.hpp"
#include "device/gpu_library.hpp"
#include "device/low_precision.hpp"
#ifdef HVD_HAVE_ONEDNN
#include "device/onednn/onednn.hpp"
#endif

#include <hvd/context.hpp>
#include <hvd/core/error.hpp>
#include <hvd/device.hpp>

#include <cstring>
#include <optional>

namespace hvd {

namespace backends {

void Backend::to_host(void* host, const void* buffer, size_t bytes) const { std::memcpy(host, buffer, bytes); }
void Backend::from_host(void* buffer, const void* host, size_t bytes) const { std::memcpy(buffer, host, bytes); }

void Backend::sgd_all(Dtype dtype, const std::vector<ParamBuffers>& params, const SgdUpdate& update) const {
  for (const ParamBuffers& p : params) sgd(dtype, p.n, update, p.grad, p.kept[0], p.param);
}
void Backend::adam_all(Dtype dtype, const std::vector<ParamBuffers>& params, const AdamUpdate& update) const {
  for (const ParamBuffers& p : params) adam(dtype, p.n, update, p.grad, p.kept[0], p.kept[1], p.param);
}
void Backend::rmsprop_all(Dtype dtype, const std::vector<ParamBuffers>& params, const RmspropUpdate& update) const {
  for (const ParamBuffers& p : params) rmsprop(dtype, p.n, update, p.grad, p.kept[0], p.kept[1], p.kept[2], p.param);
}

namespace {

bool is_gpu(DeviceType type) { return type == DeviceType::kCublas || type == DeviceType::kCudnn; }

/// A GPU's device with its 16-bit dtypes.
class GpuDevice {
 public:
  explicit GpuDevice(DeviceType type) {
    if (!gpu_problem().empty()) return;
    if (const Backend* base = gpu_library()->backend(type)) whole_.emplace(*base);
  }
  const LowPrecision* get() const { return whole_ ? &*whole_ : nullptr; }

 private:
  std::optional<LowPrecision> whole_;
};

const LowPrecision* gpu_backend(DeviceType type) {
  static const GpuDevice cublas(DeviceType::kCublas), cudnn(DeviceType::kCudnn);
  return (type == DeviceType::kCublas ? cublas : cudnn).get();
}

}  // namespace

namespace {

const Cpu& cpu() {
  static const Cpu instance;
  return instance;
}
#ifdef HVD_HAVE_ONEDNN
const OneDnn& onednn() {
  static const OneDnn instance;
  return instance;
}
#endif

}  // namespace

const Backend& backend(Device device) {
  static const LowPrecision all_of_cpu(cpu());
#ifdef HVD_HAVE_ONEDNN
  static const LowPrecision all_of_onednn(onednn());
  if (device.type() == DeviceType::kOneDnn) return all_of_onednn;
#endif
  if (device.type() == DeviceType::kCpu) return all_of_cpu;
  if (is_gpu(device.type()))
    if (const LowPrecision* gpu = gpu_backend(device.type())) return *gpu;
  throw Error("device '" + device.name() + "': " + device_problem(device));
}

const Backend& native_backend(Device device) {
#ifdef HVD_HAVE_ONEDNN
  if (device.type() == DeviceType::kOneDnn) return onednn();
#endif
  if (device.type() == DeviceType::kCpu) return cpu();
  static_cast<void>(backend(device));  // throws where there is none
  return *gpu_library()->backend(device.type());
}

}  // namespace backends

std::string device_problem(Device device) {
  using backends::is_gpu;
  if (device.type() == DeviceType::kCpu) return {};
  if (is_gpu(device.type())) {
    const std::string problem = backends::gpu_problem();
    if (!problem.empty()) return problem;
    return backends::gpu_backend(device.type()) ? "" : "is not part of this build";
  }
#ifdef HVD_HAVE_ONEDNN
  return {};
#else
  return "is not part of this build";
#endif
}

bool is_available(Device device) { return device_problem(device).empty(); }

std::vector<Device> available_devices() {
  std::vector<Device> devices;
#ifdef HVD_HAVE_ONEDNN
  devices.push_back(DeviceType::kOneDnn);
#endif
  devices.push_back(DeviceType::kCpu);
  for (const DeviceType type : {DeviceType::kCublas, DeviceType::kCudnn})
    if (is_available(type)) devices.push_back(type);
  return devices;
}

std::string describe_gpu() { return backends::gpu_problem().empty() ? backends::gpu_library()->describe() : backends::gpu_problem(); }

DeviceMemoryUse device_memory_use(MemoryKind kind) {
  return backends::gpu_problem().empty() ? backends::gpu_library()->memory_use(kind) : DeviceMemoryUse{};
}
void reset_peak_device_memory() {
  if (backends::gpu_problem().empty()) backends::gpu_library()->reset_peak_memory();
}
uint64_t device_waits() { return backends::gpu_problem().empty() ? backends::gpu_library()->waits() : 0; }
void synchronize() {
  if (context().gpu_recording) throw Error("StepGraph: synchronize() within the step: wait for the GPU outside of it");
  if (backends::gpu_problem().empty()) backends::gpu_library()->synchronize();
}

}  // namespace hvd
