// SPDX-License-Identifier: Apache-2.0

// How periods change, by rules alone, and in runs whose number of messages tells.

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "dist/settings.hpp"
#include "dist/strategy/period.hpp"

namespace dist_period_test {
namespace {

using hvd::dist::Period;
using hvd::dist::PeriodRule;
using hvd::dist::read_period;
using Kind = PeriodRule::Kind;

PeriodRule rule(const std::string& text) {
  PeriodRule r;
  EXPECT_TRUE(read_period(text, r)) << text;
  return r;
}

// The periods of so many epochs, one after the other.
std::vector<std::int64_t> epochs(const std::string& text, int count) {
  Period period(rule(text));
  std::vector<std::int64_t> all;
  for (int i = 0; i < count; ++i) {
    all.push_back(period.now());
    period.epoch_over(1);
    period.mean_taken(1, 1, 1);
  }
  return all;
}

using Periods = std::vector<std::int64_t>;

TEST(PeriodRules, FromText) {
  EXPECT_EQ(rule("7").kind, Kind::fixed);
  EXPECT_EQ(rule("7").period, 7);
  EXPECT_EQ(rule("grow:2:3").longest, 1024);
  EXPECT_EQ(rule("grow:2:3:16").longest, 16);
  EXPECT_EQ(rule("sawtooth:2:3:16").epochs, 3);
  EXPECT_EQ(rule("time:4:2.5").percent, 2.5);
  EXPECT_EQ(rule("overhead:10").period, 1);
  EXPECT_EQ(rule("adaptive:10:0.05:64").drift, 0.05);
  for (const char* bad : {"", "0", "-1", "x", "4:", "4:2", "grow:2", "grow:2:0", "grow:2:3:1", "grow:2:3:4:5", "sawtooth:2:3", "inverse-sawtooth:8",
                          "time:0", "overhead:100", "overhead:0", "adaptive:5:0", "adaptive", "grow:2:3:"}) {
    PeriodRule r;
    EXPECT_FALSE(read_period(bad, r)) << bad;
  }
}

TEST(PeriodRules, ByEpochs) {
  EXPECT_EQ(epochs("5", 4), (Periods{5, 5, 5, 5}));
  EXPECT_EQ(epochs("grow:1:2:5", 9), (Periods{1, 1, 2, 2, 4, 4, 5, 5, 5}));
  EXPECT_EQ(epochs("sawtooth:2:1:8", 7), (Periods{2, 4, 8, 2, 4, 8, 2}));
  EXPECT_EQ(epochs("inverse-sawtooth:8:1", 7), (Periods{8, 4, 2, 1, 8, 4, 2}));
}

TEST(PeriodRules, ByTheTimeOfEpochs) {
  Period period(rule("time:2:10"));
  const auto after = [&](double seconds) {
    period.epoch_over(seconds);
    return period.now();
  };
  EXPECT_EQ(after(10), 4);   // nothing to compare with: longer
  EXPECT_EQ(after(8), 8);    // quicker: longer still
  EXPECT_EQ(after(7.8), 8);  // as quick: stays
  EXPECT_EQ(after(9), 4);    // slower: back
  EXPECT_EQ(after(7), 2);    // and that was right
  EXPECT_EQ(after(8), 4);
}

TEST(PeriodRules, ByTheShareOfTheMeans) {
  Period period(rule("overhead:20:50"));
  period.mean_taken(1, 1, 9);  // 1 / (1 + 4) is 20 %
  EXPECT_EQ(period.now(), 4);
  period.mean_taken(1, 0.5, 9);
  EXPECT_EQ(period.now(), 8);
  period.mean_taken(0.01, 1, 9);
  EXPECT_EQ(period.now(), 1);
  period.mean_taken(1000, 1, 9);
  EXPECT_EQ(period.now(), 50);
  period.mean_taken(1, 0, 9);  // nothing measured
  EXPECT_EQ(period.now(), 50);
}

TEST(PeriodRules, ByShareAndDrift) {
  Period period(rule("adaptive:20:0.1:64"));
  const auto after = [&](double mean, double drift) {
    period.mean_taken(mean, 1, drift);
    return period.now();
  };
  EXPECT_EQ(after(4, 0.01), 2);  // 16 would be needed: longer, by steps
  EXPECT_EQ(after(4, 0.01), 4);
  EXPECT_EQ(after(4, 0.2), 2);   // too far apart, whatever the means cost
  EXPECT_EQ(after(4, 0.2), 1);
  EXPECT_EQ(after(4, 0.2), 1);
  EXPECT_EQ(after(4, 0.09), 2);
  EXPECT_EQ(after(0.5, 0.09), 2);  // short enough
  for (int i = 0; i < 10; ++i) after(1000, 0.01);
  EXPECT_EQ(period.now(), 64);
  EXPECT_EQ(after(0.01, 0.09), 64);
  EXPECT_EQ(after(0.01, 0.01), 32);  // means cost next to nothing: more of them
}

TEST(PeriodRules, FromTheEnvironment) {
  setenv("HVD_SYNC", "post-local:10:grow:2:1:16", 1);
  const hvd::dist::Settings good = hvd::dist::read_settings({});
  setenv("HVD_SYNC", "periodic:grow:2", 1);
  const hvd::dist::Settings bad = hvd::dist::read_settings({});
  unsetenv("HVD_SYNC");
  EXPECT_EQ(good.error, "");
  EXPECT_EQ(good.local_after, 10);
  EXPECT_EQ(good.period, 2);
  EXPECT_EQ(good.rule.kind, Kind::grow);
  EXPECT_NE(bad.error.find("HVD_SYNC='periodic:grow:2' is not understood: step, periodic:K"), std::string::npos) << bad.error;
}

}  // namespace
}  // namespace dist_period_test
