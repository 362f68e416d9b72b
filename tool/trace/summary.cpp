// SPDX-License-Identifier: Apache-2.0
#include "tool/trace/summary.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <set>

namespace hvdize::trace {

namespace {

constexpr double kLate = 100;  // microseconds by which a rank must be behind to count as the last one

struct Interval {
  double start, end;
};

double overlap(const Event& event, const std::vector<Interval>& sorted) {
  double sum = 0;
  auto at = std::lower_bound(sorted.begin(), sorted.end(), event.start, [](const Interval& i, double t) { return i.end <= t; });
  for (; at != sorted.end() && at->start < event.end(); ++at) sum += std::min(event.end(), at->end) - std::max(event.start, at->start);
  return sum;
}

void addOwnTimes(const Run& run, RankSummary& rank) {
  std::vector<Interval> waits;
  double first = 0, last = 0;
  bool any = false;
  for (const Event& e : run.events) {
    if (e.rank != rank.rank) continue;
    if (!any) first = e.start;
    any = true;
    last = std::max(last, e.end());
    if (e.category == "phase") rank.phases[e.name] += e.length;
    if (e.category == "phase" && e.name == "backward") ++rank.batches;
    if (e.category == "push") {
      ++rank.pushes;
      rank.stale += e.staleness;
      rank.stalest = std::max(rank.stalest, e.staleness);
    }
    if (e.category == "wait") waits.push_back({e.start, e.end()});
    if (e.category == "wait" || (e.category == "collective" && e.track == 0)) rank.exposed += e.length;
    if (e.category != "collective" && e.category != "message") continue;
    Calls& calls = rank.operations[e.name];
    ++calls.calls;
    calls.bytes += e.bytes;
    calls.time += e.length;
  }
  rank.traced = last - first;
  for (const Event& e : run.events) {
    if (e.rank != rank.rank || e.category != "collective" || e.track == 0) continue;
    rank.background += e.length;
    rank.hidden += e.length - overlap(e, waits);
  }
}

// The same collective on all ranks has the same track and number; who comes last lets the others wait.
void findLateness(const Run& run, Summary& summary) {
  std::map<std::pair<int, std::uint64_t>, std::vector<const Event*>> groups;
  for (const Event& e : run.events)
    if (e.category == "collective") groups[{e.track, e.number}].push_back(&e);
  for (const auto& [key, events] : groups) {
    if (events.size() != summary.ranks.size() || events.size() < 2) continue;
    ++summary.matched;
    // By start: the last two say how long all were held up by one rank alone.
    const Event *last = events.back(), *before = events[events.size() - 2];
    for (const Event* e : events) summary.waited += last->start - e->start;
    const double behind = last->start - before->start;
    if (behind < kLate) continue;
    for (RankSummary& rank : summary.ranks) {
      if (rank.rank != last->rank) continue;
      rank.late += behind;
      ++rank.last;
    }
  }
  const auto slowest = std::max_element(summary.ranks.begin(), summary.ranks.end(),
                                        [](const RankSummary& a, const RankSummary& b) { return a.late < b.late; });
  double others = 0;
  for (const RankSummary& rank : summary.ranks)
    if (rank.rank != slowest->rank) others = std::max(others, rank.late);
  if (slowest->late > 2 * others && slowest->late > 0.01 * slowest->traced) summary.slowest = slowest->rank;
}

[[gnu::format(printf, 2, 3)]] void add(std::string& out, const char* format, ...) {
  char line[512];
  va_list args;
  va_start(args, format);
  std::vsnprintf(line, sizeof line, format, args);
  va_end(args);
  out += line;
}

double percent(double part, double whole) { return whole > 0 ? 100 * part / whole : 0; }

void printOperations(const std::map<std::string, Calls>& operations, std::string& out) {
  for (const auto& [name, calls] : operations)
    add(out, "  %-40s %10llu calls %14llu bytes %12.3f ms\n", name.c_str(), static_cast<unsigned long long>(calls.calls),
        static_cast<unsigned long long>(calls.bytes), calls.time * 1e-3);
}

// "local", or "local, on GPUs nccl": who has carried what.
std::string backends(const Run& run) {
  std::set<std::string> others;
  for (const Event& e : run.events)
    if (!e.backend.empty() && e.backend != run.backend) others.insert(e.backend);
  std::string text = run.backend;
  for (const std::string& other : others) text += (other == *others.begin() ? ", on GPUs " : " and ") + other;
  return text;
}

void printRank(const Run& run, const RankSummary& rank, std::string& out) {
  const auto name = run.names.find(rank.rank);
  add(out, "%s: %.3f s, %llu backward passes", name == run.names.end() ? "rank" : name->second.c_str(), rank.traced * 1e-6,
      static_cast<unsigned long long>(rank.batches));
  for (const auto& [phase, time] : rank.phases) add(out, ", %s %.1f %%", phase.c_str(), percent(time, rank.traced));
  add(out, "\n  waiting for collectives %.1f %%", percent(rank.exposed, rank.traced));
  if (rank.background > 0) add(out, ", reductions beside the program %.3f ms, hidden %.1f %%", rank.background * 1e-3, percent(rank.hidden, rank.background));
  add(out, "; last at %llu collectives, held up the others for %.3f ms\n", static_cast<unsigned long long>(rank.last), rank.late * 1e-3);
  if (rank.pushes > 0)
    add(out, "  gradients of %llu steps pushed to the server, at parameters that lacked %.2f of its steps in the mean, %llu at most\n",
        static_cast<unsigned long long>(rank.pushes), static_cast<double>(rank.stale) / static_cast<double>(rank.pushes),
        static_cast<unsigned long long>(rank.stalest));
  printOperations(rank.operations, out);
}

}  // namespace

Summary summarise(const Run& run) {
  Summary summary;
  for (const int rank : run.present) {
    RankSummary one;
    one.rank = rank;
    addOwnTimes(run, one);
    for (const auto& [name, calls] : one.operations) {
      Calls& all = summary.operations[name];
      all.calls += calls.calls;
      all.bytes += calls.bytes;
      all.time += calls.time;
    }
    summary.ranks.push_back(std::move(one));
  }
  findLateness(run, summary);
  return summary;
}

std::string print(const Run& run, const Summary& summary) {
  std::string out;
  add(out, "%d rank%s, backend %s%s\n", run.ranks, run.ranks == 1 ? "" : "s", backends(run).c_str(),
      run.complete ? "" : "; the run did not come to its end: these are the parts that its ranks have left");
  if (static_cast<int>(run.present.size()) != run.ranks) add(out, "events of %zu of %d ranks are there\n", run.present.size(), run.ranks);
  for (const RankSummary& rank : summary.ranks) printRank(run, rank, out);
  double hidden = 0, background = 0;
  for (const RankSummary& rank : summary.ranks) {
    hidden += rank.hidden;
    background += rank.background;
  }
  add(out, "all ranks:\n");
  printOperations(summary.operations, out);
  if (background > 0) add(out, "hidden behind compute: %.1f %% of the time of the reductions beside the program\n", percent(hidden, background));
  if (summary.ranks.size() > 1) {
    if (summary.slowest >= 0) add(out, "slowest rank: %d\n", summary.slowest);
    else add(out, "slowest rank: none in particular\n");
  }
  for (const std::string& line : advice(run, summary)) out += "advice: " + line + "\n";
  return out;
}

}  // namespace hvdize::trace
