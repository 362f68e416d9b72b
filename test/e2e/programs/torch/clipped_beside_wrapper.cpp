// SPDX-License-Identifier: Apache-2.0
// e2e: scaled={6*N} {0.04*N}; ranks=1,2,3; timeout=120
// Gradients are clipped and measured in main, and the step is made by an object that keeps slow weights beside the optimizer's
// (after Zhang et al. 2019, "Lookahead Optimizer"). No step of the optimizer is in sight where they are read.
// form: gradients read beside the step of a class of the program's own that holds the optimizer
#include <torch/torch.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

class SlowWeights {
 public:
  SlowWeights(torch::optim::Optimizer& fast, std::vector<torch::Tensor> parameters, int every) : fast_(fast), parameters_(std::move(parameters)), every_(every) {
    for (const auto& p : parameters_) slow_.push_back(p.detach().clone());
  }
  void advance() {
    fast_.step();
    if (++steps_ % every_ != 0) return;
    torch::NoGradGuard guard;
    for (size_t i = 0; i < slow_.size(); ++i) {
      slow_[i].lerp_(parameters_[i], 0.5);
      parameters_[i].copy_(slow_[i]);
    }
  }

 private:
  torch::optim::Optimizer& fast_;
  std::vector<torch::Tensor> parameters_, slow_;
  int every_, steps_ = 0;
};

struct Curve : torch::data::datasets::Dataset<Curve> {
  torch::data::Example<> get(size_t i) override {
    auto x = torch::tensor({0.05 * static_cast<double>(i), 1.0 - 0.03 * static_cast<double>(i)}, torch::kDouble);
    return {x, x.sin().sum(0, true)};
  }
  torch::optional<size_t> size() const override { return 40; }
};

int main(int argc, char** argv) {
  const int64_t rows = argc > 1 ? std::atoll(argv[1]) : 6;
  const double rate = argc > 2 ? std::atof(argv[2]) : 0.04;
  torch::manual_seed(9);
  auto loader = torch::data::make_data_loader<torch::data::samplers::RandomSampler>(Curve().map(torch::data::transforms::Stack<>()), rows);
  torch::nn::Sequential net(torch::nn::Linear(2, 6), torch::nn::Tanh(), torch::nn::Linear(6, 1));
  net->to(torch::kDouble);
  torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(rate).momentum(0.5));
  SlowWeights slow(optimizer, net->parameters(), 3);
  for (int epoch = 0; epoch < 3; ++epoch) {
    double longest = 0, sum = 0;
    for (auto& batch : *loader) {
      optimizer.zero_grad();
      auto loss = torch::mse_loss(net->forward(batch.data), batch.target);
      loss.backward();
      const double norm = torch::nn::utils::clip_grad_norm_(net->parameters(), 0.5);
      if (norm > longest) longest = norm;
      slow.advance();
      sum += loss.item<double>();
    }
    std::printf("%d %.9f %.9f\n", epoch, sum, longest);
  }
  torch::save(net, "net.pt");
}
