// e2e: ranks=1,2,3; timeout=120; modes=global
// form: a trainer's optimizer that a function makes, in the list of its constructor's initialisers
#include <torch/torch.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>

std::unique_ptr<torch::optim::Optimizer> make_optimizer(const std::string& name, const std::vector<torch::Tensor>& parameters, double rate) {
  if (name == "adam") return std::make_unique<torch::optim::Adam>(parameters, torch::optim::AdamOptions(rate));
  return std::make_unique<torch::optim::SGD>(parameters, torch::optim::SGDOptions(rate));
}

class Trainer {
 public:
  Trainer(torch::nn::Linear net, const std::string& name) : net_(net), optimizer_(make_optimizer(name, net->parameters(), 0.05)) {}

  double epoch(const torch::Tensor& xs, const torch::Tensor& ys) {
    double sum = 0;
    for (int64_t at = 0; at < xs.size(0); at += 8) {
      const auto x = xs.slice(0, at, std::min<int64_t>(at + 8, xs.size(0))), y = ys.slice(0, at, std::min<int64_t>(at + 8, xs.size(0)));
      optimizer_->zero_grad();
      const auto loss = torch::mse_loss(net_->forward(x), y);
      loss.backward();
      optimizer_->step();
      sum += loss.item<double>() * x.size(0);
    }
    return sum / xs.size(0);
  }

 private:
  torch::nn::Linear net_;
  std::unique_ptr<torch::optim::Optimizer> optimizer_;
};

int main() {
  torch::set_default_dtype(torch::scalarTypeToTypeMeta(torch::kFloat64));
  torch::manual_seed(1);
  const auto xs = torch::randn({43, 3}), ys = xs.sum(1, true);
  for (const std::string name : {"adam", "sgd"}) {
    Trainer trainer(torch::nn::Linear(3, 1), name);
    for (int epoch = 0; epoch < 3; ++epoch) std::printf("%s %.9f\n", name.c_str(), trainer.epoch(xs, ys));
  }
  return 0;
}
