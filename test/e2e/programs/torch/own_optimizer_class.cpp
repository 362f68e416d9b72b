// e2e: modes=global; args=8 0.05; ranks=1,2,3; timeout=120; warns=HVD2010
// form: an optimizer class of the program's own, with a step, options and state of its own
#include <torch/torch.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

struct DampedOptions : torch::optim::OptimizerCloneableOptions<DampedOptions> {
  DampedOptions(double lr = 1e-3) : lr_(lr) {}
  TORCH_ARG(double, lr) = 1e-3;
  TORCH_ARG(double, beta) = 0.9;

 public:
  double get_lr() const override { return lr(); }
  void set_lr(const double rate) override { lr(rate); }
};

class Damped : public torch::optim::Optimizer {
 public:
  Damped(std::vector<torch::Tensor> parameters, DampedOptions defaults)
      : Optimizer({torch::optim::OptimizerParamGroup(std::move(parameters))}, std::make_unique<DampedOptions>(defaults)) {}

  torch::Tensor step(LossClosure closure = nullptr) override {
    torch::NoGradGuard guard;
    torch::Tensor loss;
    if (closure) {
      at::AutoGradMode enabled(true);
      loss = closure();
    }
    for (auto& group : param_groups_) {
      auto& options = static_cast<DampedOptions&>(group.options());
      for (auto& p : group.params()) {
        if (!p.grad().defined()) continue;
        auto& m = momentum_[p.unsafeGetTensorImpl()];
        if (!m.defined()) m = torch::zeros_like(p);
        m.mul_(options.beta()).add_(p.grad(), 1 - options.beta());
        p.add_(m.tanh(), -options.lr());
      }
    }
    return loss;
  }

 private:
  std::unordered_map<void*, torch::Tensor> momentum_;
};

int main(int argc, char** argv) {
  torch::set_default_dtype(torch::scalarTypeToTypeMeta(torch::kFloat64));
  torch::manual_seed(1);
  const int64_t batch = argc > 1 ? std::atoll(argv[1]) : 8;
  const auto xs = torch::randn({43, 3}), ys = torch::randn({43, 1});
  torch::nn::Linear net(3, 1);
  Damped optimizer(net->parameters(), DampedOptions(argc > 2 ? std::atof(argv[2]) : 0.05).beta(0.8));
  for (int epoch = 0; epoch < 4; ++epoch) {
    double sum = 0;
    for (int64_t at = 0; at < 43; at += batch) {
      const auto x = xs.slice(0, at, std::min<int64_t>(43, at + batch)), y = ys.slice(0, at, std::min<int64_t>(43, at + batch));
      optimizer.zero_grad();
      const auto loss = torch::mse_loss(net(x), y);
      loss.backward();
      torch::nn::utils::clip_grad_norm_(net->parameters(), 1.0);
      optimizer.step();
      sum += loss.item<double>() * x.size(0);
    }
    if (epoch == 2)
      for (auto& group : optimizer.param_groups()) group.options().set_lr(group.options().get_lr() * 0.5);
    std::printf("epoch %d loss %.9f\n", epoch, sum / 43);
  }
  return 0;
}
