// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <string>

#include <hvd/dist/failure.hpp>

#include "../combine.hpp"
#include "group.hpp"

namespace hvd::dist {

namespace {

// Every collective has the same shape: post, read what the others posted, meet again before anybody may go on and change
// its buffers. Sums run in the order of ranks.
class ThreadCommunicator final : public Communicator {
 public:
  ThreadCommunicator(std::shared_ptr<ThreadGroup> group, int rank)
      : Communicator(rank, group->size(), rank), group_(std::move(group)) {}

  const char* backend() const noexcept override { return "threads"; }

  std::unique_ptr<Communicator> duplicate(int channel) override {
    if (rank() == 0) group_->successors[0] = std::make_shared<ThreadGroup>(group_->shared_job(), size());
    group_->meet();
    auto copy = make_threads(group_->successors[0], rank());
    group_->meet();
    copy->watch(board(), channel);
    return copy;
  }

  std::unique_ptr<Communicator> among(const std::vector<int>& ranks, double) override {
    const auto me = std::find(ranks.begin(), ranks.end(), rank()) - ranks.begin();
    auto& made = group_->successors[index(ranks[0])];
    if (me == 0) made = std::make_shared<ThreadGroup>(group_->shared_job(), static_cast<int>(ranks.size()));
    group_->meet();
    auto part = make_threads(made, static_cast<int>(me));
    group_->meet();
    return part;
  }

 protected:
  void do_allreduce(void* data, std::size_t count, DataType type, ReduceOp op) override {
    post("allreduce", data, data, count, type, static_cast<int>(op));
    const std::size_t width = size_of(type), first = count * index(rank()) / index(size());
    const std::size_t length = count * (index(rank()) + 1) / index(size()) - first;
    std::vector<char> part(length * width);
    add_parts(part.data(), first * width, length, type, op);
    group_->meet();
    for (int r = 0; r < size(); ++r) copy(static_cast<char*>(group_->of(r).out) + first * width, part.data(), part.size());
    group_->meet();
  }

  void do_reduce(void* data, std::size_t count, DataType type, ReduceOp op, int root) override {
    post("reduce", data, data, count, type, root * 4 + static_cast<int>(op));
    std::vector<char> sum;
    if (rank() == root) {
      sum.resize(count * size_of(type));
      add_parts(sum.data(), 0, count, type, op);
    }
    group_->meet();
    if (rank() == root) copy(data, sum.data(), sum.size());
  }

  void do_broadcast(void* data, std::size_t count, DataType type, int root) override {
    post("broadcast", data, data, count, type, root);
    if (rank() != root) copy(data, group_->of(root).in, count * size_of(type));
    group_->meet();
  }

  void do_allgatherv(const void* in, void* out, const std::vector<std::size_t>& counts, DataType type) override {
    std::size_t hash = 0;
    for (std::size_t c : counts) hash = hash * 1000003 + c;
    const std::size_t width = size_of(type);
    const std::vector<char> mine(static_cast<const char*>(in), static_cast<const char*>(in) + counts[index(rank())] * width);
    post("allgather", mine.data(), out, hash, type, 0);
    char* to = static_cast<char*>(out);
    for (int r = 0; r < size(); ++r) {
      copy(to, group_->of(r).in, counts[index(r)] * width);
      to += counts[index(r)] * width;
    }
    group_->meet();
  }

  void do_reduce_scatter(const void* in, void* out, std::size_t count, DataType type, ReduceOp op) override {
    post("reduce_scatter", in, out, count, type, static_cast<int>(op));
    const std::size_t width = size_of(type);
    std::vector<char> part(count * width);
    add_parts(part.data(), index(rank()) * count * width, count, type, op);
    group_->meet();
    copy(out, part.data(), part.size());
  }

  void do_send(const void* data, std::size_t count, DataType type, int peer, int tag) override {
    const char* bytes = static_cast<const char*>(data);
    group_->put(rank(), peer, tag, std::vector<char>(bytes, bytes + count * size_of(type)));
  }

  void do_recv(void* data, std::size_t count, DataType type, int peer, int tag) override {
    const std::vector<char> message = group_->take(peer, rank(), tag);
    if (message.size() != count * size_of(type))
      throw dist::Failure<std::runtime_error>("recv: rank " + std::to_string(peer) + " sent " + std::to_string(message.size()) + " bytes, rank " +
                               std::to_string(rank()) + " expects " + std::to_string(count * size_of(type)));
    copy(data, message.data(), message.size());
  }

  void do_barrier() override {
    post("barrier", nullptr, nullptr, 0, DataType::uint8, 0);
    group_->meet();  // what the others posted has been looked at
  }

 private:
  static std::size_t index(int rank) { return static_cast<std::size_t>(rank); }
  static void copy(void* to, const void* from, std::size_t bytes) {
    if (bytes && to != from) std::memcpy(to, from, bytes);
  }

  void post(const char* op, const void* in, void* out, std::size_t count, DataType type, int root) {
    std::uint64_t description = count * 64 + static_cast<std::uint64_t>(type);
    description = description * 8191 + static_cast<std::uint64_t>(root);
    for (const char* c = current_op(); *c; ++c) description = description * 31 + static_cast<unsigned char>(*c);
    group_->post(rank(), {op, description, in, out}, current_op());
  }

  // Sum of `length` elements from byte `offset` on of what the ranks posted.
  void add_parts(char* sum, std::size_t offset, std::size_t length, DataType type, ReduceOp op) {
    std::vector<const char*> parts;
    for (int r = 0; r < size(); ++r) parts.push_back(static_cast<const char*>(group_->of(r).in) + offset);
    combine_all(sum, parts, length, type, op);
  }

  std::shared_ptr<ThreadGroup> group_;
};

}  // namespace

std::unique_ptr<Communicator> make_threads(std::shared_ptr<ThreadGroup> group, int rank) {
  return std::make_unique<ThreadCommunicator>(std::move(group), rank);
}

}  // namespace hvd::dist
