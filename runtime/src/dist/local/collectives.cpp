// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>

#include "../combine.hpp"
#include "communicator.hpp"
#include "parts.hpp"

namespace hvd::dist {

namespace {

std::size_t index(int rank) { return static_cast<std::size_t>(rank); }

void copy(void* to, const void* from, std::size_t bytes) {
  if (bytes && to != from) std::memcpy(to, from, bytes);
}

std::size_t chunks_of(std::size_t count, std::size_t per_chunk) { return (count + per_chunk - 1) / per_chunk; }

constexpr int kEverywhere = -1;

}  // namespace

struct LocalCommunicator::Shared {
  std::vector<std::shared_ptr<char>> owners;
  std::vector<char*> all;  // by rank
  explicit operator bool() const { return !all.empty(); }
};

std::vector<const char*> LocalCommunicator::exchange_inline(const void* mine, std::size_t bytes) {
  const std::uint64_t turn = inline_turn_++;
  copy(group_->inline_buffer(rank(), turn), mine, bytes);
  meet();
  std::vector<const char*> all;
  for (int r = 0; r < size(); ++r) all.push_back(group_->inline_buffer(r, turn));
  return all;
}

LocalCommunicator::Shared LocalCommunicator::share(const void* data, std::size_t bytes) {
  group_->line(rank()).posted = world_->heap->find(data, bytes);
  group_->line(rank()).address = reinterpret_cast<std::uint64_t>(data);
  meet();
  Shared shared;
  for (int r = 0; r < size(); ++r)
    if (group_->line(r).posted.length == 0) return shared;
  for (int r = 0; r < size(); ++r) {
    if (r == rank()) shared.owners.emplace_back();
    else shared.owners.push_back(world_->peers[index(r)]->at(group_->line(r).posted));
    shared.all.push_back(r == rank() ? static_cast<char*>(const_cast<void*>(data)) : shared.owners.back().get());
  }
  return shared;
}

LocalCommunicator::Shared LocalCommunicator::share_of(int owner, const void* data, std::size_t bytes) {
  if (rank() == owner) group_->line(owner).posted = world_->heap->find(data, bytes);
  meet();
  const HeapAddress posted = group_->line(owner).posted;
  if (posted.length == 0) return {};
  if (rank() == owner) return {{{}}, {static_cast<char*>(const_cast<void*>(data))}};
  auto memory = world_->peers[index(owner)]->at(posted);
  char* address = memory.get();
  return {{std::move(memory)}, {address}};
}

// Windows are used in turn, kSlots of them. In round i a rank fills the window of chunk i and uses that of chunk i-1 (or, with three
// stages, combines chunk i-1 and uses chunk i-2); the rounds are separated by one meeting, and there is none after the last. Three
// windows suffice: when a rank fills a window again, kSlots chunks later, every other rank has met it since it last used it.
template <class Fill, class Use>
void LocalCommunicator::two_stages(std::size_t chunks, Fill fill, Use use) {
  for (std::size_t i = 0; i <= chunks; ++i) {
    if (i < chunks) fill(i, window_turn_ + i);
    if (i >= 1) use(i - 1, window_turn_ + i - 1);
    if (i < chunks) meet();
  }
  window_turn_ += chunks;
  writer_.finish();
}

template <class Fill, class Combine, class Use>
void LocalCommunicator::three_stages(std::size_t chunks, Fill fill, Combine combine, Use use) {
  for (std::size_t i = 0; i < chunks + 2; ++i) {
    if (i < chunks) fill(i, window_turn_ + i);
    if (i >= 1 && i <= chunks) combine(window_turn_ + i - 1, i - 1);
    if (i >= 2) use(i - 2, window_turn_ + i - 2);
    if (i <= chunks) meet();
  }
  window_turn_ += chunks;
  writer_.finish();
}

std::vector<const char*> LocalCommunicator::windows(std::uint64_t turn, std::size_t offset) const {
  std::vector<const char*> all;
  for (int r = 0; r < size(); ++r) all.push_back(group_->window(r, turn) + offset);
  return all;
}

void LocalCommunicator::do_allreduce(void* data, std::size_t count, DataType type, ReduceOp op) {
  const std::size_t width = size_of(type), bytes = count * width;
  if (bytes <= Group::kInline) return combine_all(static_cast<char*>(data), exchange_inline(data, bytes), count, type, op);
  if (Shared shared = share(data, bytes)) {
    const Part part = part_of(count, rank(), size(), type);
    for (char*& buffer : shared.all) buffer += part.first * width;
    combine_everywhere(shared.all, part.count, type, op);
    return meet();
  }
  if (world_->reads_peers && bytes >= tuning_.direct_from) return reduce_directly(static_cast<char*>(data), count, type, op);
  reduce_through_windows(static_cast<char*>(data), count, type, op, kEverywhere);
}

void LocalCommunicator::do_reduce(void* data, std::size_t count, DataType type, ReduceOp op, int root) {
  const std::size_t width = size_of(type), bytes = count * width;
  if (bytes <= Group::kInline) {
    const auto all = exchange_inline(data, bytes);
    if (rank() == root) combine_all(static_cast<char*>(data), all, count, type, op);
    return;
  }
  if (Shared shared = share(data, bytes)) {
    const Part part = part_of(count, rank(), size(), type);
    for (char*& buffer : shared.all) buffer += part.first * width;
    combine_all(shared.all[index(root)], {shared.all.begin(), shared.all.end()}, part.count, type, op);
    return meet();
  }
  reduce_through_windows(static_cast<char*>(data), count, type, op, root);
}

void LocalCommunicator::reduce_through_windows(char* data, std::size_t count, DataType type, ReduceOp op, int root) {
  const std::size_t width = size_of(type), per_chunk = Group::kChunk / width;
  const auto length = [&](std::size_t chunk) { return std::min(per_chunk, count - chunk * per_chunk); };
  const bool takes = root == kEverywhere || root == rank();
  const auto for_others = [&](std::size_t chunk, auto body) {  // with the part of each: its offset in the chunk and its length, in bytes
    for (int r = 0; r < size(); ++r) {
      const Part part = part_of(length(chunk), r, size(), type);
      if (r != rank()) body(r, part.first * width, part.count * width);
    }
  };
  const auto fill = [&](std::size_t chunk, std::uint64_t turn) {
    for_others(chunk, [&](int, std::size_t at, std::size_t bytes) { writer_.write(group_->window(rank(), turn) + at, data + chunk * Group::kChunk + at, bytes); });
  };
  // This rank's own part does not go through its window: it is taken from where it lies, and the sum is put there.
  const auto combine = [&](std::uint64_t turn, std::size_t chunk) {
    const Part part = part_of(length(chunk), rank(), size(), type);
    const std::size_t at = part.first * width;
    char* const here = data + chunk * Group::kChunk + at;
    std::vector<const char*> from = windows(turn, at);
    from[index(rank())] = here;
    if (!takes) fetched_.resize(Group::kChunk);
    char* const sum = takes ? here : fetched_.data();
    combine_all(sum, from, part.count, type, op);
    if (root != rank()) writer_.write(group_->window(rank(), turn) + at, sum, part.count * width);
  };
  const auto use = [&](std::size_t chunk, std::uint64_t turn) {
    if (!takes) return;
    for_others(chunk, [&](int r, std::size_t at, std::size_t bytes) { copy(data + chunk * Group::kChunk + at, group_->window(r, turn) + at, bytes); });
  };
  three_stages(chunks_of(count, per_chunk), fill, combine, use);
}

void LocalCommunicator::do_broadcast(void* data, std::size_t count, DataType type, int root) {
  const std::size_t bytes = count * size_of(type);
  char* here = static_cast<char*>(data);
  if (bytes <= Group::kInline) {
    const auto all = exchange_inline(data, rank() == root ? bytes : 0);
    if (rank() != root) copy(here, all[index(root)], bytes);
    return;
  }
  if (const Shared shared = share_of(root, data, bytes)) {
    if (rank() != root) copy(here, shared.all[0], bytes);
    return meet();
  }
  const auto length = [&](std::size_t chunk) { return std::min(Group::kChunk, bytes - chunk * Group::kChunk); };
  two_stages(
      chunks_of(bytes, Group::kChunk),
      [&](std::size_t chunk, std::uint64_t turn) {
        if (rank() == root) writer_.write(group_->window(root, turn), here + chunk * Group::kChunk, length(chunk));
      },
      [&](std::size_t chunk, std::uint64_t turn) {
        if (rank() != root) copy(here + chunk * Group::kChunk, group_->window(root, turn), length(chunk));
      });
}

void LocalCommunicator::do_allgatherv(const void* in, void* out, const std::vector<std::size_t>& counts, DataType type) {
  const std::size_t width = size_of(type);
  std::vector<std::size_t> bytes, first;
  std::size_t total = 0;
  for (const std::size_t c : counts) {
    first.push_back(total);
    bytes.push_back(c * width);
    total += c * width;
  }
  const char* mine = static_cast<const char*>(in);
  char* to = static_cast<char*>(out);
  const std::size_t largest = *std::max_element(bytes.begin(), bytes.end());
  const std::size_t me = index(rank());
  if (largest <= Group::kInline) {
    const auto all = exchange_inline(in, bytes[me]);
    for (std::size_t r = 0; r < all.size(); ++r) copy(to + first[r], all[r], bytes[r]);
    return;
  }
  if (const Shared shared = share(in, std::max<std::size_t>(bytes[me], 1))) {
    for (std::size_t r = 0; r < shared.all.size(); ++r) copy(to + first[r], shared.all[r], bytes[r]);
    return meet();
  }
  const auto length = [&](std::size_t r, std::size_t chunk) {
    const std::size_t done = std::min(bytes[r], chunk * Group::kChunk);
    return std::min(Group::kChunk, bytes[r] - done);
  };
  copy(to + first[me], in, bytes[me]);
  two_stages(
      chunks_of(largest, Group::kChunk),
      [&](std::size_t chunk, std::uint64_t turn) {
        writer_.write(group_->window(rank(), turn), mine + chunk * Group::kChunk, length(me, chunk));
      },
      [&](std::size_t chunk, std::uint64_t turn) {
        for (int r = 0; r < size(); ++r)
          if (r != rank()) copy(to + first[index(r)] + chunk * Group::kChunk, group_->window(r, turn), length(index(r), chunk));
      });
}

void LocalCommunicator::do_reduce_scatter(const void* in, void* out, std::size_t count, DataType type, ReduceOp op) {
  const std::size_t width = size_of(type), bytes = count * width, ranks = index(size()), me = index(rank());
  const char* from = static_cast<const char*>(in);
  char* to = static_cast<char*>(out);
  if (bytes * ranks <= Group::kInline) {
    auto all = exchange_inline(in, bytes * ranks);
    for (const char*& buffer : all) buffer += me * bytes;
    return combine_all(to, all, count, type, op);
  }
  if (Shared shared = share(in, bytes * ranks)) {
    for (char*& buffer : shared.all) buffer += me * bytes;
    combine_all(to, {shared.all.begin(), shared.all.end()}, count, type, op);
    return meet();
  }
  // A window holds the same stretch of every block.
  const std::size_t per_chunk = std::max<std::size_t>(Group::kChunk / ranks / 64 * 64 / width, 1), stride = per_chunk * width;
  const auto length = [&](std::size_t chunk) { return std::min(per_chunk, count - chunk * per_chunk); };
  two_stages(
      chunks_of(count, per_chunk),
      [&](std::size_t chunk, std::uint64_t turn) {
        for (std::size_t r = 0; r < ranks; ++r)
          writer_.write(group_->window(rank(), turn) + r * stride, from + r * bytes + chunk * stride, length(chunk) * width);
      },
      [&](std::size_t chunk, std::uint64_t turn) {
        combine_all(to + chunk * stride, windows(turn, me * stride), length(chunk), type, op);
      });
}

}  // namespace hvd::dist
