// SPDX-License-Identifier: Apache-2.0
// e2e: edit=rows = 12 => rows = {12*N}; edit=AdamOptions(4e-3) => AdamOptions({4e-3*sqrt(N)}); ranks=1,2,3; timeout=120
// Tensors declared outside of the loop and set anew in every step, by std::tie; samples drawn inside a step from a fixed noise, by the model that
// trains; a loss over flattened positions; layers that compare shapes, and
// shapes shown; single parameters saved.
// form: tensors declared outside of the loop
#include <torch/torch.h>

#include <iostream>
#include <tuple>
#include <utility>
#include <vector>

struct BlockImpl : torch::nn::Module {
  explicit BlockImpl(int64_t width) : layer(register_module("layer", torch::nn::Linear(width, width))) {}
  torch::Tensor forward(torch::Tensor x) {
    auto out = torch::tanh(layer->forward(x));
    return x.sizes() == out.sizes() ? x + out : out;
  }
  torch::nn::Linear layer{nullptr};
};
TORCH_MODULE(Block);

struct TaggerImpl : torch::nn::Module {
  TaggerImpl()
      : first(register_module("first", torch::nn::Linear(3, 8))), block(register_module("block", Block(8))),
        last(register_module("last", torch::nn::Linear(8, 4))) {}
  torch::Tensor forward(torch::Tensor x) { return last->forward(block->forward(first->forward(x))); }
  torch::nn::Linear first{nullptr};
  Block block{nullptr};
  torch::nn::Linear last{nullptr};
};
TORCH_MODULE(Tagger);

std::pair<torch::Tensor, torch::Tensor> rows_of(const torch::Tensor& x, const torch::Tensor& y, int64_t at, int64_t rows) {
  const auto end = std::min(at + rows, x.size(0));
  return {x.slice(0, at, end), y.slice(0, at, end)};
}

int main() {
  torch::manual_seed(9);
  const int64_t rows = 12, samples = 72;
  auto all = torch::sin(torch::arange(samples * 15, torch::kDouble)).reshape({samples, 5, 3});
  auto wanted = (all.sum(2) * 2).round().to(torch::kLong).remainder(4);
  Tagger model;
  model->to(torch::kDouble);
  torch::optim::Adam optimizer(model->parameters(), torch::optim::AdamOptions(4e-3));
  for (int epoch = 0; epoch < 2; ++epoch) {
    torch::Tensor batch, scores;
    int step = 0;
    for (int64_t at = 0; at < samples; at += rows) {
      torch::Tensor target;
      std::tie(batch, target) = rows_of(all, wanted, at, rows);
      scores = model->forward(batch);
      auto loss = torch::nn::functional::cross_entropy(scores.flatten(0, 1), target.flatten());
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
      if (step++ % 2 == 0) {
        auto shown = model->forward(torch::ones({7, 5, 3}, torch::kDouble)).detach();
        std::cout << scores.sizes() << " " << batch.size(0) << " " << loss.item<double>() << " " << shown.sum().item<double>() << "\n";
        torch::save(shown * 2.0, "shown.pt");
      }
    }
    batch = batch.mul(2.0);
    std::cout << batch.sizes() << " " << batch.sum().item<double>() << " " << scores.detach().abs().sum().item<double>() << "\n";
  }
  for (auto& p : model->named_parameters()) torch::save(p.value(), p.key() + ".pt");
  return 0;
}
