// SPDX-License-Identifier: Apache-2.0
//
// Operations of images, sequences and losses on shapes that are drawn: odd sizes, batches of one, batches without samples. Each is
// checked against finite differences, on every device against the float64 reference, and for what hvdize takes for granted of it:
// that row i of the result is made of row i of the batch alone.
#include "test/unit/core_support.hpp"

#include "core/tensor_impl.hpp"

namespace core_random_shapes_test {
namespace {

using core_tests::Defaults;
using core_tests::Dice;
using core_tests::kDraws;
using core_tests::Operation;
using hvd::Tensor;
using Inputs = std::vector<Tensor>;
namespace F = hvd::nn::functional;
namespace nn = hvd::nn;

/// Makes a parameter of a layer a computed tensor that is equal to `value`: what the layer computes has a gradient for `value` then.
void stand_for(const Tensor& parameter, const Tensor& value) {
  if (parameter.sizes() != value.sizes()) throw hvd::Error("the table gives another shape than the layer has");
  const Tensor equal = value * 1;
  parameter.set_data(equal.detach());
  parameter.impl()->requires_grad = false;
  parameter.impl()->grad_fn = equal.impl()->grad_fn;
}

/// Sets what a layer holds to the given tensors, in the order of its parameters, and runs it.
template <class Layer, class... More>
Tensor with_parameters(Layer layer, const Inputs& x, size_t first, const More&... more) {
  layer->to(x[0].dtype());
  layer->to(x[0].device());
  const std::vector<Tensor> parameters = layer->parameters();
  if (parameters.size() != x.size() - first) throw hvd::Error("the table gives another number of parameters than the layer has");
  for (size_t i = 0; i < parameters.size(); ++i) stand_for(parameters[i], x[first + i]);
  return layer->forward(x[0], more...);
}

std::vector<Operation> convolutions(Dice& d) {
  const int64_t n = d.batch(1, 3), groups = d(1, 3), c = groups * d(1, 2), k = groups * d(1, 2), kh = d(1, 3), kw = d(1, 3);
  const std::vector<int64_t> s = {d(1, 3), d(1, 2)}, p = {d(0, 2), d(0, 1)}, dil = {d(1, 3), d(1, 2)}, out = {d(0, s[0] - 1), d(0, s[1] - 1)};
  const int64_t h = dil[0] * (kh - 1) + d(1, 5), w = dil[1] * (kw - 1) + d(1, 6), small_h = d(2, 4), small_w = d(2, 5);
  return {
      {"conv2d", {{n, c, h, w}, {k, c / groups, kh, kw}, {k}},
       [=](const Inputs& x) { return F::conv2d(x[0], x[1], x[2], s, p, dil, groups); }, -1, 1, 1, 1e-5},
      {"conv2d_depthwise", {{n, c, h, w}, {2 * c, 1, kh, kw}}, [=](const Inputs& x) { return F::conv2d(x[0], x[1], {}, s, p, dil, c); }, -1, 1, 1, 1e-5},
      {"conv_transpose2d", {{n, c, small_h, small_w}, {c, k / groups, kh + 1, kw + 1}, {k}},
       [=](const Inputs& x) { return F::conv_transpose2d(x[0], x[1], x[2], s, {0, 0}, out, groups, dil); }, -1, 1, 1, 1e-5},
      {"conv_transpose2d_padded", {{n, c, small_h + 1, small_w + 1}, {c, k / groups, 3, 3}},
       [=](const Inputs& x) { return F::conv_transpose2d(x[0], x[1], {}, {2, 1}, {1, 1}, {0, 0}, groups); }, -1, 1, 1, 1e-5},
  };
}

std::vector<Operation> pooling(Dice& d) {
  const int64_t n = d.batch(1, 3), c = d(1, 3), h = d(3, 9), w = d(3, 9), oh = d(1, 4), ow = d(1, 4), step = d(1, 3);
  const auto window = [=](bool counted) { return F::AvgPool2dFuncOptions({3, 2}).stride({step, 2}).padding({1, 1}).count_include_pad(counted); };
  const std::vector<std::vector<int64_t>> image = {{n, c, h, w}};
  return {
      {"avg_pool2d", image, [=](const Inputs& x) { return F::avg_pool2d(x[0], window(true)); }, -1, 1, 1},
      {"avg_pool2d_inside", image, [=](const Inputs& x) { return F::avg_pool2d(x[0], window(false)); }, -1, 1, 1},
      {"adaptive_avg_pool2d", image, [=](const Inputs& x) { return F::adaptive_avg_pool2d(x[0], F::AdaptiveAvgPool2dFuncOptions({oh, ow})); }, -1, 1, 1},
      {"max_pool2d", image, [=](const Inputs& x) { return F::max_pool2d(x[0], F::MaxPool2dFuncOptions({3, 2}).stride({step, 2}).padding({1, 0})); }, -1, 1, 1},
  };
}

std::vector<Operation> norms(Dice& d) {
  const int64_t n = d(2, 4), t = d(1, 4), c = d(3, 7), samples = d.batch(n, n);  // batch norm needs two values of a channel
  const auto in_evaluation = [=] {
    nn::BatchNorm2d layer(c);
    layer->running_mean.fill_(0.25);
    layer->running_var.fill_(1.5);
    layer->eval();
    return layer;
  };
  return {
      {"batch_norm2d", {{n, c, t, 3}, {c}, {c}}, [=](const Inputs& x) { return with_parameters(nn::BatchNorm2d(c), x, 1); }, -1, 1, 0, 5e-5},
      {"batch_norm2d_evaluation", {{n, c, t, 3}, {c}, {c}}, [=](const Inputs& x) { return with_parameters(in_evaluation(), x, 1); }, -1, 1, 1},
      {"batch_norm1d", {{n + 1, c}, {c}, {c}}, [=](const Inputs& x) { return with_parameters(nn::BatchNorm1d(c), x, 1); }, -1, 1, 0, 5e-5},
      {"batch_norm1d_sequence", {{n, c, t + 1}, {c}, {c}}, [=](const Inputs& x) { return with_parameters(nn::BatchNorm1d(c), x, 1); }, -1, 1, 0, 5e-5},
      {"layer_norm", {{samples, t, c}, {c}, {c}}, [=](const Inputs& x) { return F::layer_norm(x[0], c, x[1], x[2]); }, -1, 1, 1, 2e-5},
      {"layer_norm_of_two", {{samples, t, c}, {t, c}}, [=](const Inputs& x) { return F::layer_norm(x[0], {t, c}, x[1]); }, -1, 1, 1, 2e-5},
      {"layer_norm_plain", {{samples, c}}, [=](const Inputs& x) { return F::layer_norm(x[0], c); }, -1, 1, 1, 2e-5},
  };
}

std::vector<Operation> activations(Dice& d) {
  const std::vector<std::vector<int64_t>> shape = {{d.batch(1, 4), d(1, 5), d(1, 7)}};
  const int64_t c = shape[0][1];
  return {
      {"leaky_relu", shape, [](const Inputs& x) { return F::leaky_relu(x[0], 0.2); }, -1, 1, 1},
      {"gelu", shape, [](const Inputs& x) { return F::gelu(x[0]); }, -4, 4, 1},
      {"gelu_tanh", shape, [](const Inputs& x) { return F::gelu(x[0], "tanh"); }, -4, 4, 1},
      {"softplus", shape, [](const Inputs& x) { return F::softplus(x[0]); }, -9, 9, 1},
      {"tanh", shape, [](const Inputs& x) { return x[0].tanh(); }, -3, 3, 1},
      {"log_softmax_middle", shape, [](const Inputs& x) { return x[0].log_softmax(1); }, -3, 3, 1},
      {"masked_fill", shape, [=](const Inputs& x) { return x[0].masked_fill(hvd::arange(c, x[0].device()).eq(0).view({c, 1}), 0.5); }, -1, 1, 1},
      {"split", shape, [](const Inputs& x) { return x[0].split(2, 2).back() * 2; }, -1, 1, 1},
      {"chunk", shape, [](const Inputs& x) { return hvd::chunk(x[0], 3, 1).front().relu(); }, -1, 1, 1},
      {"cat_parts", shape, [](const Inputs& x) { return hvd::cat({x[0], x[0].square(), x[0]}, 1); }, -1, 1, 1},
      {"add_branches", shape, [](const Inputs& x) { return x[0].relu() + x[0]; }, -1, 1, 1},
  };
}

std::vector<Operation> products(Dice& d) {
  const int64_t b = d.batch(1, 4), m = d(1, 5), k = d(1, 5), n = d(1, 5), h = d(1, 3);
  return {
      {"bmm", {{b, m, k}, {b, k, n}}, [](const Inputs& x) { return x[0].bmm(x[1]); }, -1, 1, 2},
      {"bmm_transposed", {{b, k, m}, {b, n, k}}, [](const Inputs& x) { return x[0].transpose(1, 2).bmm(x[1].transpose(1, 2)); }, -1, 1, 2},
      {"matmul_4d", {{b, h, m, k}, {b, h, n, k}}, [](const Inputs& x) { return x[0].matmul(x[1].transpose(-2, -1)); }, -1, 1, 2},
      {"matmul_broadcast", {{b, h, m, k}, {h, k, n}}, [](const Inputs& x) { return x[0].matmul(x[1]); }, -1, 1, 1},
      {"matmul_matrix", {{b, m, k}, {k, n}}, [](const Inputs& x) { return x[0].matmul(x[1]); }, -1, 1, 1},
      {"matmul_vector", {{b, m, k}, {k}}, [](const Inputs& x) { return x[0].matmul(x[1]); }, -1, 1, 1},
  };
}

/// [N, T] with position 0 of every sample visible.
Tensor padding_of(int64_t n, int64_t t, hvd::Device device) {
  const Tensor row = hvd::arange(t, device).ge(std::max<int64_t>(t - 1, 1));
  return row.view({1, t}).expand({n, t}).contiguous();
}

std::vector<Operation> sequences(Dice& d) {
  const int64_t n = d.batch(1, 3), t = d(1, 4), s = d(2, 4), heads = d(1, 3), e = heads * d(1, 2), vocabulary = d(2, 6), wide = d(2, 5);
  const auto ids = [=](const Tensor& like) { return (hvd::arange(like.size(0) * t, like.device()) * 7).view({like.size(0), t}); };
  const auto attention = [=] { return nn::MultiheadAttention(e, heads); };
  const auto layer = [=](bool first) {
    return nn::TransformerEncoderLayer(nn::TransformerEncoderLayerOptions(e, heads).dim_feedforward(wide).dropout(0).norm_first(first).activation(hvd::kGELU));
  };
  const std::vector<std::vector<int64_t>> weights = {{3 * e, e}, {3 * e}, {e, e}, {e}};
  const auto shapes = [=](std::vector<std::vector<int64_t>> first, bool whole_layer) {
    first.insert(first.end(), weights.begin(), weights.end());
    if (whole_layer) first.insert(first.end(), {{wide, e}, {wide}, {e, wide}, {e}, {e}, {e}, {e}, {e}});
    return first;
  };
  return {
      {"embedding", {{vocabulary, e}}, [=](const Inputs& x) { return F::embedding(hvd::tensor(std::vector<int64_t>{1, 0, 1, vocabulary - 1}, x[0].device()).view({2, 2}), x[0]); }},
      {"embedding_padding", {{n, t, e}, {100, e}}, [=](const Inputs& x) { return F::embedding(ids(x[0]), x[1], 99) * x[0]; }, -1, 1, 0},
      {"positional_encoding", {{n, t, e}}, [=](const Inputs& x) { return with_parameters(nn::PositionalEncoding(9, e), x, 1); }, -1, 1, 1},
      {"learned_positions", {{n, t, e}, {6, e}}, [=](const Inputs& x) { return with_parameters(nn::LearnedPositions(6, e), x, 1); }, -1, 1, 1},
      {"class_token", {{n, t, e}, {e}}, [=](const Inputs& x) { return with_parameters(nn::ClassToken(e), x, 1); }, -1, 1, 1},
      {"attention", shapes({{n, t, e}}, false), [=](const Inputs& x) { return with_parameters(attention(), x, 1, x[0], x[0]); }, -1, 1, 1, 2e-5},
      {"attention_causal", shapes({{n, t, e}}, false),
       [=](const Inputs& x) { return with_parameters(attention(), x, 1, x[0], x[0], Tensor(), F::causal_mask(t, x[0].device())); }, -1, 1, 1, 2e-5},
      {"attention_padded_cross", shapes({{n, t, e}, {n, s, e}}, false),
       [=](const Inputs& x) { return with_parameters(attention(), x, 2, x[1], x[1], padding_of(x[0].size(0), s, x[0].device())); }, -1, 1, 2, 2e-5},
      {"encoder_layer", shapes({{n, t, 3 * e}}, true),
       [=](const Inputs& x) {
         Inputs narrow = x;
         narrow[0] = x[0].narrow(2, 0, e) * 3;
         return with_parameters(layer(true), narrow, 1);
       }, -1, 1, 1, 1e-4, 32},
  };
}

std::vector<Operation> losses(Dice& d) {
  const int64_t n = d.batch(1, 5), c = d(2, 6);
  std::vector<int64_t> classes(n);
  for (int64_t& k : classes) k = d(0, c - 1);
  classes.back() = 1;
  std::vector<int64_t> some = classes;
  if (n > 1) some[0] = -100;
  const auto targets = [](const Tensor& like, const std::vector<int64_t>& t) { return hvd::tensor(t, hvd::TensorOptions(hvd::kInt64).device(like.device())); };
  const auto weight = [=](const Tensor& like) { return (hvd::arange(c, like.options()) + 1) / 3; };
  const auto smooth = [](double s) { return F::CrossEntropyFuncOptions().label_smoothing(s); };
  return {
      {"cross_entropy_smoothed", {{n, c}}, [=](const Inputs& x) { return F::cross_entropy(x[0], targets(x[0], some), smooth(0.1)); }},
      {"cross_entropy_smoothed_sum", {{n, c}}, [=](const Inputs& x) { return F::cross_entropy(x[0], targets(x[0], some), smooth(0.2).reduction(hvd::kSum)); }},
      {"cross_entropy_smoothed_weighted", {{n, c}},
       [=](const Inputs& x) { return F::cross_entropy(x[0], targets(x[0], some), smooth(0.3).weight(weight(x[0]))); }},
      {"cross_entropy_smoothed_each", {{n, c}},
       [=](const Inputs& x) { return F::cross_entropy(x[0], targets(x[0], classes), smooth(0.1).weight(weight(x[0])).reduction(hvd::kNone)); }},
      {"nll_each", {{n, c}},
       [=](const Inputs& x) { return F::nll_loss(x[0].log_softmax(1), targets(x[0], some), F::NLLLossFuncOptions().reduction(hvd::kNone)); }},
      {"bce_with_logits", {{n, c}, {n, c}}, [](const Inputs& x) { return F::binary_cross_entropy_with_logits(x[0] * 5, x[1].square()); }},
      {"bce_with_logits_weighted", {{n, c}, {n, c}},
       [=](const Inputs& x) {
         return F::binary_cross_entropy_with_logits(x[0], x[1].square(),
                                                    F::BCEWithLogitsFuncOptions().pos_weight(weight(x[0])).weight(weight(x[0])).reduction(hvd::kNone));
       }, -1, 1, 2},
  };
}

std::vector<Operation> all_operations() {
  std::vector<Operation> out;
  for (uint32_t seed = 0; seed < kDraws; ++seed) {
    Dice d(seed);
    for (auto& list : {convolutions(d), pooling(d), norms(d), activations(d), products(d), sequences(d), losses(d)})
      for (Operation op : list) {
        op.name += '_';
        op.name += std::to_string(seed);
        out.push_back(std::move(op));
      }
  }
  return out;
}

class CoreRandomShapes : public testing::TestWithParam<Operation> {
 protected:
  Defaults defaults_;
};

TEST_P(CoreRandomShapes, GradientsMatchFiniteDifferences) { core_tests::expect_gradients(GetParam()); }
TEST_P(CoreRandomShapes, DevicesMatchTheFloat64Reference) { core_tests::expect_devices_agree(GetParam()); }
TEST_P(CoreRandomShapes, SixteenBitsMatchTheFloat64Reference) { core_tests::expect_low_precision_agrees(GetParam()); }

class CoreRowOperations : public CoreRandomShapes {};
TEST_P(CoreRowOperations, RowsStandAlone) { core_tests::expect_rows_stand_alone(GetParam()); }

std::vector<Operation> row_operations() {
  std::vector<Operation> out = all_operations();
  std::erase_if(out, [](const Operation& op) { return op.rows == 0; });
  return out;
}

std::string name_of(const testing::TestParamInfo<Operation>& info) { return info.param.name; }
INSTANTIATE_TEST_SUITE_P(All, CoreRandomShapes, testing::ValuesIn(all_operations()), name_of);
INSTANTIATE_TEST_SUITE_P(All, CoreRowOperations, testing::ValuesIn(row_operations()), name_of);

}  // namespace
}  // namespace core_random_shapes_test
