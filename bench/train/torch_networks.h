// SPDX-License-Identifier: Apache-2.0
#pragma once

// The networks of examples/networks as a user of LibTorch writes them. Parameters come in the order of the core's.

#include <torch/torch.h>

#include <stdexcept>
#include <string>

namespace peer {

namespace nn = torch::nn;

inline nn::Conv2d conv3x3(int64_t in, int64_t out, int64_t stride = 1, bool bias = false) {
  return nn::Conv2d(nn::Conv2dOptions(in, out, 3).stride(stride).padding(1).bias(bias));
}

inline nn::Sequential mlp() {
  return nn::Sequential(nn::Flatten(), nn::Linear(784, 512), nn::ReLU(), nn::Linear(512, 256), nn::ReLU(), nn::Linear(256, 10));
}

inline nn::Sequential cnn_small() {
  return nn::Sequential(conv3x3(1, 16, 1, true), nn::ReLU(), nn::MaxPool2d(2), conv3x3(16, 32, 1, true), nn::ReLU(), nn::MaxPool2d(2),
                        nn::Flatten(), nn::Linear(32 * 7 * 7, 10));
}

inline nn::Sequential cnn_medium(double dropout) {
  nn::Sequential net;
  const int64_t channels[] = {1, 32, 32, 64, 64};
  for (int i = 1; i <= 4; ++i) {
    net->push_back(conv3x3(channels[i - 1], channels[i]));
    net->push_back(nn::BatchNorm2d(channels[i]));
    net->push_back(nn::ReLU());
    if (i % 2) continue;
    net->push_back(nn::MaxPool2d(2));
    net->push_back(nn::Dropout(dropout / 2));
  }
  net->push_back(nn::Flatten());
  net->push_back(nn::Linear(64 * 7 * 7, 256));
  net->push_back(nn::ReLU());
  net->push_back(nn::Dropout(dropout));
  net->push_back(nn::Linear(256, 10));
  return net;
}

struct BlockImpl : nn::Module {
  BlockImpl(int64_t in, int64_t out, int64_t stride) {
    conv_a = register_module("conv_a", conv3x3(in, out, stride));
    norm_a = register_module("norm_a", nn::BatchNorm2d(out));
    conv_b = register_module("conv_b", conv3x3(out, out));
    norm_b = register_module("norm_b", nn::BatchNorm2d(out));
    if (stride == 1) return;
    conv_s = register_module("conv_s", nn::Conv2d(nn::Conv2dOptions(in, out, 1).stride(stride).bias(false)));
    norm_s = register_module("norm_s", nn::BatchNorm2d(out));
  }
  torch::Tensor forward(const torch::Tensor& x) {
    const torch::Tensor out = norm_b(conv_b(torch::relu(norm_a(conv_a(x)))));
    return torch::relu(out + (conv_s.is_empty() ? x : norm_s(conv_s(x))));
  }
  nn::Conv2d conv_a{nullptr}, conv_b{nullptr}, conv_s{nullptr};
  nn::BatchNorm2d norm_a{nullptr}, norm_b{nullptr}, norm_s{nullptr};
};
TORCH_MODULE(Block);

inline nn::Sequential resnet18() {
  nn::Sequential net(conv3x3(3, 64), nn::BatchNorm2d(64), nn::ReLU());
  int64_t channels = 64;
  for (int64_t out : {64, 128, 256, 512}) {
    net->push_back(Block(channels, out, out == 64 ? 1 : 2));
    net->push_back(Block(out, out, 1));
    channels = out;
  }
  net->push_back(nn::AdaptiveAvgPool2d(1));
  net->push_back(nn::Flatten());
  net->push_back(nn::Linear(512, 10));
  return net;
}

/// An encoder layer whose norms come first, which nn::TransformerEncoderLayer of this release has not. Tokens lead: [T, N, E].
struct EncoderLayerImpl : nn::Module {
  EncoderLayerImpl(int64_t dim, int64_t heads, int64_t hidden, double dropout) : drop(nn::DropoutOptions(dropout)) {
    attention = register_module("attention", nn::MultiheadAttention(nn::MultiheadAttentionOptions(dim, heads).dropout(dropout)));
    linear1 = register_module("linear1", nn::Linear(dim, hidden));
    linear2 = register_module("linear2", nn::Linear(hidden, dim));
    norm1 = register_module("norm1", nn::LayerNorm(nn::LayerNormOptions({dim})));
    norm2 = register_module("norm2", nn::LayerNorm(nn::LayerNormOptions({dim})));
    register_module("drop", drop);
  }
  torch::Tensor forward(const torch::Tensor& src, const torch::Tensor& padding) {
    const torch::Tensor in = norm1(src);
    const torch::Tensor x = src + drop(std::get<0>(attention->forward(in, in, in, padding, /*need_weights=*/false)));
    return x + drop(linear2(drop(torch::gelu(linear1(norm2(x))))));
  }
  nn::MultiheadAttention attention{nullptr};
  nn::Linear linear1{nullptr}, linear2{nullptr};
  nn::LayerNorm norm1{nullptr}, norm2{nullptr};
  nn::Dropout drop;
};
TORCH_MODULE(EncoderLayer);

struct TransformerImpl : nn::Module {
  explicit TransformerImpl(double dropout) : drop(nn::DropoutOptions(dropout)) {
    tokens = register_module("tokens", nn::Embedding(nn::EmbeddingOptions(8192, kDim).padding_idx(0)));
    cls = register_parameter("cls", torch::randn({kDim}) * 0.02);
    register_module("drop", drop);
    for (int i = 0; i < 4; ++i) layers->push_back(EncoderLayer(kDim, 8, 1024, dropout));
    register_module("layers", layers);
    norm = register_module("norm", nn::LayerNorm(nn::LayerNormOptions({kDim})));
    head = register_module("head", nn::Linear(kDim, 2));
    const torch::Tensor at = torch::arange(128).unsqueeze(1), i = torch::arange(0, kDim, 2);
    const torch::Tensor angle = at * torch::pow(10000.0, -i.to(torch::kDouble) / kDim);
    table = register_buffer("table", torch::stack({angle.sin(), angle.cos()}, 2).view({128, kDim}).to(torch::kFloat));
  }
  torch::Tensor forward(const torch::Tensor& words) {
    const int64_t n = words.size(0);
    const torch::Tensor padding = torch::cat({torch::zeros({n, 1}, torch::kBool), words.eq(0)}, 1);
    torch::Tensor x = drop(torch::cat({cls.expand({n, 1, kDim}), tokens(words) + table}, 1)).transpose(0, 1);
    for (const auto& layer : *layers) x = layer->as<EncoderLayer>()->forward(x, padding);
    return head(norm(x)[0]);
  }
  /// In the order of the core, where the class token follows the embedding.
  std::vector<torch::Tensor> ordered_parameters() const {
    std::vector<torch::Tensor> all = parameters();
    std::swap(all[0], all[1]);
    return all;
  }
  static constexpr int64_t kDim = 256;
  nn::Embedding tokens{nullptr};
  torch::Tensor cls, table;
  nn::Dropout drop;
  nn::ModuleList layers;
  nn::LayerNorm norm{nullptr};
  nn::Linear head{nullptr};
};
TORCH_MODULE(Transformer);

/// A network of either form.
struct Model {
  explicit Model(const std::string& name, bool dropout) {
    const double p = dropout ? 1 : 0;
    if (name == "transformer_small")
      transformer = Transformer(0.1 * p);
    else if (name == "mlp")
      layers = mlp();
    else if (name == "cnn_small")
      layers = cnn_small();
    else if (name == "cnn_medium")
      layers = cnn_medium(0.5 * p);
    else if (name == "resnet18")
      layers = resnet18();
    else
      throw std::runtime_error("no network '" + name + "'");
  }
  torch::Tensor forward(const torch::Tensor& x) { return layers.is_empty() ? transformer(x) : layers->forward(x); }
  std::vector<torch::Tensor> parameters() const { return layers.is_empty() ? transformer->ordered_parameters() : layers->parameters(); }
  nn::Sequential layers{nullptr};
  Transformer transformer{nullptr};
};

}  // namespace peer
