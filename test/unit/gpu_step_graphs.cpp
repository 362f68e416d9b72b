// SPDX-License-Identifier: Apache-2.0
//
// hvd::StepGraph: a step that is noted once and repeated trains as one that is run each time.
#include <hvd/hvd.hpp>
#include <hvd/step_graph.hpp>

#include "test/unit/core_support.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace gpu_step_graphs_test {
namespace {

using hvd::Tensor;
using Tensors = std::vector<Tensor>;

class GpuStepGraphs : public testing::TestWithParam<hvd::DeviceType> {
 protected:
  void SetUp() override {
    if (const std::string problem = hvd::device_problem(GetParam()); !problem.empty()) GTEST_SKIP() << "skipped: " << problem;
    hvd::set_default_device(GetParam());
    hvd::set_deterministic(true);
    hvd::manual_seed(3);
  }
  core_tests::Defaults defaults_;
};

INSTANTIATE_TEST_SUITE_P(All, GpuStepGraphs, testing::Values(hvd::kCUBLAS, hvd::kCUDNN),
                         [](const auto& info) { return std::string(info.param == hvd::kCUBLAS ? "cublas" : "cudnn"); });

/// Layers with statistics, indices and draws of their own.
struct NetImpl : hvd::nn::Module {
  hvd::nn::Conv2d conv{nullptr};
  hvd::nn::BatchNorm2d norm{nullptr};
  hvd::nn::Linear first{nullptr}, second{nullptr};
  NetImpl() {
    conv = register_module("conv", hvd::nn::Conv2d(hvd::nn::Conv2dOptions(2, 4, 3).padding(1)));
    norm = register_module("norm", hvd::nn::BatchNorm2d(4));
    first = register_module("first", hvd::nn::Linear(4 * 5 * 5, 16));
    second = register_module("second", hvd::nn::Linear(16, 3));
  }
  Tensor forward(const Tensor& x) {
    Tensor y = norm->forward(conv->forward(x)).relu();
    y = hvd::dropout(first->forward(y.reshape({y.size(0), -1})).relu(), 0.3, is_training());
    return second->forward(y + 0.01 * hvd::randn({y.size(0), 16}));
  }
};

struct Net {
  std::shared_ptr<NetImpl> model = std::make_shared<NetImpl>();
  /// Everything that training changes.
  std::vector<Tensor> state() const {
    std::vector<Tensor> all;
    for (const auto& entry : model->named_parameters()) all.push_back(entry.tensor);
    for (const auto& entry : model->named_buffers()) all.push_back(entry.tensor);
    return all;
  }
};

struct Data {
  Tensor x = hvd::randn({60, 2, 5, 5}), y = hvd::randint(0, 3, {60});
  Tensors batch(int64_t i, int64_t rows = 6) const { return {x.slice(0, i * 6, i * 6 + rows).clone(), y.slice(0, i * 6, i * 6 + rows).clone()}; }
};

void expect_same(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) EXPECT_TRUE(hvd::equal(a[i], b[i])) << "tensor " << i << " of " << a.size();
}

/// What one way of running the step makes of a model and the losses of the steps.
struct Outcome {
  std::vector<Tensor> state, losses;
  hvd::Generator::State draws;
  bool noted = false;
};

/// Trains from the same start, with or without graphs, on 40 batches in passes of 10, the last of a pass shorter.
template <class MakeOptimizer>
Outcome train(bool graphs, MakeOptimizer make, bool clear_inside = true) {
  hvd::manual_seed(11);
  const Data data;
  Net net;
  auto optimizer = make(net.model->parameters());
  hvd::optim::StepLR schedule(*optimizer, 7, 0.5);
  const auto step = [&](const Tensors& in) -> Tensors {
    if (clear_inside) optimizer->zero_grad();
    const Tensor loss = hvd::nn::functional::cross_entropy(net.model->forward(in[0]), in[1]);
    loss.backward();
    optimizer->step();
    schedule.step();
    return {loss};
  };
  hvd::StepGraph graph(step, 2);
  Outcome out;
  for (int pass = 0; pass < 4; ++pass)
    for (int64_t i = 0; i < 10; ++i) {
      if (!clear_inside) optimizer->zero_grad();
      const Tensors in = data.batch(i, i == 9 ? 4 : 6);
      out.losses.push_back((graphs ? graph(in) : step(in))[0].detach());
      if (pass == 2 && i == 4) optimizer->set_lr(optimizer->lr() * 1.5);
    }
  out.noted = graph.noted();
  out.state = net.state();
  for (const auto& entry : optimizer->state()) out.state.push_back(entry.tensor);
  out.draws = hvd::default_generator().state();
  return out;
}

template <class MakeOptimizer>
void expect_equal_training(MakeOptimizer make, bool clear_inside = true) {
  const Outcome plain = train(false, make, clear_inside), repeated = train(true, make, clear_inside);
  EXPECT_FALSE(plain.noted);
  EXPECT_TRUE(repeated.noted);
  expect_same(plain.state, repeated.state);
  expect_same(plain.losses, repeated.losses);
  EXPECT_EQ(plain.draws.counter, repeated.draws.counter);
}

TEST_P(GpuStepGraphs, TrainsAsTheStepItselfWithSgd) {
  expect_equal_training([](auto params) { return std::make_unique<hvd::optim::SGD>(params, hvd::optim::SGDOptions(0.1).momentum(0.9).weight_decay(1e-3)); });
}
TEST_P(GpuStepGraphs, TrainsAsTheStepItselfWithAdam) {
  expect_equal_training([](auto params) { return std::make_unique<hvd::optim::AdamW>(params, hvd::optim::AdamWOptions(0.01)); });
}
// The host looks at norms in these optimizers' steps, which are the host's own.
TEST_P(GpuStepGraphs, TrainsAsTheStepItselfWithLamb) {
  expect_equal_training([](auto params) { return std::make_unique<hvd::optim::LAMB>(params, hvd::optim::LAMBOptions(0.01)); });
}
TEST_P(GpuStepGraphs, TakesGradientsThatAreClearedBeforeTheStep) {
  expect_equal_training([](auto params) { return std::make_unique<hvd::optim::RMSprop>(params, hvd::optim::RMSpropOptions(0.01)); }, false);
}

TEST_P(GpuStepGraphs, AccumulatesAcrossCalls) {
  const auto run = [&](bool graphs) {
    hvd::manual_seed(5);
    const Data data;
    Net net;
    hvd::optim::SGD optimizer(net.model->parameters(), hvd::optim::SGDOptions(0.1));
    const auto pass = [&](const Tensors& in) -> Tensors {
      const Tensor loss = hvd::nn::functional::cross_entropy(net.model->forward(in[0]), in[1]) / 2;
      loss.backward();
      return {loss};
    };
    for (const Tensor& p : net.model->parameters()) p.mutable_grad() = hvd::zeros_like(p);
    hvd::StepGraph graph(pass, 1);
    for (int64_t i = 0; i < 10; ++i) {
      graphs ? graph(data.batch(i)) : pass(data.batch(i));
      if (i % 2 == 0) continue;
      optimizer.step();
      optimizer.zero_grad(false);
    }
    EXPECT_EQ(graph.noted(), graphs);
    return net.state();
  };
  expect_same(run(false), run(true));
}

TEST_P(GpuStepGraphs, ResultsAreTheCallersOwn) {
  hvd::StepGraph graph([](const Tensors& in) -> Tensors { return {in[0] * 2, in[0].sum()}; }, 1);
  std::vector<Tensors> results;
  for (int i = 0; i < 5; ++i) results.push_back(graph({hvd::full({3}, i)}));
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(results[i][0][1].item<double>(), 2 * i);
    EXPECT_EQ(results[i][1].item<double>(), 3 * i);
  }
}

// Memory of what is noted is nobody else's, though no tensor holds it.
TEST_P(GpuStepGraphs, KeepsItsMemoryToItself) {
  hvd::StepGraph graph([](const Tensors& in) -> Tensors { return {((in[0] + 1) * (in[0] + 2)).exp().log().sum()}; }, 1);
  const Tensor x = hvd::ones({1000});
  graph({x});
  const double expected = graph({x})[0].item<double>();
  EXPECT_NEAR(expected, 6000, 1e-2);
  std::vector<Tensor> others;
  for (int i = 0; i < 50; ++i) others.push_back(hvd::full_like(x, i));
  EXPECT_EQ(graph({x})[0].item<double>(), expected);
  for (int i = 0; i < 50; ++i) EXPECT_EQ(others[i].sum().item<double>(), 1000.0 * i);
}

TEST_P(GpuStepGraphs, GivesItsMemoryBack) {
  const Tensor x = hvd::ones({100000});
  const auto use = [&] {
    hvd::StepGraph graph([](const Tensors& in) -> Tensors { return {(in[0] + 1).exp() * 3}; }, 1);
    for (int i = 0; i < 3; ++i) graph({x});
  };
  use();
  const hvd::DeviceMemoryUse before = hvd::device_memory_use();
  for (int i = 0; i < 5; ++i) use();
  const hvd::DeviceMemoryUse after = hvd::device_memory_use();
  EXPECT_EQ(before.used, after.used);
  EXPECT_EQ(before.used + before.cached, after.used + after.cached);
}

TEST_P(GpuStepGraphs, OtherInputsRunAsTheyAre) {
  hvd::StepGraph graph([](const Tensors& in) -> Tensors { return {in[0].sum() * in[0].size(0)}; }, 1);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(graph({hvd::ones({4})})[0].item<double>(), 16);
  ASSERT_TRUE(graph.noted());
  EXPECT_EQ(graph({hvd::ones({3})})[0].item<double>(), 9);
  EXPECT_EQ(graph({hvd::ones({4}, hvd::kFloat64)})[0].item<double>(), 16);
  EXPECT_EQ(graph({hvd::full({4}, 2)})[0].item<double>(), 32);
}

TEST_P(GpuStepGraphs, FindsIndicesOutOfRangeInEveryCall) {
  const Tensor table = hvd::ones({4, 2});
  hvd::StepGraph graph([&](const Tensors& in) -> Tensors { return {table.index_select(0, in[0]).sum()}; }, 1);
  const Tensor good = hvd::full({3}, 2, hvd::TensorOptions(hvd::kInt64)), bad = hvd::full({3}, 7, hvd::TensorOptions(hvd::kInt64));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(graph({good})[0].item<double>(), 6);
  const Tensor wrong = graph({bad})[0];
  EXPECT_THROW(wrong.item<double>(), hvd::Error);
  EXPECT_EQ(graph({good})[0].item<double>(), 6);
}

/// The message of what `graph` throws when it notes its step, in the second call.
std::string refusal(hvd::StepGraph& graph, const Tensors& in) {
  try {
    for (int i = 0; i < 2; ++i) graph(in);
  } catch (const hvd::Error& e) {
    return e.what();
  }
  return "";
}
std::string refusal(const hvd::StepGraph::Step& step) {
  hvd::StepGraph graph(step, 1);
  return refusal(graph, {hvd::ones({4})});
}

TEST_P(GpuStepGraphs, RefusesWhatWouldNotBeRepeated) {
  const auto says = [](const std::string& text, const char* part) { EXPECT_NE(text.find(part), std::string::npos) << "'" << text << "'"; };
  says(refusal([](const Tensors& in) -> Tensors { return {in[0] * in[0].sum().item<double>()}; }), "needs a number of the GPU");
  says(refusal([](const Tensors& in) -> Tensors { return {in[0] * static_cast<double>(hvd::randperm(4, hvd::TensorOptions(hvd::kCPU)).data_ptr<int64_t>()[0])}; }),
       "draws random numbers");
  says(refusal([](const Tensors& in) -> Tensors { return {in[0] + hvd::rand({4}, hvd::TensorOptions(hvd::kCPU)).to(GetParam())}; }), "draws random numbers");
  const Tensor there = hvd::ones({4}, hvd::TensorOptions(hvd::kCPU));
  says(refusal([&](const Tensors& in) -> Tensors { return {in[0] + there.to(GetParam())}; }), "of the host is copied");
  says(refusal([](const Tensors& in) -> Tensors { hvd::synchronize(); return in; }), "synchronize()");
  says(refusal([](const Tensors& in) -> Tensors { return {in[0].cpu()}; }), "needs a number of the GPU");
  hvd::amp::GradScaler scaler;
  says(refusal([&](const Tensors& in) -> Tensors { return {scaler.scale(in[0].sum())}; }), "loss scaler");
  // After all that the GPU works as before.
  EXPECT_EQ(hvd::ones({4}).sum().item<double>(), 4);
  EXPECT_EQ(refusal([](const Tensors& in) -> Tensors { return {in[0] + hvd::arange(4).to(in[0].dtype())}; }), "");
}

/// p -= rate grad, with a rate that falls from step to step.
class Falling : public hvd::optim::Optimizer {
 public:
  explicit Falling(std::vector<Tensor> params) : Optimizer({hvd::optim::ParamGroup(std::move(params))}, hvd::optim::SGDOptions(0.1).clone(), {}) {}
  void step() override {
    const hvd::NoGradGuard no_grad;
    for_each_gradient([](const hvd::optim::ParamGroup&, const Tensor& p, ParamState& state) { p.sub_(p.grad() * (0.1 / static_cast<double>(state.step))); });
  }
};

TEST_P(GpuStepGraphs, RefusesOptimizersOfTheProgramsOwn) {
  const Tensor w = hvd::ones({4}).requires_grad_();
  Falling optimizer({w});
  const auto step = [&](bool inside) {
    return refusal([&, inside](const Tensors& in) -> Tensors {
      optimizer.zero_grad();
      const Tensor loss = (w * in[0]).sum();
      loss.backward();
      if (inside) optimizer.step();
      return {loss};
    });
  };
  EXPECT_NE(step(true).find("an optimizer of the program's own"), std::string::npos);
  EXPECT_EQ(step(false), "");
  optimizer.step();
  EXPECT_NEAR(w.sum().item<double>(), 4 * (1 - 0.1 - 0.05), 1e-6);
}

TEST_P(GpuStepGraphs, RefusesTensorsThatWereReplaced) {
  Tensor x = hvd::ones({4});
  hvd::StepGraph graph([&](const Tensors& in) -> Tensors { return {in[0] + x}; }, 1);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(graph({hvd::ones({4})})[0].sum().item<double>(), 8);
  x.fill_(2);
  EXPECT_EQ(graph({hvd::ones({4})})[0].sum().item<double>(), 12);
  x = hvd::full({4}, 3);
  EXPECT_THROW(graph({hvd::ones({4})}), hvd::Error);
}

TEST_P(GpuStepGraphs, RefusesGradientsThatAreNotCleared) {
  const Tensor w = hvd::ones({4}).requires_grad_();
  hvd::StepGraph graph([&](const Tensors& in) -> Tensors { 
    (w * in[0]).sum().backward();
    return {w.grad() * 1};
  }, 1);
  const Tensors in = {hvd::ones({4})};
  for (int i = 0; i < 4; ++i) {
    w.mutable_grad() = Tensor();
    EXPECT_EQ(graph(in)[0].sum().item<double>(), 4);
  }
  EXPECT_THROW(graph(in), hvd::Error);
}

// What the host did for a step that could not be noted is undone where a later step would see it.
TEST_P(GpuStepGraphs, AFailedNoteLeavesNoGradientsWithoutValues) {
  const Tensor w = hvd::ones({4}).requires_grad_();
  const auto draws = hvd::default_generator().state().counter;
  hvd::StepGraph graph([&](const Tensors& in) -> Tensors {
    w.mutable_grad() = Tensor();
    const Tensor loss = (w * in[0]).sum();
    loss.backward();
    return {loss * loss.item<double>()};
  }, 1);
  EXPECT_NE(refusal(graph, {hvd::ones({4})}), "");
  EXPECT_FALSE(w.grad().defined());
  EXPECT_EQ(hvd::default_generator().state().counter, draws);
}

TEST_P(GpuStepGraphs, OnTheHostEveryCallRunsTheStep) {
  int calls = 0;
  hvd::StepGraph graph([&](const Tensors& in) -> Tensors { return ++calls, Tensors{in[0] * 2}; }, 1);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(graph({hvd::ones({2}, hvd::TensorOptions(hvd::kCPU))})[0].sum().item<double>(), 4);
  EXPECT_EQ(calls, 5);
  EXPECT_FALSE(graph.noted());
  EXPECT_THROW(hvd::StepGraph({}, 1), hvd::Error);
  EXPECT_THROW(hvd::StepGraph([](const Tensors& in) { return in; }, 0), hvd::Error);
}

}  // namespace
}  // namespace gpu_step_graphs_test
