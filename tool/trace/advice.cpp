// SPDX-License-Identifier: Apache-2.0
//
// What a summary suggests. Each sentence names the figure that it rests on.
#include <algorithm>
#include <cstdio>

#include "tool/trace/summary.h"

namespace hvdize::trace {

namespace {

constexpr double kWorthIt = 0.1;        // share of the time below which a change is not worth the trouble
constexpr double kSmallBucket = 262144;  // bytes

std::string format(const char* text, double a, double b = 0) {
  char line[400];
  std::snprintf(line, sizeof line, text, a, b);
  return line;
}

struct Totals {
  double traced = 0, loading = 0, exposed = 0, hidden = 0, background = 0, backward = 0, late = 0;
  std::uint64_t batches = 0, reductions = 0, reducedBytes = 0, numbers = 0;
};

Totals add(const Run& run, const Summary& summary) {
  Totals t;
  for (const RankSummary& r : summary.ranks) {
    t.traced += r.traced;
    t.loading += r.phase("loading");
    t.backward += r.phase("backward");
    t.exposed += r.exposed;
    t.hidden += r.hidden;
    t.background += r.background;
    t.late += r.late;
    t.batches += r.batches;
  }
  for (const Event& e : run.events) {
    if (e.category != "collective") continue;
    if (e.track > 0) {
      ++t.reductions;
      t.reducedBytes += e.bytes;
    } else if (!e.place.empty()) {
      ++t.numbers;
    }
  }
  return t;
}

}  // namespace

std::vector<std::string> advice(const Run& run, const Summary& summary) {
  std::vector<std::string> out;
  const Totals t = add(run, summary);
  const double ranks = static_cast<double>(summary.ranks.size());
  if (t.traced <= 0) return out;
  if (t.loading > kWorthIt * t.traced)
    out.push_back(format("loading takes %.0f %% of the time: give the loader more workers, or keep the data in memory", 100 * t.loading / t.traced));
  if (ranks < 2) return out;
  const bool waits = t.exposed > kWorthIt * t.traced;
  if (summary.slowest >= 0 && waits)
    out.push_back("rank " + std::to_string(summary.slowest) +
                  format(" comes last and holds the others up for %.0f ms in all: see what else runs on its cores, and whether its loading is slower",
                         t.late * 1e-3));
  if (waits && t.background > 0 && t.hidden < 0.5 * t.background && summary.slowest < 0)
    out.push_back(format("%.0f %% of the time is spent waiting, and only %.0f %% of the reductions run beside the backward pass: larger batches, or "
                         "HVD_SYNC=periodic:K, where the program may be run with it, make fewer of them",
                         100 * t.exposed / t.traced, 100 * t.hidden / t.background));
  const double bucket = t.reductions ? static_cast<double>(t.reducedBytes) / static_cast<double>(t.reductions) : 0;
  const double perBatch = t.batches ? static_cast<double>(t.reductions) / static_cast<double>(t.batches) : 0;
  if (waits && perBatch > 4 && bucket < kSmallBucket)
    out.push_back(format("a step makes %.0f reductions of %.0f bytes: a larger HVD_BUCKET_MB makes fewer", perBatch, bucket));
  if (waits && t.batches && t.numbers > 2 * t.batches)
    out.push_back(format("%.1f collectives a step are for numbers that the program shows or decides on: show them less often",
                         static_cast<double>(t.numbers) / static_cast<double>(t.batches)));
  if (out.empty()) out.push_back(format("waiting for collectives takes %.1f %% of the time: little to gain there", 100 * t.exposed / t.traced));
  return out;
}

}  // namespace hvdize::trace
