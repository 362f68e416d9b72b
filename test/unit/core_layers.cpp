// SPDX-License-Identifier: Apache-2.0
//
// Modules: names and lists, modes, conversion, losses, errors.
#include "test/unit/core_support.hpp"

#include <gtest/gtest.h>

#include <sstream>

namespace core_layers_test {
namespace {

using core_tests::Defaults;
using hvd::Tensor;
namespace nn = hvd::nn;
namespace F = hvd::nn::functional;

struct NetImpl : nn::Module {
  NetImpl() {
    body = register_module("body", nn::Sequential(nn::Conv2d(nn::Conv2dOptions(1, 2, 3).padding(1).bias(false)), nn::BatchNorm2d(2), nn::ReLU(),
                                                  nn::MaxPool2d(2), nn::Flatten()));
    head = register_module("head", nn::Linear(8, 3));
    register_buffer("calls", hvd::zeros({}, hvd::kInt64));
  }
  Tensor forward(const Tensor& x) { return head(body(x)); }
  nn::Sequential body{nullptr};
  nn::Linear head{nullptr};
};
HVD_MODULE(Net);

std::string names(const std::vector<hvd::NamedTensor>& list) {
  std::string out;
  for (const auto& [name, tensor] : list) out += name + " ";
  return out;
}

template <class F>
std::string error_of(F&& f) {
  try {
    f();
  } catch (const hvd::Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(CoreLayers, NamesComeInOrderOfRegistration) {
  Net net;
  EXPECT_EQ(names(net->named_parameters()), "body.0.weight body.1.weight body.1.bias head.weight head.bias ");
  EXPECT_EQ(names(net->named_buffers()), "calls body.1.running_mean body.1.running_var body.1.num_batches_tracked ");
  EXPECT_EQ(net->parameters().size(), 5u);
  EXPECT_EQ(net->modules().size(), 7u);
  EXPECT_NE(net->name().find("NetImpl"), std::string::npos);
}

TEST(CoreLayers, TrainAndEvalReachAllModules) {
  Net net;
  net->eval();
  for (const auto& m : net->modules()) EXPECT_FALSE(m->is_training());
  net->train();
  for (const auto& m : net->modules()) EXPECT_TRUE(m->is_training());
}

TEST(CoreLayers, ConversionKeepsHandles) {
  const Defaults defaults;
  Net net;
  hvd::optim::SGD optimizer(net->parameters(), 0.1);
  net->to(hvd::kFloat64);
  net->forward(hvd::rand({2, 1, 4, 4}, hvd::kFloat64)).sum().backward();
  const Tensor before = net->head->weight.detach().clone();
  optimizer.step();
  EXPECT_EQ(net->head->weight.dtype(), hvd::kFloat64);
  EXPECT_FALSE(hvd::equal(before, net->head->weight));
  EXPECT_EQ(net->named_buffers()[0].tensor.dtype(), hvd::kInt64);
}

TEST(CoreLayers, HoldersShareTheirModule) {
  nn::Linear a(2, 2), b = a;
  EXPECT_TRUE(a->weight.is_same(b->weight));
  nn::Linear empty{nullptr};
  EXPECT_TRUE(empty.is_empty());
  EXPECT_THROW(empty->forward(hvd::ones({1, 2})), hvd::Error);
}

TEST(CoreLayers, InitialValuesFollowTheFanIn) {
  const Defaults defaults;
  hvd::manual_seed(5);
  nn::Linear layer(100, 400);
  EXPECT_LE(layer->weight.abs().max().item<double>(), 0.1);
  EXPECT_GT(layer->weight.abs().max().item<double>(), 0.0999);
  EXPECT_NEAR(layer->weight.mean().item<double>(), 0, 1e-3);
  EXPECT_LE(layer->bias.abs().max().item<double>(), 0.1);
}

TEST(CoreLayers, Float32StartsFromTheRoundedFloat64Values) {
  const Defaults defaults;
  hvd::manual_seed(5);
  nn::Linear narrow(8, 8);
  hvd::set_default_dtype(hvd::kFloat64);
  hvd::manual_seed(5);
  nn::Linear wide(8, 8);
  EXPECT_TRUE(hvd::allclose(narrow->weight.to(hvd::kFloat64), wide->weight, 0, 1e-7));
}

TEST(CoreLayers, ErrorsNameOperationAndShapes) {
  nn::Linear layer(4, 2);
  EXPECT_EQ(error_of([&] { layer(hvd::ones({3, 5})); }), "linear: input [3, 5] and weight [2, 4] do not fit");
  EXPECT_EQ(error_of([&] { hvd::ones({2, 3}).mm(hvd::ones({2, 3})); }), "mm: shapes [2, 3] and [2, 3] do not multiply");
  EXPECT_EQ(error_of([&] { hvd::ones({2, 3}) + hvd::ones({2, 4}); }), "add: shapes [2, 3] and [2, 4] do not broadcast");
  EXPECT_EQ(error_of([&] { nn::Conv2d(3, 4, 3)->forward(hvd::ones({1, 2, 8, 8})); }),
            "conv2d: input [1, 2, 8, 8] and weight [4, 3, 3, 3] do not fit");
  EXPECT_EQ(error_of([&] { F::cross_entropy(hvd::ones({2, 3}), hvd::tensor({1, 3})); }), "cross_entropy: target 3 in row 1 is not one of 3 classes");
  EXPECT_EQ(error_of([&] { F::mse_loss(hvd::ones({2, 3}), hvd::ones({2})); }), "mse_loss: input [2, 3] and target [2] have different shapes");
  EXPECT_NE(error_of([&] { hvd::ones({2, 3}).view({4, -1}); }).find("view"), std::string::npos);
  EXPECT_NE(error_of([&] { hvd::ones({2, 3}).item<double>(); }).find("item"), std::string::npos);
  EXPECT_NE(error_of([&] { Tensor().sum(); }).find("undefined"), std::string::npos);
  EXPECT_NE(error_of([&] { hvd::Device("gpu"); }).find("'gpu'"), std::string::npos);
}

TEST(CoreLayers, NameClashesAreRefused) {
  struct Twice : nn::Module {
    Twice() {
      register_module("a", nn::ReLU());
      register_parameter("a", hvd::ones({1}));
    }
  };
  EXPECT_NE(error_of([] { Twice twice; }).find("'a' exists already"), std::string::npos);
}

TEST(CoreLayers, LossReductionsBelongTogether) {
  const Defaults defaults;
  hvd::set_default_dtype(hvd::kFloat64);
  const Tensor x = hvd::randn({5, 3}), y = hvd::tensor({0, 2, 1, 1, 0});
  const Tensor each = F::cross_entropy(x, y, F::CrossEntropyFuncOptions().reduction(hvd::kNone));
  const double sum = F::cross_entropy(x, y, F::CrossEntropyFuncOptions().reduction(hvd::kSum)).item<double>();
  EXPECT_NEAR(each.sum().item<double>(), sum, 1e-14);
  EXPECT_NEAR(nn::CrossEntropyLoss()(x, y).item<double>(), sum / 5, 1e-14);
  const Tensor weight = hvd::tensor({1.0, 2.0, 3.0});
  const double weighted = F::cross_entropy(x, y, F::CrossEntropyFuncOptions().weight(weight).ignore_index(2)).item<double>();
  const double* e = each.data_ptr<double>();
  EXPECT_NEAR(weighted, (e[0] + 2 * e[2] + 2 * e[3] + e[4]) / 6, 1e-14);
}

TEST(CoreLayers, ClippingScalesAllGradientsTogether) {
  Tensor a = hvd::tensor({3.0}, hvd::kFloat64).requires_grad_(), b = hvd::tensor({4.0}, hvd::kFloat64).requires_grad_();
  (a * a * 0.5 + b * b * 0.5).sum().backward();
  Tensor unused = hvd::ones({2}).requires_grad_();
  EXPECT_DOUBLE_EQ(nn::utils::clip_grad_norm_({a, unused, b}, 1.0), 5.0);
  EXPECT_NEAR(a.grad().item<double>(), 0.6, 1e-6);
  EXPECT_NEAR(b.grad().item<double>(), 0.8, 1e-6);
  EXPECT_DOUBLE_EQ(nn::utils::clip_grad_norm_({a, b}, 10.0), std::hypot(a.grad().item<double>(), b.grad().item<double>()));
  nn::utils::clip_grad_value_({a, b}, 0.7);
  EXPECT_DOUBLE_EQ(b.grad().item<double>(), 0.7);
}

TEST(CoreLayers, TensorsPrint) {
  std::ostringstream out;
  out << hvd::tensor({1.5, 2.0}, hvd::kFloat64) << ' ' << hvd::tensor(true);
  EXPECT_EQ(out.str(), "[1.5, 2] {float64 [2]} true {bool []}");
}

TEST(CoreLayers, IntegersAndComparisons) {
  const Tensor a = hvd::tensor({3, 5}), b = hvd::tensor({3, 4});
  EXPECT_EQ(a.eq(b).sum().item<int64_t>(), 1);
  EXPECT_EQ((a + 1).dtype(), hvd::kInt64);
  EXPECT_EQ((a / 2).dtype(), hvd::kFloat32);
  EXPECT_DOUBLE_EQ((a / 2)[0].item<double>(), 1.5);
  EXPECT_TRUE((a > 2).all().item<bool>());
  EXPECT_TRUE((a > 3.5).any().item<bool>());
  EXPECT_FALSE((a > 3.5).all().item<bool>());
  EXPECT_THROW(hvd::tensor({1, 2}).add_(0.5), hvd::Error);
  EXPECT_TRUE(hvd::equal(F::one_hot(hvd::tensor({1, 0}), 2), hvd::tensor({0, 1, 1, 0}).view({2, 2})));
}

TEST(CoreLayers, ExtremaCarryNaNAndFirstWinners) {
  const double nan = std::nan("");
  for (hvd::Device device : hvd::available_devices()) {
    const Tensor x = hvd::tensor({1.0, 2.0, 2.0, nan}, hvd::TensorOptions(hvd::kFloat64).device(device)).view({1, 1, 2, 2});
    EXPECT_TRUE(F::max_pool2d(x, 2).isnan().all().item<bool>());
    EXPECT_TRUE(x.max().isnan().item<bool>());
    EXPECT_TRUE(x.relu().isnan().any().item<bool>());
    EXPECT_EQ(x.flatten().narrow(0, 0, 3).argmax().item<int64_t>(), 1);
    Tensor ties = hvd::ones({1, 1, 2, 2}, hvd::TensorOptions(hvd::kFloat64).device(device)).requires_grad_();
    F::max_pool2d(ties, 2).sum().backward();
    EXPECT_DOUBLE_EQ(ties.grad().flatten()[0].item<double>(), 1);
    EXPECT_DOUBLE_EQ(ties.grad().sum().item<double>(), 1);
  }
}

}  // namespace
}  // namespace core_layers_test
