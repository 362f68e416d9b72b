// SPDX-License-Identifier: Apache-2.0
#include "device/gpu/checks.hpp"

#include "device/gpu/support.hpp"

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

void Gpu::to_host(void* host, const void* buffer, size_t bytes) const {
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
  return true;
}

}  // namespace hvd::backends::gpu
