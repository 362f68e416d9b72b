// SPDX-License-Identifier: Apache-2.0
#include "board.hpp"

#include <chrono>
#include <cstdio>
#include <cstring>
#include <thread>

#include "fixed_text.hpp"

namespace hvd::dist {

void ProgressBoard::enter(int channel, const char* op, const OpName& name, std::uint64_t signature) noexcept {
  Operation operation;
  operation.signature = signature;
  operation.line = name.line;
  copy_text(operation.op, op);
  copy_text(operation.name, name.name);
  copy_text(operation.file, base_name(name.file));
  std::uint64_t words[kOperationWords];
  std::memcpy(words, &operation, sizeof operation);

  ChannelSlot& c = slot().channels[channel];
  c.version.fetch_add(1, std::memory_order_acq_rel);
  for (std::size_t i = 0; i < kOperationWords; ++i) c.words[i].store(words[i], std::memory_order_release);
  c.history[(c.entered.load(std::memory_order_relaxed) + 1) % kHistory].store(signature);
  c.entered.fetch_add(1);
  c.version.fetch_add(1, std::memory_order_release);
}

void ProgressBoard::leave(int channel) noexcept {
  slot().channels[channel].left.fetch_add(1, std::memory_order_release);
}

std::string ProgressBoard::compare(int channel) const {
  const ChannelSlot& mine = slot().channels[channel];
  const std::uint64_t number = mine.entered.load();
  for (int i = 0; i < data_->count; ++i) {
    const ChannelSlot& other = data_->ranks[i].channels[channel];
    const std::uint64_t reached = other.entered.load();
    // Not there yet: that rank will compare.
    if (i == index_ || reached < number) continue;
    const std::uint64_t theirs = other.history[number % kHistory].load();
    // So far ahead that its entry may have been overwritten, if only while it was read: operations on nothing do not wait for anybody.
    if (other.entered.load() - number + 2 > kHistory || theirs == mine.history[number % kHistory].load()) continue;
    char here[200], there[200];
    describe_rank(slot(), here, sizeof here);
    describe_rank(data_->ranks[i], there, sizeof there);
    return "ranks have reached different operations: rank " + std::to_string(slot().rank) + " " + here + ", rank " +
           std::to_string(data_->ranks[i].rank) + " " + there;
  }
  return {};
}

void ProgressBoard::begin_long_work(const char* what, double limit) noexcept {
  RankSlot& s = slot();
  if (s.long_work.load() == 0) {
    copy_text(s.long_what, what);
    s.long_limit.store(limit);
  }
  s.long_work.fetch_add(1);
}

void ProgressBoard::end_long_work() noexcept { slot().long_work.fetch_sub(1); }

ChannelView view(const ChannelSlot& slot) noexcept {
  ChannelView v;
  std::uint64_t words[kOperationWords];
  // A writer that died in the middle leaves an odd version behind: after some tries take what is there.
  for (int attempt = 0; attempt < 100; ++attempt) {
    const std::uint32_t before = slot.version.load(std::memory_order_acquire);
    v.entered = slot.entered.load(std::memory_order_acquire);
    v.left = slot.left.load(std::memory_order_acquire);
    for (std::size_t i = 0; i < kOperationWords; ++i) words[i] = slot.words[i].load(std::memory_order_acquire);
    if (before % 2 == 0 && slot.version.load(std::memory_order_relaxed) == before) break;
  }
  std::memcpy(static_cast<Operation*>(&v), words, sizeof words);
  v.op[sizeof v.op - 1] = v.name[sizeof v.name - 1] = v.file[sizeof v.file - 1] = '\0';
  return v;
}

bool claim_verdict(BoardData& board, const char* text) noexcept {
  int none = 0;
  if (!board.verdict.compare_exchange_strong(none, 1)) return false;
  copy_text(board.verdict_text, text);
  board.verdict.store(2);
  return true;
}

namespace {

// FNV-1a, never 0.
std::uint64_t hash_of(const std::string& text) {
  std::uint64_t hash = 14695981039346656037u;
  for (const unsigned char c : text) hash = (hash ^ c) * 1099511628211u;
  return hash ? hash : 1;
}

bool has_root(const BoardData& board) {
  for (int i = 0; i < board.count; ++i)
    if (board.ranks[i].rank == 0) return true;
  return false;
}

}  // namespace

bool claim_message(BoardData& board, int rank, const std::string& text) {
  const std::uint64_t hash = hash_of(text);
  std::atomic<std::uint64_t>& slot = board.messages[hash % kMessages];
  if (rank == 0) {
    slot.store(hash);
    return true;
  }
  for (int tries = 0; tries < 50 && has_root(board); ++tries) {
    if (slot.load() == hash) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return slot.exchange(hash) != hash;
}

}  // namespace hvd::dist
