// SPDX-License-Identifier: Apache-2.0

// What the job's policy makes of rates, steps and sizes of batches, by ranks that are threads.

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include <hvd/context.hpp>
#include <hvd/dist/batches.hpp>
#include <hvd/dist/failure.hpp>
#include <hvd/dist/lr_rules.hpp>
#include <hvd/dist/numbers.hpp>
#include <hvd/dist/testing.hpp>
#include <hvd/optim.hpp>

namespace dist_policies_test {
namespace {

using hvd::testing::spawn;

TEST(Policies, OptimizersKnowTheirRules) {
  const std::vector<hvd::Tensor> w{hvd::ones({2})};
  using hvd::LrRule;
  EXPECT_EQ(hvd::rule_of(hvd::optim::SGD(w, 0.1)), LrRule::linear);
  EXPECT_EQ(hvd::rule_of(hvd::optim::LARS(w, hvd::optim::LARSOptions(0.1))), LrRule::linear);
  EXPECT_EQ(hvd::rule_of(hvd::optim::Adam(w, 0.1)), LrRule::sqrt);
  EXPECT_EQ(hvd::rule_of(hvd::optim::AdamW(w, 0.1)), LrRule::sqrt);
  EXPECT_EQ(hvd::rule_of(hvd::optim::RMSprop(w, 0.1)), LrRule::sqrt);
  EXPECT_EQ(hvd::rule_of(hvd::optim::LAMB(w, hvd::optim::LAMBOptions(0.1))), LrRule::sqrt);
  hvd::optim::SGD optimizer(w, 0.1);
  EXPECT_EQ(hvd::rule_of(optimizer.param_groups()[0].options()), LrRule::linear);
  class OwnOptions : public hvd::optim::OptimizerOptions {
   public:
    std::unique_ptr<OptimizerOptions> clone() const override { return std::make_unique<OwnOptions>(); }
    double get_lr() const override { return 0; }
    void set_lr(double) override {}
  };
  EXPECT_THROW(hvd::rule_of(OwnOptions()), hvd::Error);
}

TEST(Policies, RatesStepsAndBatches) {
  spawn(4, [] {
    EXPECT_EQ(hvd::global_batch_size(32), 128);
    EXPECT_EQ(hvd::scaled_lr(0.1), 0.1 * 4);
    EXPECT_EQ(hvd::scaled_lr(0.1f), 0.4f);
    EXPECT_EQ(hvd::scaled_lr(0.1, hvd::LrRule::sqrt), 0.2);
    EXPECT_EQ(hvd::scaled_lr(0.1, hvd::LrRule::none), 0.1);
    EXPECT_EQ(hvd::scaled_steps(10), 10);
  });
  spawn(4, [] {
    EXPECT_EQ(hvd::global_batch_size(32), 32);
    EXPECT_EQ(hvd::scaled_lr(0.1), 0.1);
    EXPECT_EQ(hvd::scaled_steps(10), 10);
  }, hvd::Policy().batch(hvd::Batch::global).divide_steps(true));
  spawn(4, [] {
    EXPECT_EQ(hvd::scaled_lr(0.1), 0.2);  // the policy's rule wins
    EXPECT_EQ(hvd::scaled_lr(0.1, hvd::LrRule::none), 0.2);
    EXPECT_EQ(hvd::scaled_steps(10), 3);
    EXPECT_EQ(hvd::scaled_steps(std::size_t{12}), 3u);
  }, hvd::Policy().lr_scaling(hvd::LrRule::sqrt).divide_steps(true));
  spawn(1, [] {
    EXPECT_EQ(hvd::scaled_lr(0.1), 0.1);
    EXPECT_EQ(hvd::scaled_steps(10), 10);
    EXPECT_EQ(hvd::global_batch_size(32), 32);
  }, hvd::Policy().lr_scaling(hvd::LrRule::sqrt).divide_steps(true));
}

TEST(Policies, BatchesThatRowsAreDividedInto) {
  spawn(3, [] {
    const int batch = hvd::global_batch_size(8);
    EXPECT_EQ(hvd::whole_batches(48, batch), 2);
    EXPECT_EQ(hvd::whole_batches(47, batch), 1);
    EXPECT_EQ(hvd::whole_batches(24, batch), 1);
    EXPECT_EQ(hvd::whole_batches(16, batch), 1);  // two batches for one rank alone, and a short one for the job
    EXPECT_EQ(hvd::whole_batches(8, batch), 1);
    EXPECT_EQ(hvd::whole_batches(7, batch), 0);
    EXPECT_EQ(hvd::whole_batches(0, batch), 0);
    static_assert(std::is_same_v<decltype(hvd::whole_batches(std::size_t{40}, batch)), std::size_t>);
    EXPECT_THROW(hvd::whole_batches(40, 0), std::invalid_argument);
  });
  spawn(3, [] { EXPECT_EQ(hvd::whole_batches(44, hvd::global_batch_size(8)), 5); }, hvd::Policy().batch(hvd::Batch::global));
  spawn(1, [] { EXPECT_EQ(hvd::whole_batches(44, hvd::global_batch_size(8)), 5); });
}

TEST(Policies, AShortLastBatchIsNotMeantByTheSizeOfAll) {
  spawn(2, [] {
    const int64_t batch = hvd::global_batch_size(int64_t{4});
    hvd::StepScope step;
    hvd::shard(hvd::ones({6, 2}));
    EXPECT_EQ(hvd::local_batch_size(6), 3);
    for (const int64_t other : {batch, int64_t{7}}) {
      std::string told;
      try {
        hvd::local_batch_size(other);
      } catch (const hvd::Error& error) { told = error.what(); }
      EXPECT_NE(told.find(" is not the size of the current batch, 6"), std::string::npos) << told;
      EXPECT_EQ(told.find("HVD_BATCH=global") != std::string::npos, other == batch) << told;  // what helps is named where it does
    }
    hvd::testing::forget_failure();
  });
}

TEST(Policies, ASessionChecksThatAllRanksAgree) {
  EXPECT_THROW(spawn(2, [] {
    hvd::Session session(hvd::Policy().warmup_steps(hvd::rank()));
  }), std::runtime_error);
  spawn(2, [] {
    hvd::Session session(hvd::Policy().batch(hvd::Batch::global));
    EXPECT_EQ(hvd::policy().batch(), hvd::Batch::global);
  });
}

}  // namespace
}  // namespace dist_policies_test
