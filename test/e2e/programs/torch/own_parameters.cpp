// SPDX-License-Identifier: Apache-2.0
// e2e: scaled={8*N} {0.01*N**0.5}; ranks=1,2,3; timeout=120
// A module that fits itself: its function makes the optimizer from parameters(), the object of which has no name there but `this`.
// form: optimizer of the module's own parameters, made in the function that trains it
#include <torch/torch.h>

#include <cstdlib>
#include <iostream>
#include <memory>

class Fitter : public torch::nn::Module {
 public:
  Fitter(int64_t in, int64_t out, double rate) : rate_(rate) {
    inner_ = register_module("inner", torch::nn::Linear(in, 6));
    outer_ = register_module("outer", torch::nn::Linear(6, out));
  }

  torch::Tensor forward(torch::Tensor x) { return outer_->forward(torch::tanh(inner_->forward(x))); }

  void fit(const torch::Tensor& x, const torch::Tensor& y, int64_t batch) {
    torch::optim::Adam optimizer(parameters(), torch::optim::AdamOptions(rate_));
    for (int round = 0; round < 3; ++round) {
      for (int64_t i = 0; i < x.size(0); i += batch) {
        const int64_t end = std::min(i + batch, x.size(0));
        auto loss = criterion_(forward(x.slice(0, i, end)), y.slice(0, i, end));
        optimizer.zero_grad();
        loss.backward();
        optimizer.step();
      }
    }
  }

 private:
  torch::nn::Linear inner_{nullptr}, outer_{nullptr};
  torch::nn::MSELoss criterion_;
  double rate_;
};

int main(int argc, char** argv) {
  const int batch = argc > 1 ? std::atoi(argv[1]) : 8;
  const double rate = argc > 2 ? std::atof(argv[2]) : 0.01;
  torch::manual_seed(4);
  auto net = std::make_shared<Fitter>(4, 2, rate);
  net->to(torch::kFloat64);
  auto x = torch::randn({50, 4}, torch::kFloat64), y = torch::randn({50, 2}, torch::kFloat64);
  net->fit(x, y, batch);
  torch::save(net, "net.pt");
}
