// SPDX-License-Identifier: Apache-2.0
//
// The one place where devices are chosen.
#include "device/cpu/cpu.hpp"
#ifdef HVD_HAVE_ONEDNN
#include "device/onednn/onednn.hpp"
#endif

#include <hvd/core/error.hpp>
#include <hvd/device.hpp>

namespace hvd {

namespace backends {

const Backend& backend(Device device) {
  static const Cpu cpu;
#ifdef HVD_HAVE_ONEDNN
  static const OneDnn onednn;
  if (device.type() == DeviceType::kOneDnn) return onednn;
#endif
  if (device.type() == DeviceType::kCpu) return cpu;
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
