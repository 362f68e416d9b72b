// SPDX-License-Identifier: Apache-2.0
// e2e: shortcuts=bodies; edit=kBatch = 8 => kBatch = {8*N}; edit=SGDOptions(0.1) => SGDOptions({0.1*N}); ranks=1,2,3; timeout=120
// What a trainer tells of its classes and of single samples, in training and in evaluation: confusion matrices and histograms written by
// index, hits counted row by row on the host and in memory, the spread of the outputs, a running mean kept in a tensor.
#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <utility>

constexpr int64_t kBatch = 8;

struct Points : torch::data::datasets::Dataset<Points> {
  torch::Tensor x, y;
  Points(int64_t n, uint64_t seed) {
    torch::manual_seed(seed);
    x = torch::randn({n, 6}, torch::kDouble);
    y = x.slice(1, 0, 3).argmax(1);
  }
  torch::data::Example<> get(size_t i) override { return {x[i], y[i]}; }
  torch::optional<size_t> size() const override { return x.size(0); }
};

struct NetImpl : torch::nn::Module {
  NetImpl() : hidden(register_module("hidden", torch::nn::Linear(6, 9))), output(register_module("output", torch::nn::Linear(9, 3))) {}
  torch::Tensor forward(const torch::Tensor& x) { return output(torch::tanh(hidden(x))); }
  torch::nn::Linear hidden, output;
};
TORCH_MODULE(Net);

// A loss and a count, of one call.
std::pair<torch::Tensor, int64_t> judge(Net& net, const torch::Tensor& x, const torch::Tensor& y) {
  const auto out = net(x);
  return {torch::nn::functional::cross_entropy(out, y), out.argmax(1).eq(y).sum().item<int64_t>()};
}

int main() {
  auto train = torch::data::make_data_loader<torch::data::samplers::RandomSampler>(Points(50, 1).map(torch::data::transforms::Stack<>()), kBatch);
  auto test = torch::data::make_data_loader<torch::data::samplers::SequentialSampler>(Points(31, 2).map(torch::data::transforms::Stack<>()), 10);
  torch::manual_seed(3);
  Net net;
  net->to(torch::kDouble);
  torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(0.1));
  std::cout.precision(10);
  auto smooth = torch::zeros({3}, torch::kDouble);
  int steps = 0;
  for (int epoch = 0; epoch < 2; ++epoch) {
    net->train();
    auto confusion = torch::zeros({3, 3}, torch::kDouble), seen = torch::zeros({3}, torch::kDouble), weights = torch::zeros({3}, torch::kDouble);
    auto counts = torch::zeros({3}, torch::kLong);
    int hits = 0, rows = 0, read = 0;
    int64_t together = 0;
    double improved = 0;
    for (auto& batch : *train) {
      auto labels = batch.target;
      auto out = net(batch.data);
      auto loss = torch::nn::functional::cross_entropy(out, labels);
      if (std::isnan(loss.item<double>())) throw std::runtime_error("the loss is not a number");
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
      auto scores = out.detach();
      const auto [after, right] = judge(net, batch.data, labels);
      together += right;
      improved += loss.item<double>() - after.item<double>();
      auto predicted = scores.argmax(1);
      confusion.index_put_({labels, predicted}, torch::ones({1}, torch::kDouble), true);
      seen.index_add_(0, labels, torch::ones({labels.size(0)}, torch::kDouble));
      weights.scatter_add_(0, predicted, scores.sum(1));
      counts += torch::bincount(labels, {}, 3);
      smooth = smooth * 0.8 + scores.mean(0) * 0.2;
      for (int64_t i = 0; i < labels.size(0); ++i, ++rows)
        if (predicted[i].item<int64_t>() == labels[i].item<int64_t>()) ++hits;
      const auto guessed = predicted.accessor<int64_t, 1>();
      const int64_t* wanted = labels.data_ptr<int64_t>();
      for (int64_t i = 0; i < labels.size(0); ++i) read += guessed[i] == wanted[i] ? 1 : 100;
      if (++steps % 3 == 0)
        std::cout << steps << ": loss " << loss.item<double>() << " spread " << scores.std().item<double>() << " first " << scores[0][labels[0].item<int64_t>()].item<double>()
                  << " best " << std::get<0>(scores.max(1))[0].item<double>() << "\n";
    }
    std::cout << confusion << seen << weights << counts << smooth << hits << "/" << rows << " " << read << " " << together << " " << improved << "\n";
    torch::NoGradGuard guard;
    net->eval();
    auto judged = torch::zeros({3, 3}, torch::kLong);
    double sum = 0, weighed = 0;
    for (auto& batch : *test) {
      auto out = net(batch.data);
      judged.index_put_({batch.target, out.argmax(1)}, torch::ones({1}, torch::kLong), true);
      auto table = out.accessor<double, 2>();
      for (int64_t i = 0; i < table.size(0); ++i)
        for (int64_t k = 0; k < table.size(1); ++k) weighed += double(i % 5 + k) * table[i][k];
      sum += torch::nn::functional::cross_entropy(out, batch.target, torch::nn::functional::CrossEntropyFuncOptions().reduction(torch::kSum)).item<double>();
    }
    // The sample that is judged worst, and how far off the worst is.
    double worst = -1, furthest = -1;
    int64_t at = -1, base = 0;
    for (auto& batch : *test) {
      auto off = torch::nn::functional::cross_entropy(net(batch.data), batch.target, torch::nn::functional::CrossEntropyFuncOptions().reduction(torch::kNone));
      auto most = off.max(0);
      if (std::get<0>(most).item<double>() > worst) {
        worst = std::get<0>(most).item<double>();
        at = base + std::get<1>(most).item<int64_t>();
      }
      base += off.size(0);
    }
    for (auto& batch : *test) {
      auto [value, place] = torch::nn::functional::mse_loss(net(batch.data), batch.data.slice(1, 0, 3), torch::kNone).sum(1).max(0);
      furthest = std::max(furthest, value.item<double>());
    }
    std::cout << at << " " << worst << " " << furthest << "\n";
    std::cout << judged << judged.diag().sum().item<int64_t>() << " " << sum << " " << weighed << "\n";
  }
  torch::save(net, "net.pt");
}
