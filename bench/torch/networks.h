// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the benchmarks of the LibTorch binding train, and the command line they share.

#include <cstdlib>
#include <map>
#include <string>

#include <torch/torch.h>

/// 3x3 convolutions with batch norm and a way around them (He et al. 2016).
struct BlockImpl : torch::nn::Module {
  BlockImpl(int64_t in, int64_t out, int64_t stride) {
    first = register_module("first", torch::nn::Conv2d(torch::nn::Conv2dOptions(in, out, 3).stride(stride).padding(1).bias(false)));
    first_norm = register_module("first_norm", torch::nn::BatchNorm2d(out));
    second = register_module("second", torch::nn::Conv2d(torch::nn::Conv2dOptions(out, out, 3).padding(1).bias(false)));
    second_norm = register_module("second_norm", torch::nn::BatchNorm2d(out));
    if (stride != 1 || in != out)
      around = register_module("around", torch::nn::Sequential(torch::nn::Conv2d(torch::nn::Conv2dOptions(in, out, 1).stride(stride).bias(false)),
                                                               torch::nn::BatchNorm2d(out)));
  }
  torch::Tensor forward(const torch::Tensor& x) {
    torch::Tensor out = torch::relu(first_norm(first(x)));
    out = second_norm(second(out));
    return torch::relu(out + (around.is_empty() ? x : around->forward(x)));
  }
  torch::nn::Conv2d first{nullptr}, second{nullptr};
  torch::nn::BatchNorm2d first_norm{nullptr}, second_norm{nullptr};
  torch::nn::Sequential around{nullptr};
};
TORCH_MODULE(Block);

/// "resnet18": for images of 3 x 32 x 32, 62 tensors, 11.2 million numbers. "mlp": `width` columns, 60 layers, 122 tensors.
struct NetworkImpl : torch::nn::Module {
  NetworkImpl(const std::string& name, int64_t width) : pictures(name == "resnet18") {
    if (pictures) {
      layers->push_back(torch::nn::Conv2d(torch::nn::Conv2dOptions(3, 64, 3).padding(1).bias(false)));
      layers->push_back(torch::nn::BatchNorm2d(64));
      layers->push_back(torch::nn::ReLU());
      int64_t channels = 64;
      for (int64_t out : {64, 128, 256, 512}) {
        layers->push_back(Block(channels, out, out == 64 ? 1 : 2));
        layers->push_back(Block(out, out, 1));
        channels = out;
      }
      layers->push_back(torch::nn::AdaptiveAvgPool2d(1));
      layers->push_back(torch::nn::Flatten());
      layers->push_back(torch::nn::Linear(512, 10));
    } else {
      for (int i = 0; i < 60; ++i) {
        layers->push_back(torch::nn::Linear(width, width));
        layers->push_back(torch::nn::Tanh());
      }
      layers->push_back(torch::nn::Linear(width, 10));
    }
    register_module("layers", layers);
  }
  torch::Tensor forward(const torch::Tensor& x) { return layers->forward(x); }
  bool pictures;
  torch::nn::Sequential layers;
};
TORCH_MODULE(Network);

/// Numbers drawn once, and classes 0 to 9; a batch is copied out in one piece.
struct Made : torch::data::datasets::BatchDataset<Made, torch::data::Example<>> {
  Made(int64_t samples, bool pictures, int64_t width)
      : x(pictures ? torch::randn({samples, 3, 32, 32}) : torch::randn({samples, width})), y(torch::randint(10, {samples})) {}
  torch::data::Example<> get_batch(c10::ArrayRef<size_t> rows) override {
    std::vector<int64_t> wanted(rows.begin(), rows.end());
    const torch::Tensor which = torch::tensor(wanted);
    return {x.index_select(0, which), y.index_select(0, which)};
  }
  c10::optional<size_t> size() const override { return x.size(0); }
  torch::Tensor x, y;
};

/// --name value pairs.
struct Arguments {
  Arguments(int argc, char** argv) {
    for (int i = 1; i + 1 < argc; i += 2) values[argv[i]] = argv[i + 1];
  }
  int64_t number(const std::string& name, int64_t otherwise) const {
    const auto found = values.find(name);
    return found == values.end() ? otherwise : std::atoll(found->second.c_str());
  }
  std::string text(const std::string& name, const std::string& otherwise) const {
    const auto found = values.find(name);
    return found == values.end() ? otherwise : found->second;
  }
  std::map<std::string, std::string> values;
};
