// e2e: scaled={8*N} {0.05*N}; ranks=1,2,3; timeout=120
// form: a trainer's optimizer that a function makes, in the list of its constructor's initialisers
#include <torch/torch.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

std::unique_ptr<torch::optim::Optimizer> make_optimizer(const std::string& name, const std::vector<torch::Tensor>& parameters, double rate) {
  if (name == "momentum") return std::make_unique<torch::optim::SGD>(parameters, torch::optim::SGDOptions(rate).momentum(0.5));
  return std::make_unique<torch::optim::SGD>(parameters, torch::optim::SGDOptions(rate));
}

class Trainer {
 public:
  Trainer(torch::nn::Linear net, const std::string& name, double rate) : net_(net), optimizer_(make_optimizer(name, net->parameters(), rate)) {}

  double epoch(const torch::Tensor& xs, const torch::Tensor& ys, int64_t batch) {
    double sum = 0;
    for (int64_t at = 0; at < xs.size(0); at += batch) {
      const auto x = xs.slice(0, at, std::min<int64_t>(at + batch, xs.size(0))), y = ys.slice(0, at, std::min<int64_t>(at + batch, xs.size(0)));
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

int main(int argc, char** argv) {
  torch::set_default_dtype(torch::scalarTypeToTypeMeta(torch::kFloat64));
  torch::manual_seed(1);
  const auto xs = torch::randn({43, 3}), ys = xs.sum(1, true);
  const int64_t batch = argc > 1 ? std::atoll(argv[1]) : 8;
  const double rate = argc > 2 ? std::atof(argv[2]) : 0.05;
  for (const std::string name : {"momentum", "sgd"}) {
    Trainer trainer(torch::nn::Linear(3, 1), name, rate);
    for (int epoch = 0; epoch < 3; ++epoch) std::printf("%s %.9f\n", name.c_str(), trainer.epoch(xs, ys, batch));
  }
  return 0;
}
