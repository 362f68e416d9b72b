// e2e: scaled={8*N} {0.05*N}; ranks=1,2,3; timeout=120
// form: outputs of auxiliary heads that forward pushes onto a list in the struct that it returns
#include <torch/torch.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace F = torch::nn::functional;

struct Outputs {
  torch::Tensor classes;
  std::vector<torch::Tensor> aside;
};

struct NetImpl : torch::nn::Module {
  torch::nn::Linear body{register_module("body", torch::nn::Linear(5, 6))}, head{register_module("head", torch::nn::Linear(6, 3))},
      first{register_module("first", torch::nn::Linear(6, 3))}, second{register_module("second", torch::nn::Linear(6, 3))};
  Outputs forward(torch::Tensor x) {
    Outputs out;
    const auto hidden = torch::tanh(body(x));
    out.aside.push_back(first(hidden));
    out.aside.emplace_back(second(hidden * 0.5));
    out.classes = head(hidden);
    return out;
  }
};
TORCH_MODULE(Net);

int main(int argc, char** argv) {
  torch::set_default_dtype(torch::scalarTypeToTypeMeta(torch::kFloat64));
  torch::manual_seed(1);
  const int64_t batch = argc > 1 ? std::atoll(argv[1]) : 8;
  const auto xs = torch::randn({60, 5}), ys = (xs.sum(1) > 0).to(torch::kLong);
  Net net;
  torch::optim::SGD optimizer(net->parameters(), argc > 2 ? std::atof(argv[2]) : 0.05);
  for (int epoch = 0; epoch < 3; ++epoch) {
    double total = 0, aside = 0;
    for (int64_t at = 0; at < 60; at += batch) {
      const auto x = xs.slice(0, at, std::min<int64_t>(60, at + batch)), y = ys.slice(0, at, std::min<int64_t>(60, at + batch));
      const auto out = net->forward(x);
      auto loss = F::cross_entropy(out.classes, y);
      for (const auto& a : out.aside) loss = loss + 0.3 * F::cross_entropy(a, y);
      loss = loss + 0.1 * F::cross_entropy(out.aside[1], y);
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
      total += loss.item<double>() * x.size(0);
      for (size_t i = 0; i < out.aside.size(); ++i) aside += (out.aside[i].argmax(1) == y).sum().item<double>();
    }
    std::printf("epoch %d %.9f %.0f\n", epoch, total / 60, aside);
  }
  return 0;
}
