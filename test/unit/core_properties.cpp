// SPDX-License-Identifier: Apache-2.0
//
// Operations against what they must be by definition, written with other operations.
#include "test/unit/core_support.hpp"

namespace core_properties_test {
namespace {

using core_tests::Defaults;
using core_tests::difference;
using hvd::Tensor;
namespace F = hvd::nn::functional;
namespace nn = hvd::nn;

class CoreProperties : public testing::Test {
 protected:
  CoreProperties() {
    hvd::set_default_dtype(hvd::kFloat64);
    hvd::manual_seed(12);
  }
  Defaults defaults_;
};

TEST_F(CoreProperties, DilationIsAKernelWithZerosBetween) {
  const Tensor x = hvd::randn({2, 3, 9, 8}), w = hvd::randn({4, 3, 3, 2}), spread = hvd::zeros({4, 3, 5, 4});
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 2; ++j) spread.narrow(2, 2 * i, 1).narrow(3, 3 * j, 1).copy_(w.narrow(2, i, 1).narrow(3, j, 1));
  EXPECT_LT(difference(F::conv2d(x, w, {}, {2, 1}, {1, 2}, {2, 3}), F::conv2d(x, spread, {}, {2, 1}, {1, 2})), 1e-13);
}

TEST_F(CoreProperties, GroupsAreConvolutionsSideBySide) {
  const Tensor x = hvd::randn({2, 6, 5, 7}), w = hvd::randn({9, 2, 3, 3});
  std::vector<Tensor> parts;
  for (int g = 0; g < 3; ++g) parts.push_back(F::conv2d(x.narrow(1, 2 * g, 2), w.narrow(0, 3 * g, 3), {}, {1}, {1}));
  EXPECT_LT(difference(F::conv2d(x, w, {}, {1}, {1}, {1}, 3), hvd::cat(parts, 1)), 1e-13);
}

TEST_F(CoreProperties, TransposedConvolutionIsTheAdjoint) {
  const Tensor w = hvd::randn({4, 3, 3, 2}), x = hvd::randn({2, 6, 7, 9}), in = hvd::randn({2, 6, 7, 9});
  const Tensor weights = hvd::randn({8, 3, 3, 2});
  const Tensor y = F::conv2d(x, weights, {}, {2, 2}, {1, 0}, {1, 2}, 2), g = hvd::randn(y.sizes());
  const Tensor back = F::conv_transpose2d(g, weights, {}, {2, 2}, {1, 0}, {0, 0}, 2, {1, 2});
  ASSERT_EQ(back.sizes(), x.sizes());
  EXPECT_NEAR((y * g).sum().item<double>(), (x * back).sum().item<double>(), 1e-10);
}

TEST_F(CoreProperties, OutputPaddingAddsRowsAtTheEnd) {
  const Tensor x = hvd::randn({1, 2, 3, 4}), w = hvd::randn({2, 3, 3, 3});
  const Tensor plain = F::conv_transpose2d(x, w, {}, {2}, {1}), longer = F::conv_transpose2d(x, w, {}, {2}, {1}, {1, 0});
  EXPECT_EQ(plain.size(2) + 1, longer.size(2));
  EXPECT_LT(difference(longer.narrow(2, 0, plain.size(2)), plain), 1e-14);
  EXPECT_THROW(F::conv_transpose2d(x, w, {}, {2}, {1}, {2}), hvd::Error);
}

TEST_F(CoreProperties, AveragesAreMeans) {
  const Tensor x = hvd::randn({2, 3, 6, 4});
  EXPECT_LT(difference(F::adaptive_avg_pool2d(x, 1).flatten(1), x.mean({2, 3})), 1e-14);
  EXPECT_LT(difference(F::adaptive_avg_pool2d(x, F::AdaptiveAvgPool2dFuncOptions({3, 2})), F::avg_pool2d(x, 2)), 1e-14);
  EXPECT_LT(difference(F::adaptive_avg_pool2d(x, F::AdaptiveAvgPool2dFuncOptions({6, 4})), x), 1e-15);
  const Tensor ones = hvd::ones({1, 1, 3, 3}), options_less = F::avg_pool2d(ones, F::AvgPool2dFuncOptions(2).padding(1).count_include_pad(false));
  EXPECT_LT(difference(options_less, hvd::ones({1, 1, 2, 2})), 1e-15);
  EXPECT_DOUBLE_EQ(F::avg_pool2d(ones, F::AvgPool2dFuncOptions(2).padding(1)).flatten()[0].item<double>(), 0.25);
}

TEST_F(CoreProperties, LayerNormHasMeanZeroAndVarianceOne) {
  const Tensor y = F::layer_norm(hvd::randn({4, 3, 50}) * 7 + 2, {3, 50}, {}, {}, 0);
  EXPECT_NEAR(y.flatten(1).mean(1).abs().max().item<double>(), 0, 1e-13);
  EXPECT_NEAR((y.square().flatten(1).mean(1) - 1).abs().max().item<double>(), 0, 1e-12);
}

TEST_F(CoreProperties, ActivationsHaveKnownValues) {
  const Tensor x = hvd::tensor({-1.0, 0.0, 1.0, 40.0, -40.0});
  const Tensor gelu = F::gelu(x), approximate = F::gelu(x, "tanh"), softplus = F::softplus(x);
  EXPECT_NEAR(gelu[2].item<double>(), 0.84134474606854293, 1e-15);
  EXPECT_NEAR(gelu[0].item<double>(), -0.15865525393145705, 1e-15);
  EXPECT_NEAR(approximate[2].item<double>(), 0.8411919906082768, 1e-15);
  EXPECT_NEAR(softplus[1].item<double>(), std::log(2), 1e-15);
  EXPECT_DOUBLE_EQ(softplus[3].item<double>(), 40);
  EXPECT_NEAR(softplus[4].item<double>() / std::exp(-40.0), 1, 1e-12);
  EXPECT_DOUBLE_EQ(F::leaky_relu(x, 0.1)[0].item<double>(), -0.1);
  EXPECT_THROW(F::gelu(x, "erf"), hvd::Error);
}

TEST_F(CoreProperties, MatrixProductsOfABatchAreSingleOnes) {
  const Tensor a = hvd::randn({2, 3, 4, 5}), b = hvd::randn({3, 5, 2});
  const Tensor y = a.matmul(b);
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 3; ++j) EXPECT_LT(difference(y[i][j], a[i][j].mm(b[j])), 1e-14);
  EXPECT_THROW(a.matmul(hvd::randn({4, 5})), hvd::Error);
  EXPECT_THROW(a[0].bmm(hvd::randn({2, 5, 2})), hvd::Error);
}

TEST_F(CoreProperties, PartsJoinAgain) {
  const Tensor x = hvd::randn({7, 5});
  EXPECT_EQ(x.split(3).size(), 3u);
  EXPECT_TRUE(hvd::equal(hvd::cat(x.split(3)), x));
  EXPECT_TRUE(hvd::equal(hvd::cat(x.chunk(2, 1), 1), x));
  EXPECT_EQ(x.chunk(2, 1)[0].size(1), 3);
  EXPECT_THROW(x.split(0), hvd::Error);
}

TEST_F(CoreProperties, ThePaddingRowOfAnEmbeddingStaysZero) {
  nn::Embedding layer(nn::EmbeddingOptions(5, 3).padding_idx(2));
  EXPECT_DOUBLE_EQ(layer->weight[2].abs().max().item<double>(), 0);
  layer(hvd::tensor({2, 1, 2, 4})).sum().backward();
  EXPECT_DOUBLE_EQ(layer->weight.grad()[2].abs().max().item<double>(), 0);
  EXPECT_DOUBLE_EQ(layer->weight.grad()[1].sum().item<double>(), 3);
  EXPECT_THROW(layer(hvd::tensor({5})), hvd::Error);
}

TEST_F(CoreProperties, PositionsAreSinesAndCosines) {
  nn::PositionalEncoding layer(20, 6);
  const Tensor y = layer(hvd::zeros({1, 20, 6}))[0];
  EXPECT_NEAR(y[7][2].item<double>(), std::sin(7 * std::pow(10000.0, -2.0 / 6)), 1e-15);
  EXPECT_NEAR(y[7][3].item<double>(), std::cos(7 * std::pow(10000.0, -2.0 / 6)), 1e-15);
  EXPECT_THROW(layer(hvd::zeros({1, 21, 6})), hvd::Error);
}

TEST_F(CoreProperties, PositionsAndTokensAreAdded) {
  nn::LearnedPositions positions(6, 3);
  nn::ClassToken token(3);
  const Tensor x = hvd::randn({2, 5, 3}), y = token(x);
  EXPECT_LT(difference(positions(x) - x, positions->weight.narrow(0, 0, 5).unsqueeze(0).expand({2, 5, 3})), 1e-15);
  EXPECT_TRUE(hvd::equal(y.narrow(1, 1, 5).contiguous(), x));
  for (int64_t i = 0; i < 2; ++i) EXPECT_TRUE(hvd::equal(y[i][0].contiguous(), token->weight.detach()));
  EXPECT_THROW(positions(hvd::zeros({1, 7, 3})), hvd::Error);
}

TEST_F(CoreProperties, LossesOfModulesAreFunctions) {
  const Tensor x = hvd::randn({4, 3}), y = hvd::randn({4, 3}), target = hvd::tensor({0, 2, 1, 1}), log_p = x.log_softmax(1);
  EXPECT_TRUE(hvd::equal(nn::NLLLoss()(log_p, target), F::nll_loss(log_p, target)));
  EXPECT_TRUE(hvd::equal(nn::MSELoss()(x, y), F::mse_loss(x, y)));
  EXPECT_TRUE(hvd::equal(nn::CrossEntropyLoss()(x, target), F::cross_entropy(x, target)));
}

TEST_F(CoreProperties, ASequentialIsItsLayersInTurn) {
  nn::Linear first(3, 5), second(5, 2);
  const Tensor x = hvd::randn({4, 3});
  EXPECT_TRUE(hvd::equal(nn::Sequential(first, nn::Tanh(), second)(x), second(first(x).tanh())));
}

TEST_F(CoreProperties, ACausalLayerDoesNotSeeWhatFollows) {
  nn::TransformerEncoderLayer layer(nn::TransformerEncoderLayerOptions(8, 2).dim_feedforward(16));
  layer->eval();
  const Tensor x = hvd::randn({2, 5, 8});
  const Tensor whole = layer->forward(x, F::causal_mask(5)), start = layer->forward(x.narrow(1, 0, 3), F::causal_mask(3));
  EXPECT_LT(difference(whole.narrow(1, 0, 3), start), 1e-13);
}

TEST_F(CoreProperties, PaddedPositionsAreNotSeen) {
  nn::TransformerEncoderLayer layer(nn::TransformerEncoderLayerOptions(8, 2).dim_feedforward(16).norm_first(true));
  layer->eval();
  const Tensor x = hvd::randn({2, 5, 8}), padding = hvd::arange(5).ge(3).view({1, 5}).expand({2, 5}).contiguous();
  const Tensor padded = layer->forward(x, {}, padding), shorter = layer->forward(x.narrow(1, 0, 3));
  EXPECT_LT(difference(padded.narrow(1, 0, 3), shorter), 1e-13);
}

TEST_F(CoreProperties, AttentionIsItsFormula) {
  nn::MultiheadAttention layer(6, 1);
  hvd::nn::init::uniform_(layer->in_proj_bias);
  const Tensor x = hvd::randn({1, 4, 6}), y = hvd::randn({1, 3, 6});
  const auto part = [&](const Tensor& in, int i) { return F::linear(in[0], layer->in_proj_weight.narrow(0, 6 * i, 6), layer->in_proj_bias.narrow(0, 6 * i, 6)); };
  const Tensor weights = (part(x, 0).mm(part(y, 1).t()) / std::sqrt(6.0)).softmax(1);
  EXPECT_LT(difference(layer(x, y, y)[0], layer->out_proj(weights.mm(part(y, 2)))), 1e-13);
  EXPECT_LT(difference(layer(x, x, x), layer(x, x.clone(), x.clone())), 1e-13);
  EXPECT_THROW(nn::MultiheadAttention(6, 4), hvd::Error);
  EXPECT_THROW(layer(x, y, x), hvd::Error);
}

TEST_F(CoreProperties, AttentionMasksAreAddedOrHide) {
  nn::MultiheadAttention layer(6, 2);
  const Tensor x = hvd::randn({2, 4, 6}), hidden = F::causal_mask(4);
  const Tensor added = hvd::zeros({4, 4}).masked_fill(hidden, -std::numeric_limits<double>::infinity());
  EXPECT_LT(difference(layer(x, x, x, Tensor(), hidden), layer(x, x, x, Tensor(), added)), 1e-15);
}

TEST_F(CoreProperties, BinaryCrossEntropyIsItsFormula) {
  const Tensor x = hvd::randn({4, 3}), y = hvd::rand({4, 3}), p = x.sigmoid();
  const Tensor terms = -(y * p.log() + (1 - y) * (1 - p).log());
  EXPECT_NEAR(F::binary_cross_entropy_with_logits(x, y).item<double>(), terms.mean().item<double>(), 1e-13);
  EXPECT_NEAR(nn::BCEWithLogitsLoss(nn::BCEWithLogitsLossOptions().reduction(hvd::kSum))(x, y).item<double>(), terms.sum().item<double>(), 1e-13);
  const double far = F::binary_cross_entropy_with_logits(hvd::tensor({800.0, -800.0}), hvd::tensor({1.0, 0.0})).item<double>();
  EXPECT_DOUBLE_EQ(far, 0);
  EXPECT_THROW(F::binary_cross_entropy_with_logits(x, y.narrow(0, 0, 2)), hvd::Error);
}

TEST_F(CoreProperties, LabelSmoothingMixesInTheUniformDistribution) {
  const Tensor x = hvd::randn({5, 4}), target = hvd::tensor({0, 3, 1, 2, 2}), log_p = x.log_softmax(1);
  const Tensor wanted = -(F::one_hot(target, 4).to(hvd::kFloat64) * 0.9 + 0.1 / 4) * log_p;
  EXPECT_NEAR(F::cross_entropy(x, target, F::CrossEntropyFuncOptions().label_smoothing(0.1)).item<double>(), wanted.sum(1).mean().item<double>(), 1e-13);
  EXPECT_THROW(F::CrossEntropyFuncOptions().label_smoothing(1), hvd::Error);
}

TEST_F(CoreProperties, BatchNormOfRowsIsThatOfImagesOfOnePixel) {
  nn::BatchNorm1d rows(3);
  nn::BatchNorm2d images(3);
  const Tensor x = hvd::randn({5, 3});
  EXPECT_TRUE(hvd::equal(rows(x), images(x.view({5, 3, 1, 1})).flatten(1)));
  EXPECT_TRUE(hvd::equal(rows->running_var, images->running_var));
  EXPECT_THROW(rows(hvd::ones({5, 4})), hvd::Error);
  EXPECT_THROW(rows(hvd::ones({5, 3, 1, 1})), hvd::Error);
}

}  // namespace
}  // namespace core_properties_test
