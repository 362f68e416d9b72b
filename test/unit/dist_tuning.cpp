// SPDX-License-Identifier: Apache-2.0

// The table of hvd-tune.

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include <unistd.h>

#include "dist/tuning.hpp"

namespace dist_tuning_test {
namespace {

using hvd::dist::kNever;
using hvd::dist::Tuning;
using hvd::dist::TuningTable;

class TuningFile : public ::testing::Test {
 protected:
  TuningFile() : folder_(std::filesystem::temp_directory_path() / ("hvd-tuning-" + std::to_string(getpid()))) {}
  ~TuningFile() override {
    std::filesystem::remove_all(folder_);
    unsetenv("HVD_TUNING");
  }
  std::string file() const { return (folder_ / "cache" / "tuning").string(); }
  std::filesystem::path folder_;
};

TEST_F(TuningFile, IsReadAsItWasWritten) {
  TuningTable table;
  table.set("local", 2, 65536);
  table.set("local", 4, kNever);
  table.set("mpi", 2, 1048576);
  table.write(file());
  const TuningTable read = TuningTable::read(file());
  EXPECT_EQ(read.text(), table.text());
  EXPECT_EQ(read.of("local", 2).direct_from, 65536u);
  EXPECT_EQ(read.of("local", 4).direct_from, kNever);
  EXPECT_EQ(read.of("local", 3).direct_from, Tuning().direct_from);
  EXPECT_EQ(read.of("mpi", 2).exchange_from, 1048576u);
  EXPECT_EQ(read.of("mpi", 2).direct_from, Tuning().direct_from);
  setenv("HVD_TUNING", file().c_str(), 1);
  EXPECT_EQ(hvd::dist::tuning_for("local", 2).direct_from, 65536u);
  setenv("HVD_TUNING", "none", 1);
  EXPECT_EQ(hvd::dist::tuning_for("local", 2).direct_from, Tuning().direct_from);
}

TEST_F(TuningFile, WhatIsNotUnderstoodIsNamedWithItsLine) {
  std::filesystem::create_directories(folder_ / "cache");
  for (const char* bad : {"local 2 direct-from", "local 2 exchange-from 5", "nccl 2 direct-from 5", "local 1 direct-from 5", "local 2 direct-from x",
                          "local 2 direct-from 5 6", "local 2 direct-from -1"}) {
    std::ofstream(file()) << "# table\n" << bad << "\n";
    try {
      TuningTable::read(file());
      ADD_FAILURE() << bad;
    } catch (const std::exception& error) {
      EXPECT_EQ(std::string(error.what()).rfind(file() + ":2: '", 0), 0u) << error.what();
    }
  }
  EXPECT_TRUE(TuningTable::read(file() + ".none").empty());
}

}  // namespace
}  // namespace dist_tuning_test
