// SPDX-License-Identifier: Apache-2.0
//
// Who carries buffers on GPUs, as ranks decide from what each of them has.
#include "dist/devices/plan.hpp"

#include <gtest/gtest.h>

#include <cstdio>

namespace dist_devices_test {
namespace {

using hvd::dist::BackendChoice;
using hvd::dist::DeviceFacts;
using hvd::dist::DevicePlan;
using hvd::dist::DeviceWay;

DeviceFacts rank_with(const char* gpu, int nccl, bool mpi) {
  DeviceFacts facts;
  std::snprintf(facts.gpu, sizeof facts.gpu, "%s", gpu);
  if (!*gpu) std::snprintf(facts.gpu_problem, sizeof facts.gpu_problem, "no CUDA device");
  facts.nccl = nccl;
  if (!nccl) std::snprintf(facts.nccl_problem, sizeof facts.nccl_problem, "no NCCL");
  facts.mpi_cuda = mpi;
  if (!mpi) std::snprintf(facts.mpi_problem, sizeof facts.mpi_problem, "MPI says no");
  return facts;
}

DeviceWay automatic(const std::vector<DeviceFacts>& facts) {
  const DevicePlan plan = hvd::dist::plan_devices(facts, BackendChoice::automatic);
  EXPECT_EQ(plan.error, "");
  return plan.way;
}

TEST(DevicePlan, AutoTakesWhatAllRanksHave) {
  const DeviceFacts one = rank_with("a 0", 22809, true), other = rank_with("a 1", 22809, true);
  EXPECT_EQ(automatic({one, other}), DeviceWay::nccl);
  EXPECT_EQ(automatic({one, rank_with("a 1", 0, true)}), DeviceWay::mpi_cuda);
  EXPECT_EQ(automatic({one, rank_with("a 1", 22303, true)}), DeviceWay::mpi_cuda) << "two versions of NCCL do not talk to each other";
  EXPECT_EQ(automatic({one, rank_with("a 1", 0, false)}), DeviceWay::staged);
  EXPECT_EQ(automatic({one, rank_with("", 0, false)}), DeviceWay::staged) << "a rank on a CPU";
}

TEST(DevicePlan, AutoLeavesSharedGpusToTheHost) {
  const std::vector<DeviceFacts> facts{rank_with("a 0", 22809, false), rank_with("a 1", 22809, false), rank_with("a 0", 22809, false),
                                       rank_with("b 1", 22809, false)};
  EXPECT_EQ(automatic(facts), DeviceWay::staged);
  EXPECT_EQ(hvd::dist::plan_devices(facts, BackendChoice::automatic).sharing, (std::vector<int>{0, 2}));
  const DevicePlan forced = hvd::dist::plan_devices(facts, BackendChoice::nccl);
  EXPECT_EQ(forced.way, DeviceWay::nccl);
  EXPECT_EQ(forced.error, "");
}

TEST(DevicePlan, RanksWithoutAGpuShareNone) {
  EXPECT_TRUE(hvd::dist::plan_devices({rank_with("", 0, false), rank_with("", 0, false)}, BackendChoice::automatic).sharing.empty());
}

TEST(DevicePlan, WhatWasAskedForIsThereOrTheFirstRankWithoutItIsNamed) {
  const DeviceFacts full = rank_with("a 0", 22809, true);
  const auto error = [&](const DeviceFacts& last, BackendChoice asked) { return hvd::dist::plan_devices({full, last}, asked).error; };
  EXPECT_EQ(error(rank_with("", 0, false), BackendChoice::nccl), "rank 1: no CUDA device");
  EXPECT_EQ(error(rank_with("a 1", 0, true), BackendChoice::nccl), "rank 1: no NCCL");
  EXPECT_EQ(error(rank_with("a 1", 22303, true), BackendChoice::nccl), "rank 0 has NCCL 2.28.9, rank 1 has 2.23.3");
  EXPECT_EQ(error(rank_with("a 1", 22809, false), BackendChoice::nccl), "");
  EXPECT_EQ(error(rank_with("", 0, false), BackendChoice::mpi_cuda), "rank 1: no CUDA device");
  EXPECT_EQ(error(rank_with("a 1", 22809, false), BackendChoice::mpi_cuda), "rank 1: MPI says no");
  EXPECT_EQ(error(rank_with("a 1", 0, true), BackendChoice::mpi_cuda), "");
}

TEST(DevicePlan, BackendsOfTheHostStageWhateverThereIs) {
  for (const BackendChoice asked : {BackendChoice::local, BackendChoice::mpi}) {
    const DevicePlan plan = hvd::dist::plan_devices({rank_with("a 0", 22809, true), rank_with("a 1", 22809, true)}, asked);
    EXPECT_EQ(plan.way, DeviceWay::staged);
    EXPECT_EQ(plan.error, "");
  }
}

}  // namespace
}  // namespace dist_devices_test
