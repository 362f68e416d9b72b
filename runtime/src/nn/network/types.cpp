// SPDX-License-Identifier: Apache-2.0
//
// The types of layers; docs/networks.md lists them.
#include "nn/network/build.hpp"

#include <hvd/nn/batchnorm.hpp>
#include <hvd/nn/sequence.hpp>

namespace hvd::nn {

const std::vector<int64_t>& Layer::input(size_t dims) const {
  if (inputs.size() != 1) throw Error("this type of layer takes one input, no 'with'");
  if (dims > 0 && inputs[0].size() != dims)
    throw Error("samples of " + std::to_string(dims) + " dimensions expected; those that come in have the shape " + to_string(inputs[0]));
  return inputs[0];
}

void Layer::apply(std::function<Tensor(const Tensor&)> f, std::vector<int64_t> result) {
  function = [f = std::move(f)](const std::vector<Tensor>& in, const Tensor&) { return f(in[0]); };
  shape = std::move(result);
}

namespace {

using Extents = std::vector<int64_t>;

int64_t extent_behind(int64_t extent, int64_t kernel, int64_t stride, int64_t pad, int64_t dilation) {
  const int64_t room = extent + 2 * pad - dilation * (kernel - 1) - 1;
  if (kernel < 1 || stride < 1 || dilation < 1) throw Error("kernel, stride and dilation are at least 1");
  if (room < 0) throw Error("a window of " + std::to_string(kernel) + " does not fit into " + std::to_string(extent) + " pixels");
  return room / stride + 1;
}

/// Rows and columns of what a window gives for an image.
Extents windows(const Extents& image, const Extents& kernel, const Extents& stride, const Extents& pad, const Extents& dilation, int64_t channels) {
  return {channels, extent_behind(image[1], kernel[0], stride[0], pad[0], dilation[0]),
          extent_behind(image[2], kernel[1], stride[1], pad[1], dilation[1])};
}

void conv2d(Layer& l) {
  const Extents& in = l.input(3);
  const int64_t out = l.reader.count("out"), groups = l.reader.count("groups", 1);
  const Extents kernel = l.reader.pair("kernel"), stride = l.reader.pair("stride", {1}), pad = l.reader.pair("padding", {0});
  const Extents dilation = l.reader.pair("dilation", {1});
  const Extents result = windows(in, kernel, stride, pad, dilation, out);
  l.use(Conv2d(Conv2dOptions(in[0], out, kernel).stride(stride).padding(pad).dilation(dilation).groups(groups).bias(l.reader.flag("bias", true))),
        result);
}

void conv_transpose2d(Layer& l) {
  const Extents& in = l.input(3);
  const int64_t out = l.reader.count("out"), groups = l.reader.count("groups", 1);
  const Extents kernel = l.reader.pair("kernel"), stride = l.reader.pair("stride", {1}), pad = l.reader.pair("padding", {0});
  const Extents extra = l.reader.pair("output_padding", {0});
  const auto extent = [&](int d) { return (in[d + 1] - 1) * stride[d] - 2 * pad[d] + kernel[d] + extra[d]; };
  l.use(ConvTranspose2d(ConvTranspose2dOptions(in[0], out, kernel).stride(stride).padding(pad).output_padding(extra).groups(groups).bias(
            l.reader.flag("bias", true))),
        {out, extent(0), extent(1)});
}

template <class Pool, class Options>
void pool2d(Layer& l) {
  const Extents& in = l.input(3);
  const Extents kernel = l.reader.pair("kernel"), stride = l.reader.pair("stride", kernel), pad = l.reader.pair("padding", {0});
  const Pool pool(Options(kernel).stride(stride).padding(pad));
  l.apply([pool](const Tensor& x) { return pool->forward(x); }, windows(in, kernel, stride, pad, {1, 1}, in[0]));
}

void adaptive_avg_pool2d(Layer& l) {
  const Extents& in = l.input(3);
  const Extents size = l.reader.pair("size", {1});
  l.apply([size](const Tensor& x) { return functional::adaptive_avg_pool2d(x, AdaptiveAvgPool2dOptions(size)); }, {in[0], size[0], size[1]});
}

void linear(Layer& l) {
  Extents shape = l.input();
  const int64_t in = shape.back();
  shape.back() = l.reader.count("out");
  l.use(Linear(LinearOptions(in, shape.back()).bias(l.reader.flag("bias", true))), shape);
}

void batch_norm(Layer& l) {
  const Extents& in = l.input();
  const BatchNormOptions options = BatchNormOptions(in[0]).eps(l.reader.real("eps", 1e-5)).momentum(l.reader.real("momentum", 0.1));
  if (in.size() == 3)
    l.use(BatchNorm2d(options), in);
  else if (in.size() < 3)
    l.use(BatchNorm1d(options), in);
  else
    throw Error("no batch norm for samples of shape " + to_string(in));
}

void layer_norm(Layer& l) { l.use(LayerNorm(LayerNormOptions({l.input().back()}).eps(l.reader.real("eps", 1e-5))), l.input()); }
void dropout(Layer& l) { l.use(Dropout(l.reader.real("p", 0.5)), l.input()); }

void flatten(Layer& l) {
  int64_t n = 1;
  for (const int64_t extent : l.input()) n *= extent;
  l.apply([](const Tensor& x) { return x.flatten(1); }, {n});
}

void leaky_relu(Layer& l) {
  const double slope = l.reader.real("slope", 0.01);
  l.apply([slope](const Tensor& x) { return functional::leaky_relu(x, slope); }, l.input());
}

void gelu(Layer& l) {
  const std::string form = l.reader.word("approximate", {"none", "tanh"}, "none");
  l.apply([form](const Tensor& x) { return functional::gelu(x, form); }, l.input());
}

void embedding(Layer& l) {
  const Extents& in = l.input(1);
  EmbeddingOptions options(l.reader.count("rows"), l.reader.count("dim"));
  options.padding_idx(l.reader.count("padding", -1));
  l.use(Embedding(options), {in[0], options.embedding_dim()});
}

void positional_encoding(Layer& l) { l.use(PositionalEncoding(l.input(2)[0], l.input(2)[1]), l.input(2)); }
void learned_positions(Layer& l) { l.use(LearnedPositions(l.input(2)[0], l.input(2)[1]), l.input(2)); }
void class_token(Layer& l) { l.use(ClassToken(l.input(2)[1]), {l.input(2)[0] + 1, l.input(2)[1]}); }
void first_token(Layer& l) {
  l.apply([](const Tensor& x) { return x.select(1, 0); }, {l.input(2)[1]});
}

/// [N, T] from the tokens that the network was given: true where there is padding. A class token in front is none.
Tensor padding_mask(const Tensor& tokens, int64_t padding, int64_t length) {
  const Tensor mask = tokens.eq(padding);
  if (mask.size(1) == length) return mask;
  return cat({zeros({mask.size(0), length - mask.size(1)}, TensorOptions(kBool).device(mask.device())), mask}, 1);
}

void transformer_encoder(Layer& l) {
  const Extents& in = l.input(2);
  const int64_t length = in[0], padding = l.reader.count("padding", -1);
  const bool causal = l.reader.flag("causal", false);
  if (padding >= 0 && (l.network_input.size() != 1 || length < l.network_input[0] || length > l.network_input[0] + 1))
    throw Error("'padding' needs tokens as the network's input, one for each position");
  const auto activation = l.reader.word("activation", {"relu", "gelu"}, "relu") == "gelu" ? Activation::kGELU : Activation::kReLU;
  const auto layer = l.child(TransformerEncoderLayer(TransformerEncoderLayerOptions(in[1], l.reader.count("heads"))
                                                         .dim_feedforward(l.reader.count("hidden", 4 * in[1]))
                                                         .dropout(l.reader.real("dropout", 0.1))
                                                         .activation(activation)
                                                         .norm_first(l.reader.flag("norm_first", false))));
  l.shape = in;
  l.function = [layer, length, padding, causal](const std::vector<Tensor>& inputs, const Tensor& x) {
    return layer->forward(inputs[0], causal ? functional::causal_mask(length, inputs[0].device()) : Tensor(),
                          padding >= 0 ? padding_mask(x, padding, length) : Tensor());
  };
}

void split(Layer& l) {
  l.apply([](const Tensor& x) { return x; }, l.input());
}

void add(Layer& l) {
  if (l.inputs.size() < 2) throw Error("'with' names what is added");
  for (const Extents& shape : l.inputs)
    if (shape != l.inputs[0]) throw Error("shapes " + to_string(l.inputs[0]) + " and " + to_string(shape) + " are added");
  l.shape = l.inputs[0];
  l.function = [](const std::vector<Tensor>& inputs, const Tensor&) {
    Tensor sum = inputs[0] + inputs[1];
    for (size_t i = 2; i < inputs.size(); ++i) sum = sum + inputs[i];
    return sum;
  };
}

void cat_along(Layer& l) {
  if (l.inputs.size() < 2) throw Error("'with' names what is joined");
  const int64_t dim = l.reader.count("dim", 0);
  l.shape = l.inputs[0];
  if (dim >= static_cast<int64_t>(l.shape.size())) throw Error("no dimension " + std::to_string(dim) + " in samples of shape " + to_string(l.shape));
  for (size_t i = 1; i < l.inputs.size(); ++i) {
    Extents rest = l.inputs[i];
    if (rest.size() == l.shape.size()) rest[dim] = l.inputs[0][dim];
    if (rest != l.inputs[0]) throw Error("shapes " + to_string(l.inputs[0]) + " and " + to_string(l.inputs[i]) + " are joined");
    l.shape[dim] += l.inputs[i][dim];
  }
  l.function = [dim](const std::vector<Tensor>& inputs, const Tensor&) { return cat(inputs, dim + 1); };
}

std::function<void(Layer&)> elementwise(Tensor (Tensor::*f)() const) {
  return [f](Layer& l) { l.apply([f](const Tensor& x) { return (x.*f)(); }, l.input()); };
}
std::function<void(Layer&)> along_last(Tensor (Tensor::*f)(int64_t) const) {
  return [f](Layer& l) { l.apply([f](const Tensor& x) { return (x.*f)(-1); }, l.input()); };
}

}  // namespace

const std::map<std::string, std::function<void(Layer&)>>& layer_types() {
  static const std::map<std::string, std::function<void(Layer&)>> types = {
      {"conv2d", conv2d}, {"conv_transpose2d", conv_transpose2d}, {"max_pool2d", pool2d<MaxPool2d, MaxPool2dOptions>},
      {"avg_pool2d", pool2d<AvgPool2d, AvgPool2dOptions>}, {"adaptive_avg_pool2d", adaptive_avg_pool2d}, {"linear", linear},
      {"batch_norm", batch_norm}, {"layer_norm", layer_norm}, {"dropout", dropout}, {"flatten", flatten},
      {"relu", elementwise(&Tensor::relu)}, {"sigmoid", elementwise(&Tensor::sigmoid)}, {"tanh", elementwise(&Tensor::tanh)},
      {"leaky_relu", leaky_relu}, {"gelu", gelu}, {"softmax", along_last(&Tensor::softmax)}, {"log_softmax", along_last(&Tensor::log_softmax)},
      {"embedding", embedding}, {"positional_encoding", positional_encoding}, {"learned_positions", learned_positions},
      {"class_token", class_token}, {"first_token", first_token}, {"transformer_encoder", transformer_encoder},
      {"split", split}, {"add", add}, {"cat", cat_along},
  };
  return types;
}

}  // namespace hvd::nn
