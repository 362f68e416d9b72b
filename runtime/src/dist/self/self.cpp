// SPDX-License-Identifier: Apache-2.0

// One rank: the base class already treats every collective of one rank; nothing is left to do here.

#include <stdexcept>

#include "../backends.hpp"

namespace hvd::dist {

namespace {

class SelfCommunicator final : public Communicator {
 public:
  SelfCommunicator() : Communicator(0, 1, 0) {}
  const char* backend() const noexcept override { return "self"; }
  std::unique_ptr<Communicator> duplicate(int) override { return make_self(); }

 protected:
  void do_allreduce(void*, std::size_t, DataType, ReduceOp) override {}
  void do_reduce(void*, std::size_t, DataType, ReduceOp, int) override {}
  void do_broadcast(void*, std::size_t, DataType, int) override {}
  void do_allgatherv(const void*, void*, const std::vector<std::size_t>&, DataType) override {}
  void do_reduce_scatter(const void*, void*, std::size_t, DataType, ReduceOp) override {}
  void do_send(const void*, std::size_t, DataType, int, int) override { no_peer(); }
  void do_recv(void*, std::size_t, DataType, int, int) override { no_peer(); }
  void do_barrier() override {}

 private:
  [[noreturn]] static void no_peer() { throw std::logic_error("a job of one rank has no peer"); }
};

}  // namespace

std::unique_ptr<Communicator> make_self() { return std::make_unique<SelfCommunicator>(); }

}  // namespace hvd::dist
