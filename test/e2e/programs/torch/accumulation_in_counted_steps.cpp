// e2e: hvdize=--steps=divide; edit=batch = 8 => batch = {8*N}; edit=SGD optimizer(net->parameters(), 0.1) => SGD optimizer(net->parameters(), {0.1*N}); edit=steps = 12 => steps = {12//N}; ranks=1,2,3; timeout=120
// form: a literal number of steps, each of several parts whose gradients add up: `--steps=divide` divides the steps
#include <torch/torch.h>

#include <cstdio>

int main() {
  torch::set_default_dtype(caffe2::TypeMeta::Make<double>());
  torch::manual_seed(41);
  const int64_t batch = 8;
  const int steps = 12, parts = 6;
  torch::nn::Linear net(4, 1);
  torch::optim::SGD optimizer(net->parameters(), 0.1);
  for (int step = 0; step < steps; ++step) {
    optimizer.zero_grad();
    for (int part = 0; part < parts; ++part) {
      auto x = torch::randn({batch, 4});
      auto loss = torch::mse_loss(net(x), x.sum(1, true)) / parts;
      loss.backward();
    }
    optimizer.step();
  }
  std::printf("%.10f\n", net->weight.sum().item<double>());
}
