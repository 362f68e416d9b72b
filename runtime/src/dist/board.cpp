// SPDX-License-Identifier: Apache-2.0
#include "board.hpp"

#include <cstdio>
#include <cstring>

namespace hvd::dist {

namespace {

template <std::size_t N>
void copy_text(char (&to)[N], const char* from) noexcept {
  std::size_t i = 0;
  for (; i + 1 < N && from && from[i]; ++i) to[i] = from[i];
  to[i] = '\0';
}

const char* base_name(const char* path) noexcept {
  const char* base = path;
  for (const char* p = path; p && *p; ++p)
    if (*p == '/') base = p + 1;
  return base;
}

}  // namespace

void ProgressBoard::enter(int channel, const char* op, const OpName& name, std::uint64_t signature) noexcept {
  ChannelSlot& c = slot().channels[channel];
  c.version.fetch_add(1, std::memory_order_acq_rel);
  copy_text(c.op, op);
  copy_text(c.name, name.name);
  copy_text(c.file, base_name(name.file));
  c.line = name.line;
  c.signature = signature;
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
    // Not there yet (that rank will compare), or so far ahead that its entry may have been overwritten.
    if (i == index_ || reached < number || reached - number + 2 > kHistory) continue;
    if (other.history[number % kHistory].load() == mine.signature) continue;
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
  // A writer that died in the middle leaves an odd version behind: after some tries take what is there.
  for (int attempt = 0; attempt < 100; ++attempt) {
    const std::uint32_t before = slot.version.load(std::memory_order_acquire);
    v.entered = slot.entered.load(std::memory_order_acquire);
    v.left = slot.left.load(std::memory_order_acquire);
    v.signature = slot.signature;
    std::memcpy(v.op, slot.op, sizeof v.op);
    std::memcpy(v.name, slot.name, sizeof v.name);
    std::memcpy(v.file, slot.file, sizeof v.file);
    v.line = slot.line;
    std::atomic_thread_fence(std::memory_order_acquire);
    if (before % 2 == 0 && slot.version.load(std::memory_order_relaxed) == before) break;
  }
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

}  // namespace hvd::dist
