// SPDX-License-Identifier: Apache-2.0

// HVD_CHECK: what ranks that do not agree, or that compute what is not a number, are told.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <hvd/amp.hpp>
#include <hvd/context.hpp>
#include <hvd/dist/batches.hpp>
#include <hvd/dist/broadcast.hpp>
#include <hvd/dist/gradients.hpp>
#include <hvd/dist/numbers.hpp>
#include <hvd/dist/session.hpp>
#include <hvd/optim.hpp>

#include "dist/check.hpp"
#include "dist/rank.hpp"
#include "dist_support.hpp"

namespace dist_check_test {
namespace {

using hvd::Tensor;
using hvd::dist::DataType;
using hvd::dist::ReduceOp;
using hvd::test::failure;

hvd::dist::Rank& rank() { return *hvd::dist::this_rank(); }

TEST(Check, FirstNaN) {
  std::vector<float> f(5000, 1.0f);
  EXPECT_EQ(hvd::dist::first_nan(f.data(), f.size(), DataType::float32), f.size());
  f[2049] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(hvd::dist::first_nan(f.data(), f.size(), DataType::float32), 2049u);
  std::vector<double> d(3, std::numeric_limits<double>::infinity());
  EXPECT_EQ(hvd::dist::first_nan(d.data(), d.size(), DataType::float64), 3u);
  EXPECT_EQ(hvd::dist::first_nan(nullptr, 0, DataType::float64), 0u);
}

TEST(Check, GoodProgramsPass) {
  const std::string what = failure(3, [] {
    rank().begin_check();
    double values[4] = {1, 2, 3, 4};
    rank().comm->allreduce(values, 4, DataType::float64, ReduceOp::sum, {"values"});
    rank().comm->broadcast(values, 4, DataType::float64, 2, {"values"});
    rank().comm->barrier({"wait"});
    if (values[1] != 6) throw std::runtime_error("wrong sum");
  });
  EXPECT_EQ(what, "no exception");
}

TEST(Check, TypesCountsRootsAndNames) {
  const auto told = [](auto odd, auto even) {
    return failure(4, [&] {
      rank().begin_check();
      double values[4] = {1, 2, 3, 4};
      hvd::dist::Communicator& comm = *rank().comm;
      rank().rank() == 2 ? odd(comm, values) : even(comm, values);
    });
  };
  const auto sum = [](auto& comm, double* v) { comm.allreduce(v, 4, DataType::float64, ReduceOp::sum, {"values", "a/b.cpp", 7}); };
  const std::string type = told([](auto& comm, double* v) { comm.allreduce(v, 4, DataType::float32, ReduceOp::sum, {"values"}); }, sum);
  EXPECT_EQ(type, "HVD_CHECK: ranks have reached different operations: ranks 0, 1, 3 in allreduce 'values' of 4 float64 (b.cpp:7, batch 0, "
                  "step 0, operation 1); rank 2 in allreduce 'values' of 4 float32 (batch 0, step 0, operation 1)");
  const std::string count = told([](auto& comm, double* v) { comm.allreduce(v, 3, DataType::float64, ReduceOp::sum, {"values"}); }, sum);
  EXPECT_NE(count.find("rank 2 in allreduce 'values' of 3 float64"), std::string::npos) << count;
  const std::string op = told([](auto& comm, double* v) { comm.allreduce(v, 4, DataType::float64, ReduceOp::max, {"values"}); }, sum);
  EXPECT_NE(op.find("rank 2 in"), std::string::npos) << op;
  const std::string other = told([](auto& comm, double*) { comm.barrier({"wait"}); }, sum);
  EXPECT_NE(other.find("rank 2 in barrier 'wait' (batch 0"), std::string::npos) << other;
}

// One layer, one step per batch; `before(step, parameters)` does what one rank does wrong.
template <class Before>
std::string training(int ranks, Before before, bool scaled = false) {
  return failure(ranks, [&] {
    rank().begin_check();
    hvd::manual_seed(4);
    hvd::nn::Linear net(6, 3);
    hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
    hvd::broadcast(net, opt);
    hvd::overlap(net, opt);
    hvd::amp::GradScaler scaler;
    for (int step = 0; step < 4; ++step) {
      const hvd::StepScope scope;
      Tensor x = hvd::shard(hvd::ones({8, 6}));
      opt.zero_grad();
      before(step, *net, x);
      Tensor loss = net->forward(x).square().mean();
      if (scaled) loss = scaler.scale(loss);
      hvd::weighted(loss, hvd::LossKind::mean).backward();
      hvd::reduce_gradients(opt);
      if (scaled) scaler.step(opt), scaler.update();
      else opt.step();
    }
  });
}

TEST(Check, AParameterThatDiffersIsNamedAtItsStep) {
  const std::string what = training(4, [](int step, hvd::nn::LinearImpl& net, Tensor&) {
    const hvd::NoGradGuard no_grad;
    if (step == 2 && hvd::rank() == 3) net.weight.add_(1e-7);
  });
  EXPECT_NE(what.find("HVD_CHECK: 'weight' of rank 3 is not that of rank 0 (dist_check.cpp:"), std::string::npos) << what;
  EXPECT_NE(what.find("batch 3, step 3)"), std::string::npos) << what;
}

TEST(Check, NaNIsNamedWithTensorAndRank) {
  const auto spoil = [](int step, hvd::nn::LinearImpl&, Tensor& x) {
    if (step == 1 && hvd::rank() == 1) x = x.mul(std::nan(""));
  };
  const std::string what = training(2, spoil);
  EXPECT_NE(what.find("HVD_CHECK: on rank 1 '"), std::string::npos) << what;
  EXPECT_NE(what.find("' (gradients) is NaN at element 0 of "), std::string::npos) << what;
  EXPECT_NE(what.find("batch 2"), std::string::npos) << what;
  // A scaler leaves such steps out by itself.
  EXPECT_EQ(training(2, spoil, true), "no exception");
}

TEST(Check, LocalStepsLookAtTheirOwnGradients) {
  const std::string what = failure(2, [] {
    rank().begin_check();
    rank().settings.period = 1;
    rank().local_phase = true;
    hvd::nn::Linear net(2, 2);
    hvd::optim::SGD opt(net->parameters(), hvd::optim::SGDOptions(0.1));
    hvd::broadcast(net, opt);
    for (int step = 0; step < 3; ++step) {
      const hvd::StepScope scope;
      const Tensor x = hvd::shard(hvd::ones({4, 2}));
      opt.zero_grad();
      hvd::weighted(net->forward(x).mean().mul(step == 1 && hvd::rank() == 0 ? std::nan("") : 1.0), hvd::LossKind::mean).backward();
      hvd::reduce_gradients(opt);
      opt.step();
    }
  });
  EXPECT_NE(what.find("HVD_CHECK: on rank 0 'parameter 0' (gradients) is NaN at element 0 of 4 (batch 2, step 2)"), std::string::npos) << what;
}

}  // namespace
}  // namespace dist_check_test
