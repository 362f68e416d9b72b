// SPDX-License-Identifier: Apache-2.0

// Gradients of parameters that a program updates by hand.

#include "dist/rank.hpp"
#include "state.hpp"
#include "support.hpp"

namespace hand_updated_test {
namespace {

using namespace hvd::test;

at::Tensor loss_of(const at::Tensor& w, const at::Tensor& b, std::int64_t rows, int step) {
  const at::Tensor x = hvd::shard(inputs(rows, step)), y = hvd::shard(labels(rows, step));
  return torch::nn::functional::cross_entropy(x.mm(w) + b, y);
}

at::Tensor parameter(at::IntArrayRef sizes, double from) { return numbers(sizes, from).requires_grad_(); }

// One place for all lists, as in a function that updates what it is given.
void descend(const std::vector<at::Tensor>& parameters) {
  hvd::reduce_gradients(parameters);
  const at::NoGradGuard no_grad;
  for (at::Tensor p : parameters) {
    if (!p.grad().defined()) continue;
    p.sub_(p.grad(), 0.1);
    p.grad().zero_();
  }
}

void period(std::int64_t steps) {
  hvd::dist::Rank* rank = hvd::dist::this_rank();
  if (!rank) return;
  rank->settings.period = steps;
  rank->local_phase = steps > 0;
}

struct Rows : torch::data::Dataset<Rows> {
  torch::data::Example<> get(std::size_t i) override {
    return {numbers({6}, 0.3 * static_cast<double>(i)), torch::tensor(static_cast<std::int64_t>(i * i % 3))};
  }
  c10::optional<std::size_t> size() const override { return 13; }
};

// Two passes over 13 samples in batches of 3: the last one leaves ranks without a sample.
std::vector<at::Tensor> passes(std::int64_t steps_between, const std::function<void(at::Tensor&, at::Tensor&)>& update) {
  namespace td = torch::data;
  period(steps_between);
  at::Tensor w = parameter({6, 3}, 0.2), b = parameter({3}, 0.4);
  hvd::broadcast(w, b);
  auto loader = td::make_data_loader(Rows().map(td::transforms::Stack<>()), hvd::Sharded<td::samplers::SequentialSampler>(13), td::DataLoaderOptions(3));
  for (int epoch = 0; epoch < 2; ++epoch) {
    for (auto& batch : hvd::steps(loader)) {
      hvd::weighted(torch::nn::functional::cross_entropy(batch.data.mm(w) + b, batch.target), hvd::LossKind::mean).backward();
      update(w, b);
    }
  }
  return {w.detach(), b.detach()};
}

Program in_place(std::int64_t steps_between) {
  return [=] { return passes(steps_between, [](at::Tensor& w, at::Tensor& b) { descend({w, b}); }); };
}

TEST(HandUpdated, EqualsTheSequentialProgram) { expect_as_alone(in_place(0)); }

TEST(HandUpdated, MeansAfterEachStepAreStep) { expect_as_alone(in_place(1)); }

// The first step has a slice without rows on some rank, and no broadcast has named the parameters before.
TEST(HandUpdated, ASliceWithoutRowsInTheFirstStepCountsNothing) {
  expect_as_alone([] {
    at::Tensor w = parameter({6, 3}, 0.2), b = parameter({3}, 0.4);
    for (int step = 0; step < 3; ++step) {
      hvd::StepScope scope;
      hvd::weighted(loss_of(w, b, 1, step), hvd::LossKind::mean).backward();
      descend({w, b});
    }
    return std::vector<at::Tensor>{w.detach(), b.detach()};
  });
}

// Two lists take turns at one place; the second keeps what the first one's passes have added to it.
TEST(HandUpdated, ListsOfOnePlaceStayApart) {
  expect_as_alone([] {
    at::Tensor w = parameter({6, 3}, 0.2), b = parameter({3}, 0.4), v = parameter({6, 3}, 0.9), c = parameter({3}, 0.1);
    int step = 0;
    for (const std::int64_t rows : kBatches) {
      hvd::StepScope scope;
      hvd::weighted(loss_of(w * v, b + c, rows, step), hvd::LossKind::mean).backward();
      descend({w, b});
      hvd::weighted(loss_of(w + v, b - c, rows, step++), hvd::LossKind::mean).backward();
      descend({v, c});
    }
    return std::vector<at::Tensor>{w.detach(), b.detach(), v.detach(), c.detach()};
  });
}

void replace(at::Tensor& w, at::Tensor& b) {
  hvd::reduce_gradients({w, b});
  w = (w - 0.1 * w.grad()).detach().requires_grad_();
  b = (b - 0.1 * b.grad()).detach().requires_grad_();
}

TEST(HandUpdated, NewTensorsTakeThePlaceOfTheOld) {
  expect_as_alone([] { return passes(0, replace); });
}

TEST(HandUpdated, BindingsOfReplacedTensorsDoNotPileUp) {
  std::size_t bindings = 0;
  hvd::testing::spawn(2, [&] {
    passes(0, replace);
    if (hvd::rank() == 0) bindings = hvd::torch_binding::state(*hvd::dist::this_rank()).bindings.size();
  });
  EXPECT_EQ(bindings, 1u);
}

TEST(HandUpdated, ReplacedTensorsAreRefusedWhereMeansComeLater) {
  const std::string message = failure(2, [] { passes(2, replace); });
  EXPECT_NE(message.find("hand_updated.cpp:"), std::string::npos) << message;
  EXPECT_NE(message.find("replaced by new tensors"), std::string::npos) << message;
}

TEST(HandUpdated, AParameterServerNeedsAnOptimizer) {
  const std::string message = failure(3, [] {
    hvd::dist::this_rank()->settings.server = true;
    passes(0, replace);
  });
  EXPECT_NE(message.find("hand_updated.cpp:"), std::string::npos) << message;
  EXPECT_NE(message.find("updated by hand"), std::string::npos) << message;
}

// A norm that is looked at before the update, of some of the parameters first.
TEST(HandUpdated, PartsOfAListAreReducedWithIt) {
  expect_as_alone([] {
    at::Tensor norms = at::zeros({2}, at::kDouble);
    auto ends = passes(0, [&](at::Tensor& w, at::Tensor& b) {
      hvd::reduce_gradients(b);
      norms[0] += b.grad().norm();
      hvd::reduce_gradients({w, b});
      norms[1] += w.grad().norm();
      const at::NoGradGuard no_grad;
      w.sub_(w.grad(), 0.05);  // not cleared: gradients add up
      b.sub_(b.grad(), 0.05);
    });
    ends.push_back(norms);
    return ends;
  });
}

TEST(HandUpdated, FrozenAndRepeatedParametersAreLeftOut) {
  expect_as_alone([] {
    at::Tensor w = parameter({6, 3}, 0.2), b = parameter({3}, 0.4), frozen = numbers({3}, 0.6);
    int step = 0;
    for (const std::int64_t rows : kBatches) {
      hvd::StepScope scope;
      hvd::weighted(loss_of(w, b + frozen, rows, step++), hvd::LossKind::mean).backward();
      hvd::reduce_gradients({w, frozen, b, w});
      const at::NoGradGuard no_grad;
      w.sub_(w.grad(), 0.1);
      b.sub_(b.grad(), 0.1);
      w.mutable_grad() = b.mutable_grad() = at::Tensor();
    }
    return std::vector<at::Tensor>{w.detach(), b.detach()};
  });
}

}  // namespace
}  // namespace hand_updated_test
