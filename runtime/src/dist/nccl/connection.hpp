// SPDX-License-Identifier: Apache-2.0
#pragma once

// One NCCL communicator, in which no call waits for ever: NCCL's own calls do not block, and are polled.

#include <functional>
#include <string>

#include "nccl.hpp"

namespace hvd::dist {

class NcclConnection {
 public:
  /// `who`: what this rank is at, for messages.
  NcclConnection(int rank, int size, const nccl::UniqueId& id, double deadline, std::function<std::string()> who);
  /// Frees it, or leaves it behind where NCCL does not come to an end.
  ~NcclConnection();
  NcclConnection(const NcclConnection&) = delete;
  NcclConnection& operator=(const NcclConnection&) = delete;

  nccl::Handle handle() const { return handle_; }
  /// `result` of `call`: until NCCL has taken up the work.
  void finish_call(nccl::Result result, const char* call);
  /// Ends the job if NCCL has noticed an error since.
  void poll(const char* call);
  /// Ends the job: stops NCCL's work, for a second at most, and says what has happened.
  [[noreturn]] void fail(const char* call, const std::string& why);

 private:
  nccl::Result state(const char* call);
  std::string text_of(nccl::Result result) const;

  const nccl::Functions& nccl_;
  double deadline_;
  std::function<std::string()> who_;
  nccl::Handle handle_ = nullptr;
};

}  // namespace hvd::dist
