// e2e: scaled={8*N} {0.1*N}; ranks=1,2,3; timeout=90
// SPDX-License-Identifier: Apache-2.0
// Gradients that a class of the author's reads through the groups of an optimizer which steps elsewhere: the weights are moved uphill by them, a second pass follows there, and
// the optimizer steps from where they were (after Foret et al. 2021, "Sharpness-aware minimization").
// form: sharpness-aware steps: gradients read through the optimizer's groups, a second pass, then the step
#include <torch/torch.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

struct Net : torch::nn::Module {
  torch::nn::Linear in{nullptr}, out{nullptr};
  Net() {
    in = register_module("in", torch::nn::Linear(5, 12));
    out = register_module("out", torch::nn::Linear(12, 3));
  }
  torch::Tensor forward(torch::Tensor x) { return out(torch::tanh(in(x))); }
};

class Uphill {
 public:
  Uphill(torch::optim::Optimizer& inner, double radius) : inner_(inner), radius_(radius) {}

  void climb() {
    torch::NoGradGuard quiet;
    const torch::Tensor scale = radius_ / (length() + 1e-12);
    moves_.clear();
    for (auto& group : inner_.param_groups())
      for (auto& p : group.params()) {
        moves_.push_back(p.grad() * scale);
        p.add_(moves_.back());
      }
    inner_.zero_grad();
  }

  void step() {
    {
      torch::NoGradGuard quiet;
      size_t at = 0;
      for (auto& group : inner_.param_groups())
        for (auto& p : group.params()) p.sub_(moves_[at++]);
    }
    inner_.step();
    inner_.zero_grad();
  }

  double last_length() const { return last_; }

 private:
  torch::Tensor length() {
    std::vector<torch::Tensor> all;
    for (auto& group : inner_.param_groups())
      for (auto& p : group.params()) all.push_back(p.grad().norm());
    torch::Tensor total = torch::stack(all).norm();
    last_ = total.item<double>();
    return total;
  }

  torch::optim::Optimizer& inner_;
  double radius_, last_ = 0;
  std::vector<torch::Tensor> moves_;
};

int main(int argc, char** argv) {
  const int64_t batch = argc > 1 ? std::atoi(argv[1]) : 8;
  const double rate = argc > 2 ? std::atof(argv[2]) : 0.1;
  torch::manual_seed(11);
  const int64_t n = 45;
  const torch::Tensor inputs = torch::randn({n, 5}, torch::kFloat64), labels = torch::randint(0, 3, {n}, torch::kLong);
  Net net;
  net.to(torch::kFloat64);
  torch::optim::SGD opt(net.parameters(), torch::optim::SGDOptions(rate).momentum(0.9));
  Uphill steps(opt, 0.05);
  for (int epoch = 0; epoch < 3; ++epoch) {
    const torch::Tensor order = torch::randperm(n, torch::kLong);
    double sum = 0;
    for (int64_t at = 0; at < n; at += batch) {
      const torch::Tensor rows = order.slice(0, at, at + batch);
      const torch::Tensor x = inputs.index_select(0, rows), y = labels.index_select(0, rows);
      const torch::Tensor loss = torch::nn::functional::cross_entropy(net.forward(x), y);
      loss.backward();
      steps.climb();
      torch::nn::functional::cross_entropy(net.forward(x), y).backward();
      steps.step();
      sum += loss.item<double>() * static_cast<double>(x.size(0));
    }
    std::printf("epoch %d: loss %.8f, gradient %.8f\n", epoch, sum / n, steps.last_length());
  }
  torch::save(net.parameters(), "net.pt");
}
