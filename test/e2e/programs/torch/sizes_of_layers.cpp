// SPDX-License-Identifier: Apache-2.0
// e2e: edit=kBatch = 6 => kBatch = {6*N}; edit=rate = 0.05 => rate = {0.05*N}; ranks=1,2,3; timeout=60
// States of zeros whose first extent is a number of layers, in a member or asked of the layer, are no batches. One function makes them for the rows
// of a tensor and for the size of a batch. Targets in the shape of the inputs are filled with them, row by row.
// form: hidden state made by a method of the model, for the size of a batch
// form: targets made by zeros_like(inputs) and filled row by row
#include <torch/torch.h>

#include <cmath>
#include <iostream>
#include <random>
#include <tuple>
#include <utility>
#include <vector>

constexpr int64_t kBatch = 6, kTokens = 7;

using State = std::tuple<torch::Tensor, torch::Tensor>;

struct SpellerImpl : torch::nn::Module {
  SpellerImpl(int64_t width, int64_t layers)
      : layers(layers), width(width), names(register_module("names", torch::nn::Embedding(kTokens, 4))),
        lstm(register_module("lstm", torch::nn::LSTM(torch::nn::LSTMOptions(4, width).num_layers(layers).batch_first(true)))),
        gru(register_module("gru", torch::nn::GRU(torch::nn::GRUOptions(width, width).num_layers(2).batch_first(true)))),
        head(register_module("head", torch::nn::Linear(width, kTokens))) {}
  torch::Tensor forward(torch::Tensor x) { return forward(x, begin(x.size(0))); }
  torch::Tensor forward(torch::Tensor x, State state) {
    auto out = lstm->forward(names->forward(x), state);
    auto again = gru->forward(std::get<0>(out), torch::zeros({gru->options.num_layers(), x.size(0), gru->options.hidden_size()}));
    return head->forward(std::get<0>(again));
  }
  State begin(int64_t n) { return {torch::zeros({layers, n, width}), torch::zeros({layers, n, width})}; }
  int64_t layers, width;
  torch::nn::Embedding names;
  torch::nn::LSTM lstm;
  torch::nn::GRU gru;
  torch::nn::Linear head;
};
TORCH_MODULE(Speller);

struct Words {
  std::vector<std::vector<int64_t>> all;
  std::mt19937 engine{4};

  Words() {
    for (int w = 0; w < 29; ++w) {
      all.emplace_back();
      for (unsigned c = 0; c < 3 + engine() % 4; ++c) all.back().push_back(1 + static_cast<int64_t>(engine() % (kTokens - 1)));
    }
  }
  std::pair<torch::Tensor, torch::Tensor> draw(int64_t n) {
    std::vector<size_t> chosen;
    for (int64_t i = 0; i < n; ++i) chosen.push_back(engine() % all.size());
    size_t longest = 0;
    for (size_t w : chosen) longest = std::max(longest, all[w].size());
    auto inputs = torch::zeros({n, static_cast<int64_t>(longest) - 1}, torch::kLong), targets = torch::zeros_like(inputs);
    for (size_t r = 0; r < chosen.size(); ++r)
      for (size_t c = 0; c + 1 < all[chosen[r]].size(); ++c) {
        inputs[static_cast<int64_t>(r)][static_cast<int64_t>(c)] = all[chosen[r]][c];
        targets[static_cast<int64_t>(r)][static_cast<int64_t>(c)] = all[chosen[r]][c + 1];
      }
    return {inputs, targets};
  }
};

int main() {
  torch::manual_seed(2);
  torch::set_default_dtype(caffe2::TypeMeta::Make<double>());
  Words words;
  Speller net(5, 2);
  const double rate = 0.05;
  torch::optim::SGD optimizer(net->parameters(), rate);
  double loss_sum = 0;
  for (int step = 0; step < 8; ++step) {
    auto [inputs, targets] = words.draw(kBatch);
    auto out = step % 2 ? net->forward(inputs) : net->forward(inputs, net->begin(kBatch));
    auto loss = torch::nn::functional::cross_entropy(out.reshape({-1, kTokens}), targets.reshape(-1), torch::nn::functional::CrossEntropyFuncOptions().ignore_index(0));
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    loss_sum += loss.item<double>();
    std::cout << step << " " << loss_sum / (step + 1) << "\n";
  }
  torch::save(net, "speller.pt");
}
