// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "tool/compare/options.h"
#include "tool/compare/verify.h"

namespace hvdize::compare {
namespace verify_options_test {
namespace {

std::string errorOf(const std::vector<std::string>& arguments) {
  const auto parsed = parseOptions(arguments);
  const auto* error = std::get_if<UsageError>(&parsed);
  return error ? error->message : "accepted";
}

TEST(VerifyOptions, ReadsBothProgramsWithTheirArguments) {
  const auto parsed = parseOptions({"-n", "1,3", "--tolerance=1e-6", "--exclude", "bias$", "--env", "HVD_BATCH=global", "--sequential",
                                    "./a", "--batch", "256", "--distributed", "./b", "--batch", "64", "--help"});
  const auto* options = std::get_if<Options>(&parsed);
  ASSERT_NE(options, nullptr);
  EXPECT_EQ(options->ranks, (std::vector<int>{1, 3}));
  EXPECT_EQ(options->tolerance, 1e-6);
  EXPECT_EQ(options->excludeTensors, (std::vector<std::string>{"bias$"}));
  EXPECT_EQ(options->environment, (std::vector<std::string>{"HVD_BATCH=global"}));
  EXPECT_EQ(options->sequential, (std::vector<std::string>{"./a", "--batch", "256"}));
  // --help after a program is the program's.
  EXPECT_EQ(options->distributed, (std::vector<std::string>{"./b", "--batch", "64", "--help"}));
}

TEST(VerifyOptions, SaysWhatIsWrong) {
  EXPECT_EQ(errorOf({}), "--sequential PROGRAM is missing");
  EXPECT_EQ(errorOf({"--sequential", "a"}), "--distributed PROGRAM is missing");
  EXPECT_EQ(errorOf({"--sequential", "--distributed", "b"}), "--sequential PROGRAM is missing");
  EXPECT_EQ(errorOf({"--nonsense"}), "unknown option '--nonsense'");
  EXPECT_EQ(errorOf({"-n", "0"}), "-n: '0' is not a whole number from 1 to 4096");
  EXPECT_EQ(errorOf({"-n", "2x"}), "-n: '2x' is not a whole number from 1 to 4096");
  EXPECT_EQ(errorOf({"-n"}), "-n: a value is missing");
  EXPECT_EQ(errorOf({"--tolerance", "-1"}), "--tolerance: '-1' is not a number of at least 0");
  EXPECT_EQ(errorOf({"--tolerance", "nan"}), "--tolerance: 'nan' is not a number of at least 0");
  EXPECT_EQ(errorOf({"--env", "=x"}), "--env: NAME=VALUE expected, not '=x'");
  EXPECT_EQ(errorOf({"--exclude", "("}).rfind("--exclude: '(' is not a regular expression", 0), 0u);
}

TEST(VerifyOptions, HelpIsHelp) { EXPECT_TRUE(std::holds_alternative<HelpWanted>(parseOptions({"-n", "2", "--help"}))); }

TEST(VerifyLaunch, OneRankRunsByItself) { EXPECT_EQ(launchCommand({"./p", "x"}, 1, 8, "mpirun"), (std::vector<std::string>{"./p", "x"})); }

TEST(VerifyLaunch, RanksThatShareCoresYield) {
  EXPECT_EQ(launchCommand({"./p"}, 2, 2, "mpirun"), (std::vector<std::string>{"mpirun", "--oversubscribe", "-np", "2", "./p"}));
  EXPECT_EQ(launchCommand({"./p"}, 3, 2, "mpirun"),
            (std::vector<std::string>{"mpirun", "--oversubscribe", "-np", "3", "--mca", "mpi_yield_when_idle", "1", "./p"}));
}

TEST(VerifyLaunch, RanksWithoutMpi) {
  EXPECT_EQ(launchCommand({"./p", "x"}, 3, 2, "/opt/bin/hvd-run"), (std::vector<std::string>{"/opt/bin/hvd-run", "-n", "3", "./p", "x"}));
  EXPECT_EQ(launchCommand({"./p", "x"}, 1, 2, "hvd-run"), (std::vector<std::string>{"./p", "x"}));
}

}  // namespace
}  // namespace verify_options_test
}  // namespace hvdize::compare
