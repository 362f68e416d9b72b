// SPDX-License-Identifier: Apache-2.0

// Standard input of the root for all ranks, and messages of the rank that has an error.

#include <gtest/gtest.h>

#include <cstdio>
#include <iomanip>
#include <sstream>
#include <string>
#include <vector>

#include <hvd/dist/errors.hpp>
#include <hvd/dist/input.hpp>
#include <hvd/dist/testing.hpp>

namespace dist_console_test {
namespace {

using hvd::testing::spawn;

class ConsoleRanks : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Sizes, ConsoleRanks, ::testing::Values(1, 2, 3, 5));

TEST_P(ConsoleRanks, AllRanksReadWhatTheRootReads) {
  std::istringstream input("3 0.5\n  name of it\n\n4 5\n6 end");
  spawn(GetParam(), [&] {
    std::istream& in = hvd::root_input(input);
    EXPECT_EQ(&in == &input, hvd::size() == 1);
    int n = 0, value = 0, sum = 0;
    double rate = 0;
    std::string name, rest;
    in >> n >> rate;
    EXPECT_EQ(n, 3);
    EXPECT_EQ(rate, 0.5);
    std::getline(in >> std::ws, name);
    EXPECT_EQ(name, "name of it");
    while (hvd::root_input(input) >> value) sum += value;
    EXPECT_EQ(sum, 15);
    EXPECT_TRUE(in.fail());
    in.clear();
    in >> rest;
    EXPECT_EQ(rest, "end");
    EXPECT_TRUE(in.eof());
    EXPECT_FALSE(in >> rest);
  });
}

TEST_P(ConsoleRanks, WhatAllFindWrongTheRootSays) {
  std::vector<std::ostringstream> shown(static_cast<std::size_t>(GetParam()));
  spawn(GetParam(), [&] {
    auto& mine = shown[static_cast<std::size_t>(hvd::rank())];
    hvd::error_stream(mine) << "no data in " << std::setprecision(2) << 0.123 << std::endl;
    EXPECT_EQ(mine.precision(), 2);
  });
  EXPECT_EQ(shown[0].str(), "no data in 0.12\n");
  for (std::size_t r = 1; r < shown.size(); ++r) EXPECT_EQ(shown[r].str(), "");
}

TEST(Errors, TheRankThatHasTheErrorSaysIt) {
  std::vector<std::ostringstream> shown(3);
  spawn(3, [&] {
    if (hvd::rank() == 1) hvd::error_stream(shown[1]) << "out of memory\nat step " << 7;
    if (hvd::rank() != 0) hvd::error_stream(shown[static_cast<std::size_t>(hvd::rank())]) << "\nno disk\n";
  });
  EXPECT_EQ(shown[0].str(), "");
  const std::string first = "rank 1: out of memory\nrank 1: at step 7";
  EXPECT_EQ(shown[1].str().substr(0, first.size()), first);
  // Both of them found no disk, and the root did not: one says so.
  const std::string rest = shown[1].str().substr(first.size());
  EXPECT_NE(rest.empty(), shown[2].str().empty());
  EXPECT_EQ(rest + shown[2].str(), rest.empty() ? "rank 2: \nrank 2: no disk\n" : "rank 1: \nrank 1: no disk\n");
}

TEST(Errors, CallsOfTheCLibrary) {
  char* text = nullptr;
  std::size_t length = 0;
  std::FILE* file = open_memstream(&text, &length);
  spawn(2, [&] {
    if (hvd::rank() == 1) hvd::error_call(std::fprintf)(file, "no %s at %d\n", "file", 3);
  });
  spawn(1, [&] {
    EXPECT_EQ(hvd::error_call(std::fputs)("plain\n", file) >= 0, true);
  });
  std::fclose(file);
  EXPECT_EQ(std::string(text, length), "rank 1: no file at 3\nplain\n");
  std::free(text);
}

}  // namespace
}  // namespace dist_console_test
