// SPDX-License-Identifier: Apache-2.0

// Gradients of slices against the gradient of the whole batch, by ranks that are threads. float64, so that what is compared is
// the arithmetic and not the rounding.

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <hvd/autograd.hpp>
#include <hvd/context.hpp>
#include <hvd/dist/counts.hpp>
#include <hvd/dist/batches.hpp>
#include <hvd/dist/broadcast.hpp>
#include <hvd/dist/failure.hpp>
#include <hvd/dist/from_root.hpp>
#include <hvd/dist/gradients.hpp>
#include <hvd/dist/numbers.hpp>
#include <hvd/dist/session.hpp>
#include <hvd/dist/testing.hpp>
#include <hvd/nn.hpp>
#include <hvd/optim.hpp>

#include "dist_support.hpp"

namespace dist_gradients_test {
namespace {

using hvd::Tensor;
using hvd::test::NetImpl;
using hvd::test::failure;
using hvd::testing::spawn;
namespace F = hvd::nn::functional;

// Whoever looks at a call alone, as hvdize does at what it has written, sees whether it is possible: by pointers and handles of any
// depth, and not with what holds no model.
using Handle = hvd::nn::Linear;
template <class... T>
concept Broadcasts = requires(T&... things) { hvd::broadcast(things...); };
template <class M, class O>
concept Overlaps = requires(M& model, O& optimizer) { hvd::overlap(model, optimizer); };
template <class M>
concept Synchronises = requires(M& model) { hvd::sync_buffers(model), hvd::sync_batchnorm(model); };
static_assert(Broadcasts<Handle, Handle*, std::unique_ptr<Handle>, std::shared_ptr<NetImpl>, const Handle, NetImpl, hvd::optim::SGD, Tensor, Tensor*>);
static_assert(!Broadcasts<int> && !Broadcasts<std::string> && !Broadcasts<Handle, int*> && !Broadcasts<std::vector<Handle>> && !Broadcasts<const NetImpl>);
static_assert(Overlaps<Handle*, hvd::optim::SGD> && Overlaps<std::unique_ptr<Handle>, std::unique_ptr<hvd::optim::SGD>> && Overlaps<NetImpl, hvd::optim::SGD*>);
static_assert(!Overlaps<hvd::optim::SGD*, Handle*> && !Overlaps<Handle*, int>);
static_assert(Synchronises<Handle**> && Synchronises<NetImpl> && !Synchronises<Tensor*>);
template <class O>
concept Reduces = requires(O& optimizer) { hvd::reduce_gradients(optimizer); };
static_assert(Reduces<hvd::optim::SGD> && Reduces<std::unique_ptr<hvd::optim::Optimizer>*> && !Reduces<Handle> && !Reduces<double(*)()>);

// What every rank has alike: model, optimizer, and a batch of any size.
struct Problem {
  Problem() {
    hvd::set_default_dtype(hvd::kFloat64);
    hvd::manual_seed(3);
    net = std::make_shared<NetImpl>();
    opt = std::make_unique<hvd::optim::SGD>(net->parameters(), hvd::optim::SGDOptions(0.1));
  }
  Tensor inputs(std::int64_t rows, int which = 0) const {
    const Tensor x = hvd::empty({rows, 6});
    for (std::int64_t i = 0; i < x.numel(); ++i) x.data_ptr<double>()[i] = std::sin(0.7 * static_cast<double>(i) + which);
    return x;
  }
  Tensor targets(std::int64_t rows, int which = 0) const {
    const Tensor y = hvd::empty({rows}, hvd::kInt64);
    for (std::int64_t i = 0; i < rows; ++i) y.data_ptr<std::int64_t>()[i] = (i * i + which) % 3;
    return y;
  }
  std::vector<Tensor> gradients() const {
    std::vector<Tensor> result;
    for (const Tensor& p : net->parameters()) result.push_back(p.grad().defined() ? p.grad().clone() : Tensor());
    return result;
  }
  std::shared_ptr<NetImpl> net;
  std::unique_ptr<hvd::optim::SGD> opt;
};

void expect_same(const std::vector<Tensor>& got, const std::vector<Tensor>& wanted, const std::string& where) {
  ASSERT_EQ(got.size(), wanted.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    ASSERT_EQ(got[i].defined(), wanted[i].defined()) << where << ", gradient " << i;
    if (got[i].defined()) {
      EXPECT_TRUE(hvd::allclose(got[i], wanted[i], 1e-12, 1e-14)) << where << ", gradient " << i << "\n" << got[i] << "\n" << wanted[i];
    }
  }
}

// Runs `sequential` alone, then `distributed` on the ranks; the gradients must be those of the former everywhere.
void compare(int ranks, const std::function<void(Problem&)>& sequential, const std::function<void(Problem&)>& distributed,
             const std::string& where) {
  std::vector<Tensor> wanted;
  spawn(1, [&] {
    Problem p;
    sequential(p);
    wanted = p.gradients();
  });
  spawn(ranks, [&] {
    Problem p;
    distributed(p);
    expect_same(p.gradients(), wanted, where + ", rank " + std::to_string(hvd::rank()));
  });
}

class GradientRanks : public ::testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Sizes, GradientRanks, ::testing::Values(1, 2, 3, 4, 7));

const std::int64_t kRows[] = {1, 2, 3, 10, 33};

TEST_P(GradientRanks, MeanAndSum) {
  for (const std::int64_t rows : kRows) {
    for (const bool mean : {true, false}) {
      const auto options = F::CrossEntropyFuncOptions().reduction(mean ? hvd::kMean : hvd::kSum);
      const auto kind = mean ? hvd::LossKind::mean : hvd::LossKind::sum;
      compare(GetParam(),
              [&](Problem& p) { F::cross_entropy(p.net->forward(p.inputs(rows)), p.targets(rows), options).backward(); },
              [&](Problem& p) {
                hvd::StepScope step;
                const Tensor x = hvd::shard(p.inputs(rows)), y = hvd::shard(p.targets(rows));
                hvd::weighted(F::cross_entropy(p.net->forward(x), y, options), kind).backward();
                hvd::reduce_gradients(*p.opt);
              },
              (mean ? "mean, rows " : "sum, rows ") + std::to_string(rows));
    }
  }
}

TEST_P(GradientRanks, MeanOverCountedTerms) {
  for (const std::int64_t rows : kRows) {
    const auto options = F::CrossEntropyFuncOptions().ignore_index(2);  // some slices have no term at all
    compare(GetParam(),
            [&](Problem& p) { F::cross_entropy(p.net->forward(p.inputs(rows, 1)), p.targets(rows), options).backward(); },
            [&](Problem& p) {
              hvd::StepScope step;
              const Tensor x = hvd::shard(p.inputs(rows, 1)), y = hvd::shard(p.targets(rows));
              const double counted = hvd::counted_terms(y, options);
              EXPECT_EQ(counted, y.ne(2).sum().item<int64_t>());
              hvd::weighted(F::cross_entropy(p.net->forward(x), y, options), hvd::LossKind::counted(counted)).backward();
              hvd::reduce_gradients(*p.opt);
            },
            "counted, rows " + std::to_string(rows));
  }
}

TEST_P(GradientRanks, SwappedKindsAreWrong) {
  if (GetParam() == 1) return;  // all kinds are one there
  std::vector<Tensor> wanted;
  spawn(1, [&] {
    Problem p;
    F::cross_entropy(p.net->forward(p.inputs(10)), p.targets(10)).backward();
    wanted = p.gradients();
  });
  spawn(GetParam(), [&] {
    Problem p;
    hvd::StepScope step;
    const Tensor x = hvd::shard(p.inputs(10)), y = hvd::shard(p.targets(10));
    hvd::weighted(F::cross_entropy(p.net->forward(x), y), hvd::LossKind::sum).backward();
    hvd::reduce_gradients(*p.opt);
    EXPECT_FALSE(hvd::allclose(p.net->b->weight.grad(), wanted[2], 1e-2, 1e-3));
  });
}

TEST_P(GradientRanks, AFillerBringsNothingNotEvenNan) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const auto& kind : {hvd::LossKind::mean, hvd::LossKind::sum}) {
    const auto reduction = kind.form() == hvd::LossKind::Form::mean ? hvd::kMean : hvd::kSum;
    const auto options = F::CrossEntropyFuncOptions().reduction(reduction);
    compare(GetParam(),
            [&](Problem& p) { F::cross_entropy(p.net->forward(p.inputs(2)), p.targets(2), options).backward(); },
            [&](Problem& p) {
              hvd::StepScope step;
              Tensor x = hvd::shard(p.inputs(2));
              const Tensor y = hvd::shard(p.targets(2));
              if (hvd::current_slice() && hvd::current_slice()->filler) x = hvd::full_like(x, nan);
              hvd::weighted(F::cross_entropy(p.net->forward(x), y, options), kind).backward();
              hvd::reduce_gradients(*p.opt);
            },
            "filler");
  }
}

// Micro-batches of different sizes; `overlapped` would be refused here, so the plain reduction.
TEST_P(GradientRanks, AccumulationOverUnequalMicroBatches) {
  const std::int64_t sizes[] = {9, 4, 1, 16};
  compare(GetParam(),
          [&](Problem& p) {
            for (int m = 0; m < 4; ++m) (F::cross_entropy(p.net->forward(p.inputs(sizes[m], m)), p.targets(sizes[m], m)) / 4).backward();
          },
          [&](Problem& p) {
            for (int m = 0; m < 4; ++m) {
              hvd::StepScope step;
              const Tensor x = hvd::shard(p.inputs(sizes[m], m)), y = hvd::shard(p.targets(sizes[m], m));
              hvd::weighted(F::cross_entropy(p.net->forward(x), y) / 4, hvd::LossKind::mean).backward();
            }
            hvd::reduce_gradients(*p.opt);
            hvd::reduce_gradients(*p.opt);  // nothing new: no effect
          },
          "accumulation");
}

void backward_of(Problem& p, std::int64_t rows, int which) {
  F::cross_entropy(p.net->forward(p.inputs(rows, which)), p.targets(rows, which)).backward();
}
void sharded_backward_of(Problem& p, std::int64_t rows, int which) {
  hvd::StepScope step;
  const Tensor x = hvd::shard(p.inputs(rows, which)), y = hvd::shard(p.targets(rows, which));
  hvd::weighted(F::cross_entropy(p.net->forward(x), y), hvd::LossKind::mean).backward();
}

// Gradients that are read (clipped) in the middle of an accumulation have been reduced already; the sum still comes out.
TEST_P(GradientRanks, AccumulationGoesOnAfterAReduction) {
  for (const bool overlapped : {false, true}) {
    compare(GetParam(),
            [&](Problem& p) {
              backward_of(p, 9, 0);
              hvd::nn::utils::clip_grad_norm_(p.net->parameters(), 0.05);
              backward_of(p, 5, 1);
              backward_of(p, 2, 2);
            },
            [&](Problem& p) {
              if (overlapped) hvd::overlap(*p.net, *p.opt);
              sharded_backward_of(p, 9, 0);
              hvd::reduce_gradients(*p.opt);
              hvd::nn::utils::clip_grad_norm_(p.net->parameters(), 0.05);
              sharded_backward_of(p, 5, 1);
              hvd::reduce_gradients(*p.opt);
              sharded_backward_of(p, 2, 2);
              hvd::reduce_gradients(*p.opt);
            },
            overlapped ? "overlapped" : "plain");
  }
}

// A backward that does not reach reduced gradients leaves them as they are, for whoever reads them next.
TEST_P(GradientRanks, AnotherModelsBackwardDisturbsNothing) {
  spawn(GetParam(), [] {
    Problem first, second;
    sharded_backward_of(first, 9, 0);
    hvd::reduce_gradients(*first.opt);
    const auto before = first.gradients();
    sharded_backward_of(second, 9, 1);
    const auto between = first.gradients();
    hvd::reduce_gradients(*second.opt);
    hvd::reduce_gradients(*first.opt);
    const auto after = first.gradients();
    for (std::size_t i = 0; i < before.size(); ++i) {
      ASSERT_EQ(before[i].defined(), after[i].defined());
      if (!before[i].defined()) continue;
      EXPECT_TRUE(hvd::equal(before[i], between[i]));
      EXPECT_TRUE(hvd::equal(before[i], after[i]));
    }
  });
}

TEST_P(GradientRanks, OverlappedBucketsGiveTheSame) {
  for (const std::int64_t rows : kRows) {
    compare(GetParam(),
            [&](Problem& p) {
              for (int step = 0; step < 4; ++step) {
                p.opt->zero_grad();
                backward_of(p, rows, step);
                p.opt->step();
              }
            },
            [&](Problem& p) {
              hvd::overlap(p.net, p.opt);
              for (int step = 0; step < 4; ++step) {
                p.opt->zero_grad();
                sharded_backward_of(p, rows, step);
                hvd::reduce_gradients(p.opt);
                p.opt->step();
              }
            },
            "rows " + std::to_string(rows));
  }
}

// Layers that only some ranks reach, in a different order on each.
TEST_P(GradientRanks, ParametersThatOnlySomeRanksUse) {
  for (const bool overlapped : {false, true}) {
    const auto loss_of = [](Problem& p, bool with_unused, int which) {
      Tensor loss = p.net->forward(p.inputs(4, which)).square().mean();
      if (with_unused) loss = loss + p.net->unused->forward(hvd::ones({1, 2})).square().mean();
      return loss;
    };
    const int n = GetParam();
    compare(n,
            [&](Problem& p) {
              for (int step = 0; step < 3; ++step) {
                p.opt->zero_grad();
                for (int r = 0; r < n; ++r) (loss_of(p, r == 1 && step == 1, step) / n).backward();
              }
              p.opt->zero_grad();
              for (int r = 0; r < n; ++r) (loss_of(p, r == n - 1, 3) / n).backward();
            },
            [&](Problem& p) {
              if (overlapped) hvd::overlap(p.net, p.opt);
              for (int step = 0; step < 4; ++step) {
                p.opt->zero_grad();
                const bool with_unused = step == 3 ? hvd::rank() == n - 1 : hvd::rank() == 1 && step == 1;
                hvd::weighted(loss_of(p, with_unused, step), hvd::LossKind::mean).backward();  // outside a step: 1/n each
                hvd::reduce_gradients(*p.opt);
                EXPECT_EQ(p.net->unused->weight.grad().defined(), step == 3 || (step == 1 && n > 1));
              }
            },
            overlapped ? "overlapped" : "plain");
  }
}

TEST_P(GradientRanks, ParametersAddedLaterAreReducedToo) {
  for (const bool overlapped : {false, true}) {
    compare(GetParam(), [](Problem& p) {
              backward_of(p, 6, 0);
              backward_of(p, 6, 1);
            },
            [&](Problem& p) {
              hvd::optim::SGD opt(p.net->a->parameters(), hvd::optim::SGDOptions(0.1));
              if (overlapped) hvd::overlap(p.net->a, opt);
              sharded_backward_of(p, 6, 0);
              hvd::reduce_gradients(opt);
              std::vector<Tensor> more = p.net->b->parameters();
              for (const Tensor& t : p.net->unused->parameters()) more.push_back(t);
              opt.add_param_group(hvd::optim::ParamGroup(more));
              sharded_backward_of(p, 6, 1);
              hvd::reduce_gradients(opt);
            },
            overlapped ? "added while overlapped" : "added");
  }
}

TEST(Gradients, RanksWithDifferentModelsAreTold) {
  const std::string what = failure(2, [] {
    hvd::nn::Linear layer(4, hvd::rank() == 1 ? 3 : 2);
    hvd::optim::SGD opt(layer->parameters(), hvd::optim::SGDOptions(0.1));
    hvd::overlap(layer, opt);
  });
  EXPECT_NE(what.find("gradient 0 is 'weight' with 12 float32 elements on rank 1, but 'weight' with 8"), std::string::npos) << what;
}

TEST(Gradients, OverlapWithoutAReductionBetweenIsAnError) {
  const std::string what = failure(2, [] {
    Problem p;
    hvd::overlap(p.net, p.opt);
    sharded_backward_of(p, 4, 0);
    sharded_backward_of(p, 4, 1);
  });
  EXPECT_NE(what.find("arrives twice before reduce_gradients"), std::string::npos) << what;
}

TEST(Gradients, WarmUpGoesFromTheUnscaledRateToTheScaledOne) {
  spawn(4, [] {
    Problem p;
    hvd::optim::SGD opt(p.net->parameters(), hvd::optim::SGDOptions(hvd::scaled_lr(0.1)));
    std::vector<double> factors;
    for (int step = 0; step < 6; ++step) {
      sharded_backward_of(p, 8, step);
      hvd::reduce_gradients(opt);
      factors.push_back(opt.lr_factor());
    }
    const std::vector<double> wanted = {0.25, 0.25 + 0.75 / 4, 0.25 + 0.75 / 2, 0.25 + 0.75 * 3 / 4, 1, 1};
    for (std::size_t i = 0; i < wanted.size(); ++i) EXPECT_NEAR(factors[i], wanted[i], 1e-15);
  }, hvd::Policy().warmup_steps(4));
  spawn(4, [] {  // nothing was scaled: nothing to warm up to
    Problem p;
    sharded_backward_of(p, 8, 0);
    hvd::reduce_gradients(*p.opt);
    EXPECT_EQ(p.opt->lr_factor(), 1);
  }, hvd::Policy().warmup_steps(4));
  spawn(2, [] {
    Problem p;
    hvd::optim::SGD opt(p.net->parameters(), hvd::optim::SGDOptions(hvd::scaled_lr(0.1)));
    sharded_backward_of(p, 8, 0);
    EXPECT_THROW(hvd::reduce_gradients(opt), hvd::Error);  // epochs of what length?
    hvd::testing::forget_failure();
    hvd::dist::note_steps_per_pass(10);
    sharded_backward_of(p, 8, 0);
    hvd::dist::note_steps_per_pass(3);  // an evaluation
    hvd::reduce_gradients(opt);
    EXPECT_EQ(opt.lr_factor(), 0.5);
    hvd::dist::note_steps_per_pass(10);
    sharded_backward_of(p, 8, 1);
    hvd::reduce_gradients(opt);
    EXPECT_NEAR(opt.lr_factor(), 0.5 + 0.5 / 20, 1e-15);
  }, hvd::Policy().warmup_epochs(2));
}

TEST(Gradients, ACountThatDependsOnParametersIsAnError) {
  const Tensor plain = hvd::ones({3}), learned = hvd::ones({3}).requires_grad_();
  EXPECT_EQ(hvd::LossKind::counted(plain.sum()).count(), 3);
  EXPECT_EQ(hvd::LossKind::counted((learned * 2).sum().detach()).count(), 6);
  EXPECT_THROW(hvd::LossKind::counted((learned * 2).sum()), std::invalid_argument);
}

TEST(Gradients, OneRankIsBitwiseTheSequentialProgram) {
  const auto train = [](bool with_calls) {
    std::vector<Tensor> result;
    spawn(1, [&] {
      Problem p;
      if (with_calls) {
        hvd::broadcast(p.net, p.opt);
        hvd::overlap(p.net, p.opt);
      }
      for (int s = 0; s < 3; ++s) {
        p.opt->zero_grad();
        if (with_calls) {
          sharded_backward_of(p, 5, s);
          hvd::reduce_gradients(p.opt);
        } else {
          backward_of(p, 5, s);
        }
        p.opt->step();
      }
      for (const Tensor& t : p.net->parameters()) result.push_back(t.detach().clone());
      result.push_back(hvd::rand({4}));
    });
    return result;
  };
  const auto plain = train(false), called = train(true);
  for (std::size_t i = 0; i < plain.size(); ++i) EXPECT_TRUE(hvd::equal(plain[i], called[i]));
}

}  // namespace
}  // namespace dist_gradients_test
