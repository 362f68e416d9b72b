// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "test/emulated_gpu/nccl/meeting.hpp"
#include "test/emulated_gpu/stream.hpp"

namespace emulated {

/// What goes wrong: HVD_EMULATED_NCCL=RANK:WHAT:N, on that rank, at its operation N of any communicator.
///   init   the rank never comes to the others
///   kill   it is killed in the middle of the operation
///   error  the operation does not end, and NCCL reports an error; "error-hang": ncclCommAbort does not return either
struct Fault {
  int rank = -1, operation = 0;
  std::string what;
  static const Fault& asked();
};

struct Operation {
  enum class Kind { allreduce, reduce, broadcast, allgather, reduce_scatter } kind;
  const void* in;
  void* out;
  std::size_t count;  // of each rank's part, where there are parts
  api::Type type;
  api::Op op;
  int root;
  Stream* stream;
};

/// An emulated ncclComm. Work is put on the stream of the operation; errors show in the state, as they do with NCCL.
class Communicator {
 public:
  Communicator(const api::UniqueId& id, int ranks, int rank);
  ~Communicator();

  /// What is wrong with the call, or kInProgress: it is put on the stream, and will have been so after some polls of the state.
  api::Result start(const Operation& operation);
  api::Result state();
  std::string last_error() const;
  void abort();

 private:
  void connect();
  void run(const Operation& operation);
  void transfer(const Operation& operation);
  void fail(api::Result result, const std::string& why);
  bool gone() const { return aborted_; }

  Meeting meeting_;
  std::atomic<bool> aborted_{false};
  std::atomic<int> state_{api::kInProgress}, polls_left_{0}, running_{0};
  mutable std::mutex mutex_;
  std::string last_error_;
  std::thread connecting_;
};

}  // namespace emulated
