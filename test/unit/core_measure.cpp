// SPDX-License-Identifier: Apache-2.0
#include <hvd/measure.hpp>

#include <gtest/gtest.h>

#include <thread>

namespace core_measure_test {
namespace {

TEST(CoreMeasure, TimeBelongsToThePhaseThatRuns) {
  hvd::Phases phases;
  EXPECT_EQ(phases.summary(), "");
  phases.enter("load");
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  phases.enter("train");
  phases.leave();
  const double load = phases.seconds("load");
  EXPECT_GE(load, 0.002);
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  EXPECT_EQ(phases.seconds("load"), load);
  phases.enter("load");
  phases.leave();
  EXPECT_GE(phases.seconds("load"), load);
  EXPECT_EQ(phases.seconds("save"), 0);
  EXPECT_EQ(phases.summary().find("load "), 0u);
  EXPECT_NE(phases.summary().find(", train "), std::string::npos);
}

TEST(CoreMeasure, EnergyIsSaidOrSaidToBeUnavailable) {
  const std::string summary = hvd::EnergyMeter().summary();
  EXPECT_TRUE(summary.rfind("energy unavailable: ", 0) == 0 || summary.find(" J (") != std::string::npos) << summary;
}

}  // namespace
}  // namespace core_measure_test
