// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hvd/core/types.hpp>

#include <string>
#include <vector>

namespace hvd {

/// Whether this build has the device.
bool is_available(Device device);
/// The devices of this build; the default one first.
std::vector<Device> available_devices();

}  // namespace hvd
