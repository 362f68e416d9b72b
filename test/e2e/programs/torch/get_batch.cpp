// SPDX-License-Identifier: Apache-2.0
// e2e: edit=batch = 8 => batch = {8*N}; edit=AdamWOptions(3e-3) => AdamWOptions({3e-3*sqrt(N)}); ranks=1,2,3; warns=HVD2005; timeout=120
// A language model on random offsets into one long text: batches stacked from slices by a helper, embeddings, a fixed number of steps.
// form: batches drawn at random offsets (get_batch)
#include <torch/torch.h>

#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

struct Settings {
  int64_t block = 6, batch = 8, width = 16, vocabulary = 0;
};

std::pair<torch::Tensor, torch::Tensor> get_batch(const torch::Tensor& data, const Settings& s) {
  auto offsets = torch::randint(0, data.size(0) - s.block - 1, {s.batch}, torch::kLong);
  std::vector<torch::Tensor> xs, ys;
  for (int64_t i = 0; i < offsets.size(0); ++i) {
    const auto at = offsets[i].item<int64_t>();
    xs.push_back(data.slice(0, at, at + s.block));
    ys.push_back(data.slice(0, at + 1, at + s.block + 1));
  }
  return {torch::stack(xs), torch::stack(ys)};
}

class Model : public torch::nn::Module {
 public:
  explicit Model(const Settings& s)
      : tokens(register_module("tokens", torch::nn::Embedding(s.vocabulary, s.width))),
        positions(register_module("positions", torch::nn::Embedding(s.block, s.width))),
        mix(register_module("mix", torch::nn::Linear(s.width, s.width))), norm(register_module("norm", torch::nn::LayerNorm(torch::nn::LayerNormOptions({s.width})))),
        head(register_module("head", torch::nn::Linear(s.width, s.vocabulary))) {}

  torch::Tensor forward(torch::Tensor ids) {
    auto where = torch::arange(ids.size(1), torch::kLong);
    auto x = tokens->forward(ids) + positions->forward(where);
    x = x + torch::gelu(mix->forward(norm->forward(x)));
    return head->forward(x);
  }

 private:
  torch::nn::Embedding tokens, positions;
  torch::nn::Linear mix;
  torch::nn::LayerNorm norm;
  torch::nn::Linear head;
};

int main() {
  torch::manual_seed(5);
  const std::string text = "the quick brown fox jumps over the lazy dog and the dog sleeps while the fox runs on and on ";
  Settings s;
  std::vector<int64_t> ids;
  for (int k = 0; k < 6; ++k)
    for (char c : text) ids.push_back(c == ' ' ? 0 : c - 'a' + 1);
  s.vocabulary = 27;
  auto data = torch::tensor(ids, torch::kLong);
  auto model = std::make_shared<Model>(s);
  model->to(torch::kDouble);
  torch::optim::AdamW optimizer(model->parameters(), torch::optim::AdamWOptions(3e-3));
  for (int step = 0; step < 12; ++step) {
    auto [x, y] = get_batch(data, s);
    auto logits = model->forward(x);
    auto loss = torch::nn::functional::cross_entropy(logits.view({-1, s.vocabulary}), y.reshape({-1}));
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    if (step % 4 == 3) std::cout << "step " << step << ": loss " << loss.item<double>() << std::endl;
  }
  std::cout.precision(12);
  for (auto& p : model->parameters()) std::cout << p.sum().item<double>() << "\n";
}
