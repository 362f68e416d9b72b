// SPDX-License-Identifier: Apache-2.0
//
// Alone: all tests whose ranks are threads. Started by mpirun: the suites named Processes..., whose ranks are the processes; they
// are about random numbers, of which LibTorch keeps one stream per process.
#include <cstdio>
#include <cstdlib>

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <hvd/torch.hpp>

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  torch::set_num_threads(1);
  const hvd::Session session(argc, argv);
  if (::testing::GTEST_FLAG(filter) == "*") ::testing::GTEST_FLAG(filter) = hvd::size() > 1 ? "*Processes*" : "-*Processes*";
  if (!hvd::is_root()) {
    auto& listeners = ::testing::UnitTest::GetInstance()->listeners();
    delete listeners.Release(listeners.default_result_printer());
  }
  const int status = RUN_ALL_TESTS();
  if (::testing::UnitTest::GetInstance()->test_to_run_count() == 0) {
    std::fprintf(stderr, "no test was run\n");
    return 1;
  }
  // Every rank's failures are the job's.
  long failures = ::testing::UnitTest::GetInstance()->failed_test_count();
  if (hvd::size() > 1) hvd::all_reduce_sum(failures);
  return status || failures > 0;
}
