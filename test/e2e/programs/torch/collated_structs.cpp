// e2e: scaled={8*N} {0.2*N}; ranks=1,2,3; timeout=90
// A batch that a function of the program's own collates into a struct, and that the model takes as one; attention whose three parts lie along one
// dimension; losses in a list that is gone through; the rows of the last batch counted by hand.
// form: a struct of collated tensors that goes into the model
// form: queries, keys and values permuted to the front
// form: losses in a list, weighted and added up one by one
#include <torch/torch.h>

#include <algorithm>
#include <cstdint>
#include <iomanip>
#include <iostream>
#include <map>
#include <numeric>
#include <random>
#include <string>
#include <vector>

namespace F = torch::nn::functional;

struct Sample {
  torch::Tensor x;
  int64_t label;
};

struct Batch {
  torch::Tensor x, labels;
};

static Batch collate(const std::vector<Sample>& samples, const std::vector<size_t>& chosen) {
  std::vector<torch::Tensor> xs;
  std::vector<int64_t> labels;
  for (size_t i : chosen) {
    xs.push_back(samples[i].x);
    labels.push_back(samples[i].label);
  }
  return {torch::stack(xs), torch::tensor(labels)};
}

struct NetImpl : torch::nn::Module {
  NetImpl() : qkv(register_module("qkv", torch::nn::Linear(4, 12))), head(register_module("head", torch::nn::Linear(4, 3))) {}
  torch::Tensor forward(const Batch& batch) {
    const int64_t rows = batch.x.size(0), steps = batch.x.size(1);
    auto parts = qkv->forward(batch.x).view({rows, steps, 3, 2, 2}).permute({2, 0, 3, 1, 4});
    auto q = parts[0], k = parts[1], v = parts[2];
    auto weights = torch::softmax(torch::matmul(q, k.transpose(-2, -1)), -1);
    return head->forward(torch::matmul(weights, v).transpose(1, 2).reshape({rows, steps, 4}).mean(1));
  }
  torch::nn::Linear qkv{nullptr}, head{nullptr};
};
TORCH_MODULE(Net);

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const size_t size = std::stoul(argv[1]);
  torch::manual_seed(6);
  std::vector<Sample> samples;
  for (int i = 0; i < 41; ++i) {
    auto x = torch::randn({5, 4}, torch::kDouble);
    samples.push_back({x, x.sum(0).slice(0, 0, 3).argmax().item<int64_t>()});
  }
  Net net;
  net->to(torch::kDouble);
  torch::optim::SGD opt(net->parameters(), std::stod(argv[2]));
  std::vector<size_t> order(samples.size());
  std::iota(order.begin(), order.end(), 0);
  std::mt19937 engine(3);
  std::cout << std::setprecision(9);
  for (int epoch = 0; epoch < 2; ++epoch) {
    std::shuffle(order.begin(), order.end(), engine);
    std::map<std::string, double> shown;
    double per_row = 0;
    for (size_t at = 0; at < order.size(); at += size) {
      std::vector<size_t> chosen(order.begin() + at, order.begin() + std::min(at + size, order.size()));
      auto batch = collate(samples, chosen);
      auto scores = net->forward(batch);
      std::vector<torch::Tensor> losses{F::cross_entropy(scores, batch.labels), 0.1 * scores.pow(2).mean()};
      losses.push_back(0.01 * scores.abs().mean());
      auto loss = torch::zeros({}, torch::kDouble);
      for (const auto& l : losses) loss = loss + 0.5 * l;
      opt.zero_grad();
      loss.backward();
      opt.step();
      std::map<std::string, torch::Tensor> named{{"class", losses[0]}, {"size", losses[1]}};
      for (const auto& [name, l] : named) shown[name] += l.item<double>();
      per_row += loss.item<double>();
    }
    for (const auto& [name, value] : shown) std::cout << epoch << ' ' << name << ' ' << value << '\n';
    std::cout << epoch << ' ' << per_row << '\n';
  }
}
