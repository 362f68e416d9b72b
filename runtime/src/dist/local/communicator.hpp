// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include <hvd/dist/communicator.hpp>

#include "group.hpp"
#include "window_writer.hpp"

namespace hvd::dist {

/// Ranks that are processes of one host, over shared memory. Four ways of moving data: operands of up to Group::kInline bytes
/// are all exchanged in one meeting; buffers that lie in registered memory on every rank are read and written where they lie; the
/// kernel copies from other processes' ordinary memory, where it may and for large sums; what is left goes through windows, chunk by chunk. All of them form sums in the order of ranks.
class LocalCommunicator final : public Communicator {
 public:
  LocalCommunicator(std::shared_ptr<const LocalWorld> world, std::unique_ptr<Group> group)
      : Communicator(world->rank, world->size, world->rank), world_(std::move(world)), group_(std::move(group)),
        tuning_(world_->tuning) {}

  const char* backend() const noexcept override { return "local"; }
  std::unique_ptr<Communicator> duplicate(int channel) override;
  void tune(const Tuning& tuning) override { tuning_ = tuning; }
  std::shared_ptr<char> allocate(std::size_t bytes) override { return Heap::allocate(world_->heap, bytes); }

 protected:
  void do_allreduce(void* data, std::size_t count, DataType type, ReduceOp op) override;
  void do_reduce(void* data, std::size_t count, DataType type, ReduceOp op, int root) override;
  void do_broadcast(void* data, std::size_t count, DataType type, int root) override;
  void do_allgatherv(const void* in, void* out, const std::vector<std::size_t>& counts, DataType type) override;
  void do_reduce_scatter(const void* in, void* out, std::size_t count, DataType type, ReduceOp op) override;
  void do_send(const void* data, std::size_t count, DataType type, int peer, int tag) override;
  void do_recv(void* data, std::size_t count, DataType type, int peer, int tag) override;
  void do_barrier() override { meet(); }

 private:
  struct Shared;  // the buffers of all ranks, mapped

  void meet() { group_->meet(patience()); }
  Patience patience() const { return {urgent(), world_->own_core}; }

  /// Every rank's operand in an inline buffer, after one meeting. `bytes` of this rank; valid until the next operation but one.
  std::vector<const char*> exchange_inline(const void* mine, std::size_t bytes);
  /// Tells the others where `data` lies and learns where theirs do. A meeting. Empty unless all lie in registered memory.
  Shared share(const void* data, std::size_t bytes);
  /// The same for the buffer of one rank only.
  Shared share_of(int owner, const void* data, std::size_t bytes);

  template <class Fill, class Use>
  void two_stages(std::size_t chunks, Fill fill, Use use);
  template <class Fill, class Combine, class Use>
  void three_stages(std::size_t chunks, Fill fill, Combine combine, Use use);
  std::vector<const char*> windows(std::uint64_t turn, std::size_t offset) const;
  void read_peer(int peer, std::size_t offset, void* to, std::size_t bytes) const;
  void reduce_directly(char* data, std::size_t count, DataType type, ReduceOp op);
  void reduce_through_windows(char* data, std::size_t count, DataType type, ReduceOp op, int root);

  void write_mail(MailRing& ring, const void* data, std::size_t bytes);
  void read_mail(MailRing& ring, void* data, std::size_t bytes);

  std::shared_ptr<const LocalWorld> world_;
  std::unique_ptr<Group> group_;
  Tuning tuning_;
  std::uint64_t inline_turn_ = 0, window_turn_ = 0;
  WindowWriter writer_;
  std::vector<char> fetched_;  // pieces of other ranks' buffers, or sums that only others want
  std::map<std::pair<int, int>, std::deque<std::vector<char>>> early_;  // messages read before their turn, by sender and tag
};

}  // namespace hvd::dist
