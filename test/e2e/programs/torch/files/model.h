// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <torch/torch.h>

struct ClassifierImpl : torch::nn::Module {
  ClassifierImpl(int64_t inputs, int64_t classes);
  torch::Tensor forward(const torch::Tensor& x);
  torch::nn::Linear one{nullptr}, two{nullptr};
};
TORCH_MODULE(Classifier);

struct Rings : torch::data::datasets::Dataset<Rings> {
  explicit Rings(size_t count) : count(count) {}
  torch::data::Example<> get(size_t index) override;
  torch::optional<size_t> size() const override { return count; }
  size_t count;
};

/// Right answers on the data set, all at once.
int64_t right_answers(Classifier& model, size_t count);
