// SPDX-License-Identifier: Apache-2.0
// e2e: modes=global; args=8 0.01; ranks=1,2,3; timeout=120
// A class of the program's own updates the parameters that its constructor was given: by the signs of a running mean of gradients (after Chen et al.
// 2023, "Symbolic Discovery of Optimization Algorithms"), as far as a layer's norm allows. Its list has no name where training begins.
// form: parameters in a member of a class that updates them by hand, made from the model's
#include <torch/torch.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <vector>

class Lion {
 public:
  Lion(std::vector<torch::Tensor> ps, double lr) : ps_(std::move(ps)), lr_(lr) { for (auto& p : ps_) m_.push_back(torch::zeros_like(p)); }
  void zero_grad() { for (auto& p : ps_) if (p.grad().defined()) p.mutable_grad().zero_(); }
  void step() {
    torch::NoGradGuard ng;
    for (size_t i = 0; i < ps_.size(); ++i) {
      auto g = ps_[i].grad();
      if (!g.defined()) continue;
      auto u = (m_[i] * 0.9 + g * 0.1).sign();
      double trust = ps_[i].norm().item<double>() / (u.norm().item<double>() + 1e-9);
      ps_[i].mul_(1 - lr_ * 0.01).sub_(u * lr_ * std::min(trust, 1.0));
      m_[i].mul_(0.99).add_(g, 0.01);
    }
  }
 private:
  std::vector<torch::Tensor> ps_, m_;
  double lr_;
};
struct Rows : torch::data::Dataset<Rows> {
  torch::Tensor x, y;
  Rows() { torch::manual_seed(3); x = torch::randn({96, 6}, torch::kFloat64); y = (x.sum(1) > 0).to(torch::kFloat64); }
  torch::data::Example<> get(size_t i) override { return {x[i], y[i]}; }
  c10::optional<size_t> size() const override { return 96; }
};
int main(int argc, char** argv) {
  int bs = argc > 1 ? std::atoi(argv[1]) : 8;
  double lr = argc > 2 ? std::atof(argv[2]) : 0.01;
  auto loader = torch::data::make_data_loader<torch::data::samplers::SequentialSampler>(Rows().map(torch::data::transforms::Stack<>()), bs);
  torch::manual_seed(2);
  torch::nn::Sequential net(torch::nn::Linear(6, 8), torch::nn::GELU(), torch::nn::Linear(8, 1));
  net->to(torch::kFloat64);
  Lion opt(net->parameters(), lr);
  for (int e = 0; e < 3; ++e) {
    double total = 0;
    int n = 0;
    for (auto& b : *loader) {
      opt.zero_grad();
      auto loss = torch::binary_cross_entropy_with_logits(net->forward(b.data).squeeze(1), b.target);
      loss.backward();
      opt.step();
      total += loss.item<double>();
      ++n;
    }
    std::cout << e << " " << total / n << "\n";
  }
  torch::save(net, "lion.pt");
}
