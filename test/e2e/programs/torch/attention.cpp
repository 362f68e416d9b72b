// SPDX-License-Identifier: Apache-2.0
// e2e: shortcuts=bodies; edit=batch = 6 => batch = {6*N}; edit=AdamWOptions(2e-3) => AdamWOptions({2e-3*sqrt(N)}); ranks=1,2,3; timeout=120
// A transformer written out: heads split by view and transpose, products of matrices of one sample each, a mask, variables given anew;
// softmax as a module; a module whose constructor draws its parameters; a dropout written out, drawn in the shape of a tensor.
// form: attention written out
#include <torch/torch.h>

#include <cmath>
#include <iostream>
#include <limits>

struct AttentionImpl : torch::nn::Module {
  AttentionImpl(int64_t width, int64_t heads)
      : heads(heads), size(width / heads), out(register_module("out", torch::nn::Linear(width, width))),
        drop(register_module("drop", torch::nn::Dropout(0.0))) {
    mix = register_parameter("mix", torch::randn({width, 3 * width}) * 0.3);
    mask = register_buffer("mask", torch::triu(torch::ones({8, 8}), 1));
  }
  torch::Tensor forward(torch::Tensor x) {
    const auto b = x.size(0), n = x.size(1), w = x.size(2);
    auto parts = x.matmul(mix).chunk(3, -1);
    auto keys = parts[0], queries = parts[1];
    keys = keys.view({b, n, heads, size}).transpose(1, 2);
    queries = queries.view({b, n, heads, size}).transpose(1, 2);
    auto values = parts[2].view({b, n, heads, size}).transpose(1, 2);
    auto scores = queries.matmul(keys.transpose(2, 3)) / std::sqrt(static_cast<double>(size));
    scores = scores.masked_fill(mask.to(torch::kBool).slice(0, 0, n).slice(1, 0, n), -std::numeric_limits<double>::infinity());
    auto weights = attend->forward(scores);
    weights = drop->forward(weights);
    return x + out->forward(weights.matmul(values).transpose(1, 2).contiguous().view({b, n, w}));
  }
  int64_t heads, size;
  torch::nn::Linear out{nullptr};
  torch::nn::Dropout drop{nullptr};
  torch::nn::Softmax attend{-1};
  torch::Tensor mix, mask;
};
TORCH_MODULE(Attention);

struct LanguageImpl : torch::nn::Module {
  LanguageImpl(int64_t words, int64_t width)
      : embed(register_module("embed", torch::nn::Embedding(words, width))), attention(register_module("attention", Attention(width, 2))),
        head(register_module("head", torch::nn::Linear(width, words))) {}
  torch::Tensor forward(torch::Tensor x) {
    x = attention->forward(embed->forward(x));
    if (is_training()) x = x * (torch::rand(x.sizes(), torch::kDouble) > 0.2).to(torch::kDouble) / 0.8;
    if (is_training()) x = x + 0.05 * torch::randn_like(x) + 0.02 * torch::rand_like(x.transpose(1, 2)).transpose(1, 2);
    return head->forward(x);
  }
  torch::nn::Embedding embed{nullptr};
  Attention attention{nullptr};
  torch::nn::Linear head{nullptr};
};
TORCH_MODULE(Language);

int main() {
  torch::manual_seed(2);
  const int64_t batch = 6, rows = 27, words = 7;
  auto text = torch::arange(rows * 9).reshape({rows, 9}).mul(5).remainder(11).remainder(words);
  Language model(words, 8);
  model->to(torch::kDouble);
  torch::optim::AdamW optimizer(model->parameters(), torch::optim::AdamWOptions(2e-3));
  for (int epoch = 0; epoch < 2; ++epoch) {
    double total = 0;
    for (int64_t i = 0; i < rows; i += batch) {
      auto chunk = text.slice(0, i, std::min(i + batch, rows));
      auto scores = model->forward(chunk.slice(1, 0, 8));
      auto loss = torch::nn::functional::cross_entropy(scores.reshape({-1, words}), chunk.slice(1, 1, 9).reshape({-1}));
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
      total += loss.item<double>() * chunk.size(0);
    }
    std::cout << total / rows << "\n";
  }
  torch::save(model, "model.pt");
  return 0;
}
