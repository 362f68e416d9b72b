// SPDX-License-Identifier: Apache-2.0
#include <hvd/torch/device.hpp>

#include <iostream>

#include <c10/core/impl/VirtualGuardImpl.h>

#include <hvd/dist/session.hpp>

#include "state.hpp"

namespace hvd {

c10::Device local_device(c10::Device device) {
  dist::Rank* rank = dist::this_rank();
  if (!rank || rank->size() == 1 || device.is_cpu() || !c10::impl::hasDeviceGuardImpl(device.type())) return device;
  const c10::impl::VirtualGuardImpl guard(device.type());
  const int count = guard.deviceCount();
  if (count == 0) return device;  // the first use says so
  const int local = local_rank();
  torch_binding::State& state = torch_binding::state(*rank);
  if (local >= count && !state.warned_shared_gpu.exchange(true)) {
    std::cerr << "hvd: rank " << rank->rank() << " shares GPU " << local % count << " with another rank: more ranks than GPUs on this host\n";
  }
  const c10::Device mine(device.type(), static_cast<c10::DeviceIndex>(local % count));
  guard.setDevice(mine);
  return mine;
}

void bind_device() { local_device(c10::DeviceType::CUDA); }

}  // namespace hvd
