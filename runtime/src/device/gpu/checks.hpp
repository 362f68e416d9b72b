// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "device/device.hpp"
#include "device/host_device.hpp"

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

namespace hvd::backends::gpu {

/// What a kernel found wrong with its operands: a number at a place of a tensor, by the check with that number; 0: nothing.
struct Finding {
  unsigned long long check;
  int64_t place, value;
};

/// Checks of operands that do not make the host wait: a kernel notes what it finds, and the host says so when it next waits for the
/// device. Kernels go on with index 0 in place of one that is out of range.
class Checks {
 public:
  using Message = std::function<std::string(const Finding&)>;

  /// The number of a new check.
  uint64_t add(Message message);
  /// Where findings of this device go, in its memory.
  Finding* slot(const Backend& device);
  /// A check that was added before runs once more.
  void expect() { ++expected_; }
  /// Whether checks were added, or run again, since raise() last looked.
  bool pending() const { return added_.load() + expected_.load() != seen_.load(); }
  /// Looks through `read(Finding*)` and throws hvd::Error for what was found; `clear()` empties the slot.
  template <class Read, class Clear>
  void raise(Read read, Clear clear) {
    const uint64_t added = added_.load() + expected_.load();
    Finding finding{};
    read(&finding);
    seen_.store(added);
    if (finding.check == 0) return;
    clear();
    refuse(finding);
  }

 private:
  [[noreturn]] void refuse(const Finding& finding);

  static constexpr size_t kKept = 4096;  // messages of the last checks
  std::mutex mutex_;
  std::vector<Message> messages_;
  std::atomic<uint64_t> added_{0}, expected_{0}, seen_{0};
  Finding* slot_ = nullptr;
};

}  // namespace hvd::backends::gpu
