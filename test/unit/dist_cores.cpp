// SPDX-License-Identifier: Apache-2.0

// Threads of a rank: its share of the host's cores.

#include <gtest/gtest.h>

#include <vector>

#include "dist/cores.hpp"

namespace dist_cores_test {
namespace {

using hvd::dist::fair_share;

cpu_set_t cores(int first, int count) {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  for (int i = first; i < first + count; ++i) CPU_SET(i, &mask);
  return mask;
}

TEST(Cores, RanksThatMayRunAnywhereShareEqually) {
  const cpu_set_t all = cores(0, 16);
  EXPECT_EQ(fair_share(all, std::vector<cpu_set_t>(4, all)), 4);
  EXPECT_EQ(fair_share(all, std::vector<cpu_set_t>(3, all)), 5);
  EXPECT_EQ(fair_share(all, std::vector<cpu_set_t>(1, all)), 16);
}

TEST(Cores, MoreRanksThanCoresHaveOneThreadEach) {
  const cpu_set_t all = cores(0, 2);
  EXPECT_EQ(fair_share(all, std::vector<cpu_set_t>(5, all)), 1);
}

TEST(Cores, ARankThatIsBoundKeepsToItsCores) {
  EXPECT_EQ(fair_share(cores(2, 2), {cores(0, 2), cores(2, 2), cores(4, 2), cores(6, 2)}), 2);
  EXPECT_EQ(fair_share(cores(1, 1), {cores(0, 1), cores(1, 1)}), 1);
  // Two sockets of eight cores, two ranks bound to each.
  EXPECT_EQ(fair_share(cores(8, 8), {cores(0, 8), cores(0, 8), cores(8, 8), cores(8, 8)}), 4);
  // One rank has one core, the other all: neither takes more than its half, nor than it has.
  EXPECT_EQ(fair_share(cores(0, 1), {cores(0, 1), cores(0, 8)}), 1);
  EXPECT_EQ(fair_share(cores(0, 8), {cores(0, 1), cores(0, 8)}), 4);
}

}  // namespace
}  // namespace dist_cores_test
