// SPDX-License-Identifier: Apache-2.0
// e2e: scaled={8*N} {0.05*N}; ranks=1,2,3; timeout=120
// A class climbs along the gradients in one function and steps back and on in another: its optimizer is a member, and no step is near where the
// gradients are read. (After Foret et al. 2021, "Sharpness-aware minimization".) Beside it, running moments and hits by class over single rows.
// form: gradients read in one function of a class whose optimizer steps in another
#include <torch/torch.h>

#include <cmath>
#include <cstdlib>
#include <iostream>
#include <map>
#include <vector>

class Sam {
 public:
  Sam(std::vector<torch::Tensor> ps, double lr, double rho) : ps_(ps), inner_(ps, torch::optim::SGDOptions(lr).momentum(0.9)), rho_(rho) {}
  void climb() {
    torch::NoGradGuard ng;
    double sq = 0;
    for (auto& p : ps_) if (p.grad().defined()) sq += p.grad().pow(2).sum().item<double>();
    double scale = rho_ / (std::sqrt(sq) + 1e-12);
    eps_.clear();
    for (auto& p : ps_) { auto e = p.grad() * scale; p.add_(e); eps_.push_back(e); }
    inner_.zero_grad();
  }
  void descend() {
    { torch::NoGradGuard ng; for (size_t i = 0; i < ps_.size(); ++i) ps_[i].sub_(eps_[i]); }
    inner_.step();
    inner_.zero_grad();
  }
  void zero() { inner_.zero_grad(); }
 private:
  std::vector<torch::Tensor> ps_, eps_;
  torch::optim::SGD inner_;
  double rho_;
};
struct Rows : torch::data::Dataset<Rows> {
  torch::Tensor x, y;
  Rows() { torch::manual_seed(3); x = torch::randn({90, 6}, torch::kFloat64); y = (x.sum(1) > 0).to(torch::kLong); }
  torch::data::Example<> get(size_t i) override { return {x[i], y[i]}; }
  c10::optional<size_t> size() const override { return 90; }
};
int main(int argc, char** argv) {
  int batch = argc > 1 ? std::atoi(argv[1]) : 8;
  double lr = argc > 2 ? std::atof(argv[2]) : 0.05;
  auto loader = torch::data::make_data_loader<torch::data::samplers::SequentialSampler>(Rows().map(torch::data::transforms::Stack<>()), batch);
  torch::manual_seed(1);
  torch::nn::Sequential net(torch::nn::Linear(6, 10), torch::nn::ReLU(), torch::nn::Linear(10, 2));
  net->to(torch::kFloat64);
  Sam sam(net->parameters(), lr, 0.05);
  std::map<int, std::pair<int, int>> perclass;
  for (int epoch = 0; epoch < 3; ++epoch) {
    perclass.clear();
    double mean = 0, m2 = 0; long seen = 0;
    for (auto& bt : *loader) {
      sam.zero();
      auto loss = torch::nn::functional::cross_entropy(net->forward(bt.data), bt.target);
      loss.backward();
      sam.climb();
      auto second = torch::nn::functional::cross_entropy(net->forward(bt.data), bt.target);
      second.backward();
      sam.descend();
      torch::NoGradGuard ng;
      auto out = net->forward(bt.data);
      auto guess = out.argmax(1);
      auto conf = torch::softmax(out, 1).select(1, 1);
      for (int64_t i = 0; i < guess.size(0); ++i) {
        int t = bt.target[i].item<int>();
        perclass[t].second++;
        if (guess[i].item<int>() == t) perclass[t].first++;
        double v = conf[i].item<double>();
        ++seen;
        double d = v - mean;
        mean += d / seen;
        m2 += d * (v - mean);
      }
    }
    std::cout << "epoch " << epoch << " conf " << mean << " var " << m2 / seen;
    for (auto& [c, p] : perclass) std::cout << " class " << c << " " << p.first << "/" << p.second;
    std::cout << "\n";
  }
  torch::save(net, "sam.pt");
}
