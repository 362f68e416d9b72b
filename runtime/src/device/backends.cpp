// SPDX-License-Identifier: Apache-2.0
//
// The one place where devices are chosen.
#include "device/cpu/cpu.hpp"
#include "device/low_precision.hpp"
#ifdef HVD_HAVE_ONEDNN
#include "device/onednn/onednn.hpp"
#endif

#include <hvd/core/error.hpp>
#include <hvd/device.hpp>

namespace hvd {

namespace backends {

const Backend& backend(Device device) {
  static const Cpu cpu;
  static const LowPrecision all_of_cpu(cpu);
#ifdef HVD_HAVE_ONEDNN
  static const OneDnn onednn;
  static const LowPrecision all_of_onednn(onednn);
  if (device.type() == DeviceType::kOneDnn) return all_of_onednn;
#endif
  if (device.type() == DeviceType::kCpu) return all_of_cpu;
  throw Error("device '" + device.name() + "' is not part of this build");
}

}  // namespace backends

bool is_available(Device device) {
  for (Device d : available_devices())
    if (d == device) return true;
  return false;
}

std::vector<Device> available_devices() {
#ifdef HVD_HAVE_ONEDNN
  return {DeviceType::kOneDnn, DeviceType::kCpu};
#else
  return {DeviceType::kCpu};
#endif
}

}  // namespace hvd
