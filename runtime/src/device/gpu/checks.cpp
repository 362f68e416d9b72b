// SPDX-License-Identifier: Apache-2.0
#include "device/gpu/checks.hpp"

#include "device/gpu/support.hpp"
#include "device/gpu_library.hpp"

#include <hvd/context.hpp>
#include <hvd/core/error.hpp>

namespace hvd::backends::gpu {

uint64_t Checks::add(Message message) {
  const std::lock_guard lock(mutex_);
  messages_.resize(kKept);
  const uint64_t number = ++added_;
  messages_[number % kKept] = std::move(message);
  return number;
}

Finding* Checks::slot(const Backend& device) {
  const std::lock_guard lock(mutex_);
  if (slot_) return slot_;
  slot_ = static_cast<Finding*>(device.allocator().allocate(sizeof(Finding)));
  const Finding nothing{};
  device.from_host(slot_, &nothing, sizeof nothing);
  return slot_;
}

void Checks::refuse(const Finding& finding) {
  const std::lock_guard lock(mutex_);
  const Message& message = messages_[finding.check % kKept];
  throw Error(message ? message(finding) : "an operand was out of range");
}

namespace {

void look_for_bad_index(const int64_t* index, int64_t n, int64_t length, Finding* slot, uint64_t check) {
  for_each("index check", n, [=] HVD_KERNEL(int64_t i) {
    if (index[i] >= 0 && index[i] < length) return;
    if (!claim(&slot->check, check)) return;
    slot->place = i;
    slot->value = index[i];
  });
}

}  // namespace

void Gpu::from_host(void* buffer, const void* host, size_t bytes) const {
  if (bytes == 0) return;
  if (GpuRecording* recording = context().gpu_recording) recording->copy_constant(buffer, host, bytes);
  else write(buffer, host, bytes);
}

void Gpu::to_host(void* host, const void* buffer, size_t bytes) const {
  if (context().gpu_recording)
    throw Error("StepGraph: the host needs a number of the GPU within the step (item(), a copy to the host, a norm for clipping): get it outside, from what the step returns");
  ++waits_;
  read(host, buffer, bytes);
  if (!checks_.pending()) return;
  Finding* const slot = checks_.slot(*this);
  const Finding nothing{};
  checks_.raise([&](Finding* finding) { read(finding, slot, sizeof *finding); }, [&] { from_host(slot, &nothing, sizeof nothing); });
}

bool Gpu::check_index(const char* name, const int64_t* index, int64_t n, int64_t length) const {
  const std::string operation = name;
  const uint64_t check = checks_.add([operation, length](const Finding& f) {
    return operation + ": index " + std::to_string(f.value) + " of a dimension of " + std::to_string(length);
  });
  look_for_bad_index(index, n, length, checks_.slot(*this), check);
  if (GpuRecording* recording = context().gpu_recording) recording->before_run([this] { checks_.expect(); });
  return true;
}

}  // namespace hvd::backends::gpu
