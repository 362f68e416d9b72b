// SPDX-License-Identifier: Apache-2.0
//
// Several samples in a row: what is said where a rank's slice does not make whole rows, and where it is not the slice that is wrong.
#include "support.hpp"

#include "dist/rank.hpp"

namespace hvd::test {
namespace folded_samples_test {
namespace {

// What LibTorch's error of the reshape is explained by, on the last of so many ranks.
std::string explained(int ranks, int64_t batch, int64_t numbers_each, std::vector<int64_t> shape) {
  std::string why;
  hvd::testing::spawn(ranks, [&] {
    hvd::StepScope scope;
    const at::Tensor x = hvd::shard(at::ones({batch, numbers_each}));
    if (hvd::rank() + 1 != hvd::size()) return;
    try {
      (void)x.reshape(shape);
      why = "no error";
    } catch (const std::exception& e) {
      why = hvd::dist::binding_explains(e.what());
    }
  });
  return why;
}

TEST(TorchFoldedSamples, AnOddSliceIsExplained) {
  EXPECT_EQ(explained(2, 6, 12, {-1, 24}), "HVD4003: the program puts 2 samples of 12 numbers together in rows of 24, and this rank has 3 of the 6 samples of the batch: the slice of "
                                           "every rank must be a multiple of 2");
  EXPECT_NE(explained(2, 6, 12, {3, 4, 6}).find("HVD4003: the program puts 2 samples of 12"), std::string::npos);
  EXPECT_NE(explained(2, 4, 9, {-1, 12}).find("HVD4003: the program puts 4 samples of 9"), std::string::npos);
  EXPECT_NE(explained(4, 2, 12, {-1, 24}).find("this rank has 1 of the 2"), std::string::npos);
}

TEST(TorchFoldedSamples, OtherErrorsAreNot) {
  EXPECT_EQ(explained(2, 8, 12, {-1, 24}), "no error");
  EXPECT_EQ(explained(2, 5, 12, {-1, 24}), "");  // the whole batch does not fit either
  EXPECT_EQ(explained(2, 6, 12, {-1, 5}), "");
  EXPECT_EQ(explained(2, 6, 12, {7}), "");
  EXPECT_EQ(hvd::dist::binding_explains("shape '[-1, 24]' is invalid for input of size 36"), "");  // in no step
}

}  // namespace
}  // namespace folded_samples_test
}  // namespace hvd::test
