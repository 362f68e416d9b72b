// SPDX-License-Identifier: Apache-2.0

// Clocks of ranks against the root's.

#include <gtest/gtest.h>

#include <vector>

#include "dist/trace.hpp"

namespace dist_trace_test {
namespace {

using hvd::dist::best_offset;
using hvd::dist::Ping;

TEST(Trace, TheQuickestMessageTellsTheOffset) {
  // The root's clock is 1000 ahead. Ways there and back: 300 and 100, 10 and 12, 50 and 900.
  const std::vector<Ping> pings = {{0, 1300, 400}, {1000, 2010, 1022}, {2000, 3050, 2950}};
  EXPECT_EQ(best_offset(pings), 999);  // half the difference between the ways, 1, is what cannot be known
  EXPECT_EQ(best_offset({}), 0);
  EXPECT_EQ(best_offset({{100, 50, 100}}), -50);
}

}  // namespace
}  // namespace dist_trace_test
