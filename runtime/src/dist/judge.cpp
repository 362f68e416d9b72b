// SPDX-License-Identifier: Apache-2.0

// What the board tells about the job: who is late, who waits for whom, and whether it can still go on.

#include <cstdarg>
#include <cstdio>

#include "board.hpp"

namespace hvd::dist {

namespace {

// Time for which a contradiction must last: ranks enter and leave operations while the board is being read.
constexpr double kPersists = 1.0;

// Text of bounded length, without allocation.
class Text {
 public:
  Text(char* to, std::size_t length) : to_(to), length_(length) {
    if (length_) to_[0] = '\0';
  }
  [[gnu::format(printf, 2, 3)]] void add(const char* format, ...) {
    if (used_ + 1 >= length_) return;
    va_list args;
    va_start(args, format);
    const int n = std::vsnprintf(to_ + used_, length_ - used_, format, args);
    va_end(args);
    if (n > 0) used_ += static_cast<std::size_t>(n);
    if (used_ >= length_) used_ = length_ - 1;
  }
  int used() const { return static_cast<int>(used_); }

 private:
  char* to_;
  std::size_t length_, used_ = 0;
};

void add_op(Text& out, const ChannelView& c, std::int64_t step) {
  out.add("%s '%s'", c.op, c.name);
  if (c.line && step) out.add(" (%s:%d, step %lld)", c.file, static_cast<int>(c.line), static_cast<long long>(step));
  else if (c.line) out.add(" (%s:%d)", c.file, static_cast<int>(c.line));
  else if (step) out.add(" (step %lld)", static_cast<long long>(step));
}

bool alive(const RankSlot& s) { return s.pid.load() != 0 && s.state.load() != static_cast<int>(RankState::done); }

// One channel of all ranks of the host.
struct ChannelState {
  int waiting = 0, outside = 0;
  int first_waiting = -1;          // index of a rank inside the operation most ranks have reached
  std::uint64_t furthest = 0;      // operations begun by the ranks that wait
  std::uint64_t least = ~0ull;     // operations begun by the rank that is behind
  std::uint64_t progress = 0;
};

ChannelState survey(BoardData& b, int channel) {
  ChannelState s;
  for (int i = 0; i < b.count; ++i) {
    const ChannelView c = view(b.ranks[i].channels[channel]);
    s.progress += c.entered + c.left;
    if (c.entered < s.least) s.least = c.entered;
    if (!c.inside()) {
      ++s.outside;
      continue;
    }
    ++s.waiting;
    if (s.first_waiting < 0 || c.entered > s.furthest) {
      s.first_waiting = i;
      s.furthest = c.entered;
    }
  }
  return s;
}

void list_waiting(BoardData& b, int channel, std::uint64_t furthest, Text& out) {
  bool first = true;
  for (int i = 0; i < b.count; ++i) {
    const ChannelView c = view(b.ranks[i].channels[channel]);
    if (!c.inside() || c.entered != furthest) continue;
    out.add("%s%d", first ? "" : ", ", b.ranks[i].rank);
    first = false;
  }
}

// Names the ranks that have not come, with what they did last.
void name_late(BoardData& b, int channel, const ChannelState& s, double waited, Text& out) {
  const ChannelView wanted = view(b.ranks[s.first_waiting].channels[channel]);
  const std::int64_t step = b.ranks[s.first_waiting].step.load();
  int late = 0;
  for (int i = 0; i < b.count; ++i) {
    const ChannelView c = view(b.ranks[i].channels[channel]);
    if (c.entered >= s.furthest) continue;
    out.add("%srank %d has not reached ", late++ ? "; " : "", b.ranks[i].rank);
    add_op(out, wanted, step);
    out.add("; it ");
    char last[200];
    describe_rank(b.ranks[i], last, sizeof last);
    out.add("%s", last);
  }
  if (!late) {
    out.add("no progress in ");
    add_op(out, wanted, step);
    out.add(b.world_size > b.count ? "; the late rank is on another host" : "; every rank has reached it");
  }
  out.add("; waiting since %.0f s: rank%s ", waited, s.waiting == 1 ? "" : "s");
  list_waiting(b, channel, s.furthest, out);
}

// One rank waits for one other.
void name_peer(BoardData& b, const ChannelState& s, double waited, Text& out) {
  const RankSlot& waiting = b.ranks[s.first_waiting];
  const ChannelView c = view(waiting.channels[kPeerChannel]);
  out.add("rank %d waits in ", waiting.rank);
  add_op(out, c, waiting.step.load());
  out.add(" for rank %d since %.0f s", static_cast<int>(c.signature), waited);
  for (int i = 0; i < b.count; ++i) {
    if (b.ranks[i].rank != static_cast<int>(c.signature)) continue;
    char last[200];
    describe_rank(b.ranks[i], last, sizeof last);
    out.add("; rank %d %s", b.ranks[i].rank, last);
  }
}

double effective_deadline(BoardData& b) {
  double limit = b.deadline;
  for (int i = 0; i < b.count; ++i) {
    const RankSlot& s = b.ranks[i];
    if (s.long_work.load() > 0 && s.long_limit.load() > limit) limit = s.long_limit.load();
  }
  return limit;
}

bool judge_deadline(BoardData& b, Observer& o, double elapsed, Text& out) {
  const double limit = effective_deadline(b);
  for (int ch = 0; ch < kChannels; ++ch) {
    const ChannelState s = survey(b, ch);
    if (s.waiting == 0 || s.progress != o.progress[ch]) {
      o.progress[ch] = s.progress;
      o.waited[ch] = 0;
      continue;
    }
    o.waited[ch] += elapsed;
    if (o.waited[ch] < limit) continue;
    if (ch == kPeerChannel) name_peer(b, s, o.waited[ch], out);
    else name_late(b, ch, s, o.waited[ch], out);
    return true;
  }
  return false;
}

// Two ranks in their n-th operation, and it is not the same one: they will wait for ever.
bool judge_mismatch(BoardData& b, Observer& o, double elapsed, Text& out) {
  for (int ch = 0; ch < kCollectiveChannels; ++ch) {
    int other = -1;
    const ChannelState s = survey(b, ch);
    const ChannelView first = s.first_waiting >= 0 ? view(b.ranks[s.first_waiting].channels[ch]) : ChannelView{};
    for (int i = 0; i < b.count && s.first_waiting >= 0; ++i) {
      const ChannelView c = view(b.ranks[i].channels[ch]);
      if (c.inside() && c.entered == first.entered && c.signature != first.signature) other = i;
    }
    o.mismatch[ch] = other < 0 ? 0 : o.mismatch[ch] + elapsed;
    if (other < 0 || o.mismatch[ch] < kPersists) continue;
    out.add("ranks have reached different operations: rank %d is in ", b.ranks[s.first_waiting].rank);
    add_op(out, first, b.ranks[s.first_waiting].step.load());
    out.add(", rank %d in ", b.ranks[other].rank);
    add_op(out, view(b.ranks[other].channels[ch]), b.ranks[other].step.load());
    return true;
  }
  return false;
}

// Whether `rank` is in an operation that `leaver`, on its way out, will not come to.
bool waits_for(const RankSlot& rank, const RankSlot& leaver, bool unwinding) {
  if (unwinding && view(rank.channels[kMainChannel]).inside()) return true;
  for (int ch = kReducerChannel; ch < kCollectiveChannels; ++ch) {
    const ChannelView waiting = view(rank.channels[ch]);
    if (waiting.inside() && waiting.entered > view(leaver.channels[ch]).entered) return true;
  }
  return false;
}

// A rank is on its way out, or out, and another waits for it in a gradient reduction, or has not failed with it.
bool judge_leaving(BoardData& b, Observer& o, double elapsed, Text& out) {
  int leaver = -1, stays = -1;
  for (int i = 0; i < b.count; ++i) {
    const auto state = static_cast<RankState>(b.ranks[i].state.load());
    if (state == RankState::unwinding || state == RankState::finishing) leaver = i;
  }
  if (leaver >= 0) {
    const bool unwinding = b.ranks[leaver].state.load() == static_cast<int>(RankState::unwinding);
    for (int i = 0; i < b.count; ++i) {
      if (i != leaver && waits_for(b.ranks[i], b.ranks[leaver], unwinding)) stays = i;
    }
  }
  o.leaving = stays < 0 ? 0 : o.leaving + elapsed;
  if (stays < 0 || o.leaving < kPersists) return false;
  const bool unwinding = b.ranks[leaver].state.load() == static_cast<int>(RankState::unwinding);
  out.add("rank %d has left its session%s, while ", b.ranks[leaver].rank, unwinding ? " by an exception" : "");
  char text[200];
  describe_rank(b.ranks[stays], text, sizeof text);
  out.add("rank %d %s", b.ranks[stays].rank, text);
  return true;
}

// Stopped (SIGSTOP, a debugger) while others run; a job that is suspended as a whole just waits.
bool judge_stopped(BoardData& b, Text& out) {
  constexpr int kTicks = 60;  // of the guardian, 50 ms each
  int stopped = -1, running = 0;
  for (int i = 0; i < b.count; ++i) {
    if (b.ranks[i].pid.load() == 0) continue;
    if (b.ranks[i].stopped.load() > kTicks) stopped = i;
    else if (b.ranks[i].stopped.load() == 0) ++running;
  }
  const bool after_end = stopped >= 0 && b.ranks[stopped].state.load() == static_cast<int>(RankState::done);
  if (stopped < 0 || (running == 0 && !after_end)) return false;
  char text[200];
  describe_rank(b.ranks[stopped], text, sizeof text);
  out.add("rank %d (process %d) has been stopped by a signal; it %s", b.ranks[stopped].rank, b.ranks[stopped].pid.load(), text);
  return true;
}

}  // namespace

int describe_rank(const RankSlot& slot, char* text, std::size_t length) noexcept {
  Text out(text, length);
  const ChannelView main = view(slot.channels[kMainChannel]);
  ChannelView reducer = view(slot.channels[kReducerChannel]);
  for (int ch = kReducerChannel + 1; ch < kCollectiveChannels; ++ch) {
    const ChannelView other = view(slot.channels[ch]);
    if (other.inside()) reducer = other;
  }
  if (!alive(slot) && slot.pid.load() == 0) {
    out.add("has not started its session");
    return out.used();
  }
  if (slot.long_work.load() > 0) {
    out.add("does long work '%s'", slot.long_what);
    return out.used();
  }
  const bool reducing = reducer.inside() && !main.inside();
  const ChannelView& c = reducing || main.entered == 0 ? reducer : main;
  if (c.entered == 0) {
    out.add("has not reached any operation");
    return out.used();
  }
  out.add(c.inside() ? "waits in " : "was last in ");
  add_op(out, c, slot.step.load());
  return out.used();
}

bool judge(BoardData& board, Observer& observer, double elapsed, char* text, std::size_t length) noexcept {
  Text out(text, length);
  return judge_stopped(board, out) || judge_mismatch(board, observer, elapsed, out) ||
         judge_leaving(board, observer, elapsed, out) || judge_deadline(board, observer, elapsed, out);
}

}  // namespace hvd::dist
