// SPDX-License-Identifier: Apache-2.0
// e2e: args=; scaled={6*N} {0.05*N}; ranks=1,2,3; timeout=90
// form: samples made worse along the signs of the gradients of a mean loss by them
// Training against an adversary, in one step and in several.
#include <torch/torch.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

struct Rows : torch::data::datasets::Dataset<Rows> {
  torch::data::Example<> get(size_t i) override { return {x[static_cast<int64_t>(i)], y[static_cast<int64_t>(i)]}; }
  torch::optional<size_t> size() const override { return 44; }
  torch::Tensor x = torch::sin(torch::arange(44 * 5, torch::kFloat64).view({44, 5})), y = torch::arange(44).remainder(3);
};

// One step: by way of the list that the call returns.
torch::Tensor worse(torch::nn::Sequential& net, const torch::Tensor& x, const torch::Tensor& y, double by) {
  auto probe = x.detach().clone().requires_grad_(true);
  auto loss = torch::nll_loss(net->forward(probe), y);
  auto gradients = torch::autograd::grad({loss}, {probe});
  auto slope = gradients[0].detach();
  return (x + by * slope.sign()).clamp(-2, 2);
}

// Several: the loss weighs its classes, so it is a mean over what these count for.
torch::Tensor worst(torch::nn::Sequential& net, const torch::Tensor& x, const torch::Tensor& y, int times) {
  auto weights = torch::tensor({1.0, 2.0, 0.5}, torch::kFloat64);
  auto moved = x.clone();
  for (int i = 0; i < times; ++i) {
    auto probe = moved.detach().requires_grad_(true);
    auto loss = torch::nll_loss(net->forward(probe), y, weights);
    moved = moved + 0.02 * torch::sign(torch::autograd::grad({loss}, {probe}).at(0));
    moved = x + (moved - x).clamp(-0.05, 0.05);
  }
  return moved.detach();
}

int main(int argc, char** argv) {
  const int64_t batch = argc > 1 ? std::atoll(argv[1]) : 6;
  const double rate = argc > 2 ? std::atof(argv[2]) : 0.05;
  torch::manual_seed(4);
  torch::nn::Sequential net(torch::nn::Linear(5, 8), torch::nn::Tanh(), torch::nn::Linear(8, 3), torch::nn::LogSoftmax(1));
  net->to(torch::kFloat64);
  torch::optim::SGD optimizer(net->parameters(), rate);
  auto loader = torch::data::make_data_loader<torch::data::samplers::SequentialSampler>(Rows().map(torch::data::transforms::Stack<>()), batch);
  for (int epoch = 0; epoch < 2; ++epoch) {
    double sum = 0;
    for (auto& b : *loader) {
      auto first = worse(net, b.data, b.target, 0.1), second = worst(net, b.data, b.target, 3);
      auto loss = torch::nll_loss(net->forward(first), b.target) + torch::nll_loss(net->forward(second), b.target);
      optimizer.zero_grad();
      loss.backward();
      optimizer.step();
      sum += loss.item<double>() * static_cast<double>(b.data.size(0));
    }
    std::printf("epoch %d: %.12f\n", epoch, sum / 44);
  }
  torch::save(net, "net.pt");
}
