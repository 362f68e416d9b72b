// SPDX-License-Identifier: Apache-2.0
#include "group.hpp"

#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <climits>

namespace hvd::dist {

namespace {

static_assert(std::atomic<std::uint32_t>::is_always_lock_free && sizeof(std::atomic<std::uint32_t>) == 4);

void futex(std::atomic<std::uint32_t>& word, int operation, std::uint32_t value, const timespec* limit) {
  syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), operation, value, limit, nullptr, 0);
}

void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

std::size_t rounded(std::size_t bytes) { return (bytes + 4095) / 4096 * 4096; }

}  // namespace

void Counter::set(std::uint32_t to) noexcept {
  value.store(to);  // sequentially consistent with the load below: a rank that goes to sleep is seen, or sees the value
  if (sleepers.load()) futex(value, FUTEX_WAKE, INT_MAX, nullptr);
}

void Patience::wait(Counter& counter, std::uint32_t target) const {
  const int spins = urgent ? (own_core ? 20'000 : 100) : 20;
  for (int i = 0; i < spins; ++i) {
    if (counter.reached(target)) return;
    relax();
  }
  for (int i = 0; urgent && i < 200; ++i) {
    if (counter.reached(target)) return;
    sched_yield();  // the core may be shared with the rank that is waited for
  }
  counter.sleepers.fetch_add(1);
  while (!counter.reached(target)) {
    const std::uint32_t seen = counter.value.load();
    const timespec limit{0, 100'000'000};
    if (static_cast<std::int32_t>(seen - target) < 0) futex(counter.value, FUTEX_WAIT, seen, &limit);
  }
  counter.sleepers.fetch_sub(1);
}

std::size_t Group::bytes(int size) {
  const auto n = static_cast<std::size_t>(size);
  return rounded(n * sizeof(Line)) + n * 2 * kInline + n * kSlots * kChunk + n * n * sizeof(MailRing);
}

Group::Group(Mapping memory, const LocalWorld& world) : memory_(std::move(memory)), rank_(world.rank), size_(world.size) {
  const auto n = static_cast<std::size_t>(size_);
  lines_ = reinterpret_cast<Line*>(memory_.data());
  inlines_ = memory_.data() + rounded(n * sizeof(Line));
  windows_ = inlines_ + n * 2 * kInline;
  mail_ = reinterpret_cast<MailRing*>(windows_ + n * kSlots * kChunk);
}

char* Group::inline_buffer(int rank, std::uint64_t turn) const {
  return inlines_ + (static_cast<std::size_t>(rank) * 2 + turn % 2) * kInline;
}

char* Group::window(int rank, std::uint64_t turn) const {
  return windows_ + (static_cast<std::size_t>(rank) * kSlots + turn % kSlots) * kChunk;
}

MailRing& Group::mail(int from, int to) const { return mail_[from * size_ + to]; }

void Group::meet(Patience patience) {
  ++meetings_;
  lines_[rank_].arrived.set(meetings_);
  for (int r = 1; r < size_; ++r) patience.wait(lines_[(rank_ + r) % size_].arrived, meetings_);
}

}  // namespace hvd::dist
